import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderMemory
@testable import LarderSystem

struct MemoryPressureLadderTests {
  /// An event at a second, and the step that must follow.
  struct Moment: Sendable {
    let second: Int64
    let isSignal: Bool
    let step: MemoryPressureStep?

    init(_ second: Int64, _ isSignal: Bool, _ step: MemoryPressureStep?) {
      self.second = second
      self.isSignal = isSignal
      self.step = step
    }
  }

  private static let half = MemoryPressureStep.reduce(share: 0.5)

  private func ladder(share: Double) -> MemoryPressureLadder {
    var configuration = MemoryPressureMonitor.Configuration()
    configuration.share = share
    configuration.escalationTime = .seconds(10)
    configuration.recoveryTime = .seconds(60)
    return MemoryPressureLadder(configuration: configuration)
  }

  @Test(
    arguments: [
      ("nothing follows from time alone", [Moment(0, false, nil), Moment(1_000, false, nil)]),
      ("one signal costs a share", [Moment(5, true, half)]),
      ("a second one soon costs everything", [Moment(5, true, half), Moment(7, true, .empty)]),
      ("just in time", [Moment(5, true, half), Moment(15, true, .empty)]),
      ("a second one late costs a share", [Moment(5, true, half), Moment(16, true, half)]),
      (
        "as long as signals follow each other, everything",
        [
          Moment(0, true, half), Moment(9, true, .empty), Moment(18, true, .empty),
          Moment(28, true, .empty), Moment(39, true, half),
        ]
      ),
      (
        "restored once, a recovery time after the last signal",
        [
          Moment(0, true, half), Moment(9, true, .empty), Moment(59, false, nil),
          Moment(68, false, nil), Moment(69, false, .restore), Moment(70, false, nil),
        ]
      ),
      (
        "after it all begins again",
        [Moment(0, true, half), Moment(60, false, .restore), Moment(61, true, half)]
      ),
      (
        "a clock that stands still or goes back traps nothing",
        [Moment(5, true, half), Moment(5, true, .empty), Moment(3, true, .empty)]
      ),
    ] as [(String, [Moment])])
  func `the step follows from the signals and their times`(_ law: String, _ moments: [Moment]) {
    var ladder = ladder(share: 0.5)
    for moment in moments {
      let now = MonotonicTime(nanoseconds: moment.second * 1_000_000_000)
      let step = moment.isSignal ? ladder.signal(at: now) : ladder.step(at: now)
      #expect(step == moment.step, "\(law), at \(moment.second) s")
    }
  }

  @Test
  func `there is a deadline while limits are lowered, and at no other time`() {
    var ladder = ladder(share: 0.25)
    #expect(ladder.deadline == nil)
    #expect(ladder.end() == nil)
    let start = MonotonicTime(nanoseconds: 1)
    #expect(ladder.signal(at: start) == .reduce(share: 0.25))
    #expect(ladder.deadline == start.advanced(by: .seconds(60)))
    #expect(ladder.end() == .restore)
    #expect(ladder.deadline == nil)
    #expect(ladder.end() == nil)
  }
}
