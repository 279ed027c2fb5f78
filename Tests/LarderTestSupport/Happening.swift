import Foundation
package import Testing

/// Lets a test wait, with an end, until something that other threads bring about is true.
package final class Happening: Sendable {
  private let changed = NSCondition()

  package init() {}

  /// Wakes who waits, to look again.
  package func tell() {
    changed.lock()
    changed.broadcast()
    changed.unlock()
  }

  /// Waits until a condition holds and returns whether it came to hold within a limit, in machine
  /// time.
  package func wait(
    _ limit: Duration = MachineTime.patience, for what: String = "something to happen",
    sourceLocation: SourceLocation = #_sourceLocation, until holds: () -> Bool
  ) -> Bool {
    let end = MachineTime.now + limit
    return WaitTable.shared.note(what, limit, sourceLocation, giveUp: nil) {
      while !holds() {
        guard MachineTime.now < end else { return false }
        // Not all that is waited for is told of, so the wait is cut into parts. What is told
        // between the look and the wait is seen a part later.
        changed.lock()
        _ = changed.wait(until: Date(timeIntervalSinceNow: 0.01))
        changed.unlock()
      }
      return true
    }.result
  }
}
