import Testing

@testable import LarderTool

struct ByteScannerTests {
  @Test func `runs are taken front to back`() {
    var scanner = ByteScanner("12KiB 3".utf8)
    #expect(scanner.digits() == [1, 2])
    #expect(scanner.letters() == "KiB")
    #expect(scanner.take(" ") == true)
    #expect(scanner.take(" ") == false)
    #expect(scanner.digits() == [3])
    #expect(scanner.isAtEnd)
  }

  @Test func `an absent run is empty and takes nothing`() {
    var scanner = ByteScanner("!".utf8)
    #expect(scanner.digits().isEmpty)
    #expect(scanner.letters().isEmpty)
    #expect(!scanner.isAtEnd)
  }

  @Test(arguments: [0x40, 0x5B, 0x60, 0x7B, 0x80, 0xC1, 0xE1, 0xFF] as [UInt8])
  func `the neighbours of letters are none`(byte: UInt8) {
    var scanner = ByteScanner([byte])
    #expect(scanner.letters().isEmpty)
  }

  @Test func `nothing can be taken at the end`() {
    var scanner = ByteScanner([])
    #expect(scanner.take("x") == false)
    #expect(scanner.digits().isEmpty && scanner.letters().isEmpty && scanner.isAtEnd)
  }
}
