import Testing

@testable import LarderDisk

/// The phases of an engine, as a table.
struct `The phases of an engine` {
  @Test(
    arguments: [
      (.open, false, false), (.ending, true, false), (.shutDown, true, true), (.ended, true, true),
    ] as [(Phase, Bool, Bool)])
  func `each phase includes those before`(phase: Phase, isEnding: Bool, isShutDown: Bool) {
    #expect(phase.isEnding == isEnding && phase.isShutDown == isShutDown)
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
