import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

struct PackedTimeTests {
  @Test(arguments: [
    Timestamp(seconds: 0), Timestamp(seconds: 0, nanoseconds: 1),
    Timestamp(seconds: 1_700_000_000, nanoseconds: 999_999_999), .never,
    Timestamp(seconds: 1 << 34 - 1, nanoseconds: 999_999_999),
  ])
  func `times of five centuries survive to the nanosecond`(_ time: Timestamp) {
    #expect(PackedTime(time).timestamp == time)
  }

  @Test
  func `times outside of them stop at the ends`() {
    #expect(PackedTime(Timestamp(seconds: -1)) == .zero)
    #expect(PackedTime(Timestamp(seconds: .min)) == .zero)
    #expect(PackedTime(Timestamp(seconds: 1 << 34)) > .never)
    #expect(PackedTime(Timestamp(seconds: .max)) > .never)
    #expect(PackedTime(.never) == .never)
  }

  @Test
  func `the order is that of the times`() {
    var random = SeededRandom(seed: 9)
    for _ in 0..<2_000 {
      let (a, b) = (Self.time(&random), Self.time(&random))
      #expect((PackedTime(a) < PackedTime(b)) == (a < b))
    }
  }

  @Test
  func `adding and subtracting agree with the times`() {
    var random = SeededRandom(seed: 10)
    for _ in 0..<2_000 {
      let time = Self.time(&random)
      let seconds = UInt32.random(in: 0...(1 << 30), using: &random)
      #expect(
        PackedTime(time).adding(seconds: seconds).timestamp
          == time.adding(seconds: Int64(seconds)))
      let span = Duration.nanoseconds(Int64.random(in: 0...5_000_000_000, using: &random))
      #expect(
        PackedTime(time).subtracting(PackedSpan(span))?.timestamp == time.adding(.zero - span))
    }
  }

  @Test
  func `what would be later than never is never, and before 1970 is nothing`() {
    let late = PackedTime(Timestamp(seconds: 1 << 33 - 10))
    #expect(late.adding(seconds: 9) < .never)
    #expect(late.adding(seconds: 10) == .never)
    #expect(late.adding(seconds: .max) == .never)
    let early = PackedTime(Timestamp(seconds: 5))
    #expect(early.subtracting(PackedSpan(.seconds(5))) == .zero)
    #expect(early.subtracting(PackedSpan(.nanoseconds(5_000_000_001))) == nil)
    #expect(early.subtracting(PackedSpan(.seconds(Int64.max))) == nil)
  }

  private static func time(_ random: inout SeededRandom) -> Timestamp {
    Timestamp(
      seconds: Int64.random(in: 100...4_000_000_000, using: &random),
      nanoseconds: Int64.random(in: 0..<1_000_000_000, using: &random))
  }
}
