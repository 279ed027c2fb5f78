import Testing

@testable import LarderTool

struct ByteCountDisplayTests {
  @Test(
    arguments: [
      (0, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1075, "1.0 KiB"),
      (1076, "1.1 KiB"), (1536, "1.5 KiB"), (10_240, "10.0 KiB"), (1_048_524, "1023.9 KiB"),
      (1_048_525, "1.0 MiB"), (1 << 20, "1.0 MiB"), (1_468_006, "1.4 MiB"), (1 << 30, "1.0 GiB"),
      (1 << 40, "1.0 TiB"), (1 << 50, "1.0 PiB"), (1 << 60, "1.0 EiB"), (.max, "8.0 EiB"),
      (-1, "-1 B"), (-1536, "-1.5 KiB"), (.min, "-8.0 EiB"),
    ] as [(Int64, String)])
  func `a size is shown to one decimal`(count: Int64, text: String) {
    #expect(ByteCount(count).description == text)
  }

  @Test func `what is shown is read back to within its rounding`() throws {
    for shift in 0..<62 {
      for count in [Int64(1) << shift, Int64(3) << (shift / 2), (Int64(1) << shift) + 7] {
        let back = try ByteCount(parsing: ByteCount(count).description.utf8).count
        #expect(abs(back - count) <= count / 10 + 1)
      }
    }
  }
}
