import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderTool

/// Totals of sparse files, each of which claims the largest possible length.
struct BytesTests {
  private static let now = Timestamp(seconds: 1_800_000_000)

  private static func entry(_ digit: Character) -> DiskEntry {
    DiskEntry(
      name: String(repeating: digit, count: 32), key: nil, byteCount: .max, allocatedByteCount: 0,
      lastAccess: now, expiry: nil, lifetime: nil, extendedData: [])
  }

  private let entries = "abc".map(Self.entry)

  @Test func `a total stops at the most there is`() {
    #expect(entries.byteCount == .max)
    #expect([DiskEntry]().byteCount == 0)
  }

  @Test func `a watched total is right again when the enormous ones have gone`() {
    var ledger = WatchLedger(entries, at: Self.now)
    #expect(ledger.byteCount == .max)
    _ = ledger.replaceAll([], at: Self.now)
    #expect(ledger.byteCount == 0)
  }
}
