import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

struct `Timestamps` {
  @Test(arguments: [
    (Int64(0), Int64(-1), Int64(-1), Int32(999_999_999)), (0, 1_000_000_000, 1, 0),
    (5, -2_500_000_000, 2, 500_000_000), (.max, 1_000_000_000, .max, 0),
    (.min, -1, .min, 999_999_999),
    (0, .max, 9_223_372_036, 854_775_807), (0, .min, -9_223_372_037, 145_224_192),
  ])
  func `nanoseconds carry over and stop at the ends`(
    seconds: Int64, nanoseconds: Int64, wholeSeconds: Int64, rest: Int32
  ) {
    let time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    #expect(time.seconds == wholeSeconds)
    #expect(time.nanoseconds == rest)
  }

  private static let extremes: [Int64] = [
    .min, .min + 1, -(1 << 33), -1, 0, 1, 1 << 31, 1 << 33, 1 << 34, .max - 1, .max,
  ]

  @Test(arguments: extremes, extremes)
  func `arithmetic at the extremes keeps the order and never traps`(a: Int64, b: Int64) {
    let (x, y) = (Timestamp(seconds: a), Timestamp(seconds: b, nanoseconds: 999_999_999))
    #expect((x.duration(since: y) < .zero) == (x < y))
    let sum = x.adding(seconds: b)
    #expect(b >= 0 ? sum >= x : sum < x || a == .min)
    _ = x.adding(.seconds(b))
    #expect(PackedTime(x) <= PackedTime(y) || x > y)
    #expect(x.asExpiry <= .never)
  }

  @Test func `a duration longer than any time ends at the first or the last`() {
    let start = Timestamp(seconds: 1_800_000_000)
    let bounds = [
      (Duration.seconds(1e19), Int64.max), (.seconds(-1e19), .min),
      (.seconds(Int64.max) + .seconds(1), .max), (.seconds(Int64.min) - .seconds(1), .min),
      (.seconds(Int64.max) + .milliseconds(999), .max), (.seconds(Int64.min), .min),
      (.seconds(-1) - .milliseconds(1), -1), (.milliseconds(1_001), 1),
    ]
    for (duration, seconds) in bounds { #expect(duration.boundedComponents.seconds == seconds) }
    #expect(start.adding(.seconds(1e19)).seconds == .max)
    #expect(start.adding(.seconds(-1e19)) < Timestamp(seconds: 0))
    let clock = ManualClock(start)
    clock.advance(by: .seconds(1e19))
    #expect(clock.now.seconds == .max)
    #expect(MonotonicTime.now.advanced(by: .seconds(1e19)) > .now)
    #expect(PackedSpan(.seconds(1e19)).seconds == 1 << 34)
    let recency = Recency(granularity: .seconds(1e19))
    #expect(recency.lag(for: .never, .lifetime) == .max)
  }

  @Test(arguments: [0, 1, 1 << 31, 1 << 33, (1 << 34) - 1] as [Int64])
  func `a packed stamp is exact from 1970 to 2514`(seconds: Int64) {
    for nanoseconds in [Int64(0), 1, 999_999_999] {
      let time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
      #expect(PackedTime(time).timestamp == time)
    }
  }

  @Test func `a stamp before 1970 or after 2514 packs to the first or last`() {
    #expect(PackedTime(Timestamp(seconds: -1)).timestamp == Timestamp(seconds: 0))
    #expect(PackedTime(Timestamp(seconds: 1 << 34)).timestamp.seconds == (1 << 34) - 1)
    #expect(PackedTime(Timestamp(seconds: .max)).timestamp.nanoseconds == 999_999_999)
  }

  @Test func `a manual clock moves both ways`() {
    let clock = ManualClock(Timestamp(seconds: 10))
    clock.advance(by: .milliseconds(-10_500))
    #expect(clock.wallClock.now() == Timestamp(seconds: -1, nanoseconds: 500_000_000))
    clock.advance(by: .seconds(1))
    #expect(clock.now.nanoseconds == 500_000_000)
  }
}
