import Testing

@testable import LarderTool

struct DecimalNumberTests {
  @Test(
    arguments: [("1", 1), ("12.5", 12), ("1.5x", 1), ("3 4", 3), ("0.0", 0)] as [(String, Int64)])
  func `a number ends where its digits end`(text: String, whole: Int64) throws {
    var scanner = ByteScanner(text.utf8)
    let number = try #require(DecimalNumber(from: &scanner))
    #expect(number.times(1) == whole)
  }

  @Test(arguments: ["", ".", ".1", "1.", "1.x", "x", "-1", " 1"])
  func `a dot needs digits on both sides`(text: String) {
    var scanner = ByteScanner(text.utf8)
    #expect(DecimalNumber(from: &scanner) == nil)
  }

  @Test func `thousandths of every unit are exact`() throws {
    for thousandths in Int64(0)..<1000 {
      let padded = String(1000 + thousandths).dropFirst()
      for shift in [0, 10, 20, 30, 40, 50] {
        var scanner = ByteScanner("2.\(padded)".utf8)
        let unit = Int64(1) << shift
        let number = try #require(DecimalNumber(from: &scanner))
        let expected = Int128(unit) * Int128(2000 + thousandths) / 1000
        #expect(number.times(UInt64(unit)) == Int64(expected))
      }
    }
  }
}
