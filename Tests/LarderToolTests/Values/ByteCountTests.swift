import LarderTestSupport
import Testing

@testable import LarderTool

struct ByteCountTests {
  @Test(
    arguments: [
      ("0", 0), ("1", 1), ("007", 7), ("1048576", 1 << 20), ("512B", 512),
      ("1K", 1 << 10), ("1M", 1 << 20), ("1G", 1 << 30), ("1T", 1 << 40), ("1P", 1 << 50),
      ("1E", 1 << 60),
      ("1KiB", 1 << 10), ("1MiB", 1 << 20), ("1GiB", 1 << 30), ("1TiB", 1 << 40),
      ("1KB", 1000), ("1MB", 1_000_000), ("1GB", 1_000_000_000), ("1TB", 1_000_000_000_000),
      ("1k", 1 << 10), ("10mb", 10_000_000), ("10mib", 10 << 20), ("1kB", 1000),
      ("1.5K", 1536), ("1.4 MiB", 1_468_006), ("16 M", 16 << 20), ("0.5", 0), ("1.999", 1),
      ("0.001K", 1), ("0.0009K", 0), ("2.5GB", 2_500_000_000),
      ("9223372036854775807", .max), ("7.99999999999999999999E", .max),
      ("0.33333333333333333333333333333333333333K", 341),
    ] as [(String, Int64)])
  func `a size is read to the byte, decimals rounded down`(text: String, count: Int64) throws {
    #expect(try ByteCount(parsing: text.utf8).count == count)
  }

  @Test(arguments: [
    "", " ", "K", "-1", "-1K", "+1", "1.", ".5", "1..5", "1.5.2", "1e3", "0x10", "1_000", "1,5",
    "1KK", "1KiBs", "1iB", "1 x", "1  K", "K1", "1K2", "ten", "1Z", "never", "\u{661}", "\u{ff11}",
    "1\u{0}", "NaN", "inf", "\u{2212}1",
  ])
  func `what is no size is refused in a sentence that quotes it`(text: String) throws {
    let error = #expect(throws: ValueError.self) { try ByteCount(parsing: text.utf8) }
    #expect(try #require(error).description.hasPrefix("'"))
  }

  @Test(arguments: [
    "9223372036854775808", "8E", "8EiB", "9223372036854775807K", "18446744073709551615",
    "18446744073709551616", "99999999999999999999999999999999999999T", "9.3EB", "16E",
    "17179869184G",
  ])
  func `more than 63 bits is too large`(text: String) throws {
    let error = #expect(throws: ValueError.self) { try ByteCount(parsing: text.utf8) }
    #expect(try #require(error).description.contains("too large"))
  }

  @Test func `a negative size is called negative`() throws {
    let error = #expect(throws: ValueError.self) { try ByteCount(parsing: "-5M".utf8) }
    #expect(try #require(error).description.hasPrefix("'-5M' is negative; sizes are bytes"))
  }

  @Test func `a hundred thousand digits neither trap nor fit`() throws {
    let nines = [UInt8](repeating: UInt8(ascii: "9"), count: 100_000)
    #expect(throws: ValueError.self) { try ByteCount(parsing: nines) }
    let small = Array("0.".utf8) + nines + Array("E".utf8)
    #expect(try ByteCount(parsing: small).count == 1 << 60 - 1)
  }

  @Test func `no text of four bytes traps`() {
    var random = SeededRandom(seed: 4)
    let alphabet = Array("019.-KMiB \u{0}".utf8) + [0xFF]
    for _ in 0..<20_000 {
      let text = (0..<4).map { _ in alphabet.randomElement(using: &random) ?? 0 }
      if let size = Result(catching: { try ByteCount(parsing: text) }).success {
        #expect(size.count >= 0)
      }
    }
  }
}
