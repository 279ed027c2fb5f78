import Testing

@testable import LarderDisk

/// The phases of an engine, as a table.
@Suite("The phases of an engine")
struct PhaseTests {
  @Test(
    arguments: [
      (.open, false, false, false), (.ending, true, false, false), (.shutDown, true, true, false),
      (.ended, true, true, true),
    ] as [(Phase, Bool, Bool, Bool)])
  func `each phase includes those before`(
    phase: Phase, isEnding: Bool, isShutDown: Bool, hasEnded: Bool
  ) {
    #expect(phase.isEnding == isEnding)
    #expect(phase.isShutDown == isShutDown)
    #expect(phase.hasEnded == hasEnded)
  }

  @Test func `an engine goes on and not back`() {
    var phase = Phase.open
    phase.advance(to: .shutDown)
    #expect(phase == .shutDown)
    phase.advance(to: .ending)
    #expect(phase == .shutDown)
    phase.advance(to: .ended)
    phase.advance(to: .open)
    #expect(phase == .ended)
  }
}
