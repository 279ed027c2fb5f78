import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// The state of keeping the limits, as a table.
@Suite("The keeper of the limits")
struct LimitKeeperTests {
  private let start = MonotonicTime(nanoseconds: 1_000_000_000)

  private func time(_ milliseconds: Int) -> MonotonicTime {
    start.advanced(by: .milliseconds(milliseconds))
  }

  /// Returns the candidacy at a time, with a pause of 5 ms and patience for 100 ms.
  private func candidacy(_ keeper: LimitKeeper, at milliseconds: Int) -> LimitKeeper.Candidacy {
    var keeper = keeper
    return candidacy(&keeper, at: milliseconds)
  }

  private func candidacy(
    _ keeper: inout LimitKeeper, at milliseconds: Int
  ) -> LimitKeeper.Candidacy {
    keeper.candidacy(
      at: time(milliseconds), pause: .milliseconds(5), patience: .milliseconds(100))
  }

  @Test func `reserved room adds up until it is given back`() {
    var keeper = LimitKeeper()
    let thread = ThreadIdentity.current
    for count: UInt64 in [5, 7] { keeper.reserve(count, for: thread) }
    #expect(keeper.reservedByteCount == 12 && keeper.hasReservation(for: thread))
    // Of the store that began later, because stores of one thread are nested.
    keeper.giveBack(for: thread)
    #expect(keeper.reservedByteCount == 5)
    keeper.giveBack(for: thread)
    #expect(keeper.reservedByteCount == 0 && !keeper.hasReservation(for: thread))
  }

  @Test func `a store waits for the reservations that were there before`() {
    var keeper = LimitKeeper()
    let thread = ThreadIdentity.current
    keeper.reserve(5, for: thread)
    let last = keeper.lastReservation
    #expect(keeper.hasReservation(upTo: last))
    keeper.giveBack(for: thread)
    keeper.reserve(7, for: thread)
    #expect(!keeper.hasReservation(upTo: last) && keeper.hasReservation(upTo: last + 1))
  }

  @Test func `a trim waits until each is over`() {
    var keeper = LimitKeeper()
    #expect(!keeper.hasWaitingTrim)
    keeper.beginTrim()
    keeper.beginTrim()
    keeper.endTrim()
    #expect(keeper.hasWaitingTrim)
    keeper.endTrim()
    #expect(!keeper.hasWaitingTrim)
  }

  @Test func `a process that has lost no election asks for one`() {
    let keeper = LimitKeeper()
    #expect(candidacy(keeper, at: 0) == .ask(isImpatient: false) && !keeper.hasLostElection)
  }

  @Test(
    arguments: [
      (0, .wait), (4, .wait), (5, .ask(isImpatient: false)), (100, .ask(isImpatient: false)),
      (101, .ask(isImpatient: true)),
    ] as [(Int, LimitKeeper.Candidacy)])
  func `after a lost election it waits, and loses its patience`(
    milliseconds: Int, expected: LimitKeeper.Candidacy
  ) {
    var keeper = LimitKeeper()
    keeper.noteLostElection(at: start)
    #expect(keeper.hasLostElection)
    #expect(candidacy(keeper, at: milliseconds) == expected)
  }

  @Test func `patience counts from the first of several lost elections`() {
    var keeper = LimitKeeper()
    for milliseconds in [0, 50, 99] { keeper.noteLostElection(at: time(milliseconds)) }
    #expect(candidacy(keeper, at: 100) == .wait)
    #expect(candidacy(keeper, at: 101) == .goOn)
    #expect(candidacy(keeper, at: 104) == .ask(isImpatient: true))
  }

  @Test func `a won election, or limits that are kept, give new patience`() {
    var keeper = LimitKeeper()
    keeper.noteLostElection(at: start)
    keeper.forgetLostElections()
    #expect(!keeper.hasLostElection && candidacy(keeper, at: 200) == .ask(isImpatient: false))
    // The pause after the last election still holds.
    #expect(candidacy(keeper, at: 4) == .wait)
    keeper.noteLostElection(at: time(200))
    #expect(candidacy(keeper, at: 300) == .ask(isImpatient: false))
    #expect(candidacy(keeper, at: 301) == .ask(isImpatient: true))
  }

