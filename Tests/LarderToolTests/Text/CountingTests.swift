import Testing

@testable import LarderTool

struct CountingTests {
  @Test(arguments: [
    (0, "entry", "0 entries"), (1, "entry", "1 entry"), (2, "entry", "2 entries"),
    (1, "write", "1 write"), (1234, "store", "1,234 stores"), (3, "time", "3 times"),
  ])
  func `a number and its noun agree`(count: Int, noun: String, text: String) {
    #expect(count.counted(noun) == text)
  }
}
