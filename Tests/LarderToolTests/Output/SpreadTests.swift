import Larder
import Testing

@testable import LarderDisk
@testable import LarderSystem
@testable import LarderTool

struct SpreadTests {
  static let now = Timestamp(seconds: 1_700_000_000)

  @Test(
    arguments: [
      (0, 0), (1023, 0), (1024, 1), (4095, 1), (4096, 2), (1 << 30 - 1, 10), (1 << 30, 11),
      (.max, 11),
    ] as [(UInt64, Int)])
  func `a size falls below the bound of its class`(size: UInt64, index: Int) {
    #expect(SizeClass.index(of: size) == index)
    #expect(SizeClass.all[index].bound.map { size < $0 } ?? true)
  }

  @Test func `bytes beyond the most that a number holds stay at the most`() {
    var histogram = Histogram("SIZE", [("any", [], .plain)])
    for _ in 1...3 { histogram.add(.max / 2, toClass: 0) }
    #expect(histogram.classes[0].byteCount == .max)
  }

  @Test func `classes of sizes are named by their bounds`() {
    #expect(
      SizeClass.all.map(\.label) == [
        "under 1 KiB", "under 4 KiB", "under 16 KiB", "under 64 KiB", "under 256 KiB",
        "under 1 MiB", "under 4 MiB", "under 16 MiB", "under 64 MiB", "under 256 MiB",
        "under 1 GiB", "1 GiB and more",
      ])
  }

  @Test(
    arguments: [
      (-1, "expired"), (0, "expired"), (1, "up to 1 min"), (60, "up to 1 min"), (61, "up to 1 h"),
      (86_400, "up to 1 d"), (86_401, "up to 7 d"), (30 * 86_400, "up to 30 d"),
      (365 * 86_400, "up to 1 y"), (365 * 86_400 + 1, "over 1 y"), (nil, "never"),
    ] as [(Int64?, String)])
  func `an expiry falls into the first class that reaches it`(offset: Int64?, label: String) {
    let index = AgeClass.index(ofExpiry: offset.map { Self.now.adding(seconds: $0) }, at: Self.now)
    #expect(AgeClass.expiries[index].label == label)
  }

  @Test(
    arguments: [
      (10, "up to 1 min"), (0, "up to 1 min"), (-61, "up to 1 h"), (-400 * 86_400, "over 1 y"),
    ] as [(Int64, String)])
  func `a use falls into the class of its age, one in the future into the first`(
    offset: Int64, label: String
  ) {
    let index = AgeClass.index(ofUse: Self.now.adding(seconds: offset), at: Self.now)
    #expect(AgeClass.uses[index].label == label)
  }

  @Test(
    arguments: [
      (nil, nil, .never), (0, nil, .expired), (-5, .seconds(10), .expired), (3599, nil, .soon),
      (3600, nil, .fresh), (9, .seconds(100), .soon), (10, .seconds(100), .fresh),
      (3599, .date(Timestamp(seconds: 1)), .soon), (5000, .seconds(100_000), .soon),
    ] as [(Int64?, Expiration?, Freshness)])
  func `freshness is what is left of the lifetime`(
    offset: Int64?, lifetime: Expiration?, freshness: Freshness
  ) {
    let expiry = offset.map { Self.now.adding(seconds: $0) }
    #expect(Freshness(expiry: expiry, lifetime: lifetime, at: Self.now) == freshness)
  }
}