  @Test func `a file that goes gives new patience, fifteen times its length at most`() {
    var keeper = LimitKeeper()
    keeper.noteLostElection(at: start)
    for milliseconds in stride(from: 100, through: 1_500, by: 100) {
      keeper.noteGone()
      #expect(candidacy(&keeper, at: milliseconds) == .ask(isImpatient: false))
    }
    let last = candidacy(keeper, at: 1_500)
    #expect(last == .ask(isImpatient: false))
    keeper.noteGone()
    #expect(candidacy(keeper, at: 1_501) == .ask(isImpatient: true))
  }

  @Test func `patience ends when no file has gone for its length`() {
    var patience = Patience(at: start, goneCount: 7)
    let answers = [(90, 8), (190, 8), (191, 8)].map { milliseconds, goneCount in
      patience.isOver(
        at: time(milliseconds), goneCount: goneCount, limit: .milliseconds(100))
    }
    #expect(answers == [false, false, true])
  }

  @Test func `a store looks around before a share of the room is stored`() {
    var keeper = LimitKeeper()
    #expect(keeper.mustLookAround(for: 0))
    keeper.noteLook(room: 1_600, at: start)
    #expect(!keeper.mustLookAround(for: 99) && keeper.mustLookAround(for: 100))
    keeper.reserve(60, for: .current)
    keeper.giveBack(for: .current)
    #expect(!keeper.mustLookAround(for: 39) && keeper.mustLookAround(for: 40))
    keeper.reserve(1_000, for: .current)
    #expect(keeper.mustLookAround(for: 0))
  }

  @Test func `news makes the next store look around, and the share smaller`() {
    var keeper = LimitKeeper()
    keeper.noteLook(room: 6_400, at: start)
    #expect(!keeper.mustLookAround(for: 399))
    keeper.noteNeighbourChange(at: start)
    #expect(keeper.mustLookAround(for: 0))
    keeper.noteLook(room: 6_400, at: start)
    keeper.noteNeighbourChange(at: start)
    #expect(!keeper.mustLookAround(for: 99) && keeper.mustLookAround(for: 100))
  }

  @Test(arguments: [(0, true), (9_999, true), (10_000, false), (60_000, false)])
  func `news is recent for ten seconds`(milliseconds: Int, isRecent: Bool) {
    var keeper = LimitKeeper()
    #expect(!keeper.hasRecentNeighbourChange(at: time(milliseconds)))
    keeper.noteNeighbourChange(at: start)
    #expect(keeper.hasRecentNeighbourChange(at: time(milliseconds)) == isRecent)
  }

  @Test func `the clock is not read where there was no news`() {
    var reads = 0
    func now() -> MonotonicTime {
      reads += 1
      return start
    }
    var keeper = LimitKeeper()
    _ = keeper.hasRecentNeighbourChange(at: now())
    #expect(reads == 0)
    keeper.noteNeighbourChange(at: start)
    _ = keeper.hasRecentNeighbourChange(at: now())
    #expect(reads == 1)
  }

  @Test func `the free space is looked at every five seconds`() {
    var keeper = LimitKeeper()
    let looks = [0, 0, 4_999, 5_000, 9_999, 10_000].map { milliseconds in
      keeper.beginFreeSpaceCheck(at: time(milliseconds))
    }
    #expect(looks == [true, false, false, true, false, true])
  }

  @Test func `one look at the limits is planned at a time`() {
    var keeper = LimitKeeper()
    let plans = [keeper.planCheck(), keeper.planCheck()]
    #expect(plans == [true, false] && keeper.isCheckPlanned)
    keeper.beginCheck()
    #expect(!keeper.isCheckPlanned)
    let next = keeper.planCheck()
    #expect(next)
  }

  @Test func `sweeps are planned once`() {
    var keeper = LimitKeeper()
    let plans = (0..<3).map { _ in keeper.planSweeps() }
    #expect(plans == [true, false, false])
  }
}
