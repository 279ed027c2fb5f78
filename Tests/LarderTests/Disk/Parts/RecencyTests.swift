import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

struct `Recency of stamps` {
  private static let now = Timestamp(seconds: 1_800_000_000)
  private let recency = Recency(granularity: .seconds(60))

  @Test(arguments: [
    (Lifetime.never, Duration.seconds(60)), (.fixed, .seconds(60)), (.unknown, .seconds(60)),
    (.seconds(960), .seconds(60)), (.seconds(160), .seconds(10)), (.seconds(8), .milliseconds(500)),
    (.seconds(0), .zero), (.seconds(.max - 1), .seconds(60)),
  ])
  func `the lag is the granularity or a sixteenth of a shorter lifetime that a use extends`(
    lifetime: Lifetime, lag: Duration
  ) {
    #expect(.nanoseconds(recency.lag(for: lifetime, .lifetime)) == lag)
    #expect(.nanoseconds(recency.lag(for: lifetime, .to(.seconds(5)))) == lag)
    #expect(.nanoseconds(recency.lag(for: lifetime, .off)) == Duration.seconds(60))
  }

  @Test(arguments: [
    (Int64(0), false), (-60, false), (-61, true), (1, false), (315_360_000, false),
  ])
  func `a stamp is due when the stored one is older than the lag`(age: Int64, isDue: Bool) {
    let stored = Self.now.adding(seconds: age)
    let lag = dueLag(recency, stored: stored, lifetime: .never, .off)
    #expect(lag == (isDue ? 60_000_000_000 : nil))
  }

  @Test(arguments: [(Int64(60), false), (61, true), (-61, false), (86_400, true)])
  func `a stamp is due when the use moves the expiry by more than the lag`(
    by seconds: Int64, isDue: Bool
  ) {
    let lag = dueLag(
      recency, stored: Self.now, lifetime: .fixed, .to(.days(1)),
      extended: Self.now.adding(seconds: seconds))
    #expect(lag == (isDue ? 60_000_000_000 : nil))
  }

  private func dueLag(
    _ recency: Recency, stored: Timestamp, now: Timestamp = now, lifetime: Lifetime,
    _ extending: ExpirationExtending, extended: Timestamp? = nil
  ) -> Int64? {
    recency.dueLag(
      stored: stored, now: now, lifetime: lifetime, extending, expiry: Self.now, extended: extended,
      owner: recency.user)
  }

  @Test func `a granularity of zero makes every read due`() {
    let exact = Recency(granularity: .zero)
    #expect(dueLag(exact, stored: Self.now, lifetime: .never, .lifetime) == 0)
  }

  @Test func `a file of another user is stamped by root alone`() {
    let owner = ProcessIdentity.user &+ 1
    let stored = Self.now.adding(seconds: -61)
    let lag = recency.dueLag(
      stored: stored, now: Self.now, lifetime: .never, .off, expiry: Self.now, extended: nil,
      owner: owner)
    #expect((lag == nil) == (ProcessIdentity.user != 0))
    #expect(recency.mayStamp(filesOf: owner) == (ProcessIdentity.user == 0))
    #expect(recency.mayStamp(filesOf: ProcessIdentity.user))
  }

  @Test func `a cache that only reads stamps no use`() {
    let reader = Recency(granularity: .zero, isReadOnly: true)
    let stored = Self.now.adding(seconds: -61)
    #expect(dueLag(reader, stored: stored, lifetime: .never, .lifetime) == nil)
  }

  @Test(arguments: [
    (Int64(0), Int64(-5), Int64(0)), (0, 0, 0), (-10, -5, -5), (0, 9999, 0), (-10, 1, -10),
  ])
  func `a stamp never moves back, but corrects one in the future`(
    used: Int64, stored: Int64, written: Int64
  ) {
    let access = Recency.access(
      used: Self.now.adding(seconds: used), stored: Self.now.adding(seconds: stored),
      now: Self.now)
    #expect(access == Self.now.adding(seconds: written))
  }

  @Test(arguments: [Int64.min, -1, 0, .max])
  func `no clock makes it trap`(seconds: Int64) {
    for other in [Int64.min, 0, .max] {
      let (a, b) = (Timestamp(seconds: seconds), Timestamp(seconds: other))
      let lag = dueLag(recency, stored: a, now: b, lifetime: .seconds(1), .lifetime)
      #expect((lag != nil) == (b > a))
    }
  }
}
