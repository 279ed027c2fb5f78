import Testing

@testable import LarderTool

struct ProcessArgumentsTests {
  @Test func `the arguments are those that the standard library decodes`() {
    let raw = ProcessArguments.raw
    #expect(!raw.isEmpty)
    #expect(raw.map { String(decoding: $0, as: UTF8.self) } == CommandLine.arguments)
  }

  @Test func `no argument holds a NUL`() {
    #expect(ProcessArguments.raw.allSatisfy { !$0.contains(0) })
  }
}
