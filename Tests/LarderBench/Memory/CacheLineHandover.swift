import Synchronization

/// A measurement of moving a cache line from one core to another, which is the least cost of each
/// line that two threads write.
enum CacheLineHandover {
  private static let turns = 1_000_000

  private final class Line: Sendable {
    let turn = Atomic<Int>(0)
  }

  /// Lets two threads take turns at incrementing a number, and returns the nanoseconds of a turn.
  static func nanoseconds() -> Double {
    let line = Line()
    let clock = ContinuousClock()
    let start = clock.now
    BenchmarkThreads.run(2) { thread in
      for turn in 0..<turns {
        while line.turn.load(ordering: .acquiring) != 2 * turn + thread {}
        line.turn.store(2 * turn + thread + 1, ordering: .releasing)
      }
    }
    return (clock.now - start) / .nanoseconds(1) / Double(2 * turns)
  }
}
