import Glibc
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// The clock that judges expiries on a network file system.
struct `The server's clock` {
  private let now = Timestamp(seconds: 1_800_000_000, nanoseconds: 500_000_000)

  /// Learns from a file with a change time, which expires in a minute unless told otherwise.
  private func learn(
    _ clock: inout ServerClock, change: Timestamp, modification: Timestamp? = nil,
    since begin: Timestamp? = nil
  ) {
    var raw = stat()
    raw.st_ctim = change.timespec
    raw.st_mtim = (modification ?? now.adding(seconds: 60)).timespec
    clock.adjust(by: FileStatus(raw), since: begin ?? now)
  }

  @Test func `before anything was written our own clock counts`() {
    #expect(ServerClock().time(toJudge: now, at: now) == now)
  }

  @Test(arguments: [
    (-10, true), (-11, false), (0, true), (10, true), (11, false), (1 << 40, false),
  ])
  func `the server is asked only within the slack`(distance: Int64, isAsked: Bool) {
    var clock = ServerClock()
    learn(&clock, change: now.adding(seconds: 5))
    let time = clock.time(toJudge: now.adding(seconds: distance), at: now)
    #expect(time == (isAsked ? now.adding(seconds: 5) : now))
  }

  @Test func `the latest word of the server counts`() {
    var clock = ServerClock()
    learn(&clock, change: now.adding(seconds: 5))
    learn(&clock, change: now.adding(seconds: 97), since: now.adding(seconds: 100))
    #expect(clock.time(toJudge: now, at: now) == now.adding(seconds: -3))
  }

  @Test func `a change time that is the expiry is not the server's time`() {
    var clock = ServerClock()
    let expiry = now.adding(seconds: 8)
    learn(&clock, change: expiry, modification: expiry)
    #expect(clock.time(toJudge: expiry, at: now) == now)
  }

  @Test func `a change time of whole seconds may have lost its fraction`() {
    var clock = ServerClock()
    let change = Timestamp(seconds: now.seconds)
    learn(&clock, change: change)
    #expect(clock.time(toJudge: now, at: now) == now.adding(.milliseconds(500)))
  }
}
