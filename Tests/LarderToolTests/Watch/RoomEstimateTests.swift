import Larder
import LarderTestSupport
import Testing

@testable import LarderTool

/// The line of `top` on what more room would have kept, for looks at a real cache.
struct RoomEstimateTests {
  private let directory: TemporaryDirectory
  private let clock = ManualClock(Timestamp(seconds: 1_800_000_000))
  private let cache: DiskCache

  init() throws {
    directory = try TemporaryDirectory()
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    configuration.clock = clock.wallClock
    configuration.coherence = .none
    cache = try DiskCache(directory: directory.path + "/c", configuration: configuration)
  }

  private func store(_ numbers: Range<Int>, expiration: Expiration = .never) throws {
    for number in numbers {
      clock.advance(by: .seconds(1))
      try cache.store([1, 2], forKey: "\(number)", expiration: expiration)
    }
  }

  @Test func `counts what comes again that more room would have kept`() throws {
    var estimate = RoomEstimate()
    // The fullest look has 20 bytes, which count as the limit.
    try store(0..<10)
    estimate.look(try cache.entries(), at: clock.now)
    #expect(estimate.line(at: clock.now) == nil)
    try store(10..<25)
    try cache.trim(toCount: 5)
    estimate.look(try cache.entries(), at: clock.now)
    // Of 0 to 24, 0 to 9 were seen and are gone. They have room beside the 5 that are left.
    try store(0..<1)
    try store(7..<8)
    try store(30..<31)
    clock.advance(by: .seconds(60))
    estimate.look(try cache.entries(), at: clock.now)
    let line = try #require(estimate.line(at: clock.now))
    #expect(
      line == "10 evicted, the latest last used 78 s ago; of 8 stored, 2 × the room would have "
        + "kept 2, 4 × 2")
  }

  @Test func `counts nothing that had expired`() throws {
    var estimate = RoomEstimate()
    try store(0..<3, expiration: .seconds(30))
    estimate.look(try cache.entries(), at: clock.now)
    clock.advance(by: .seconds(60))
    try cache.removeExpired()
    estimate.look(try cache.entries(), at: clock.now)
    #expect(estimate.line(at: clock.now) == nil)
  }
}
