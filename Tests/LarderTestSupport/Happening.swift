import Foundation
package import Testing

/// Lets a test wait, with an end, until something that other threads bring about is true.
package final class Happening: Sendable {
  // No lock of its own, which a thread might hold while the process forks.
  private let changed = DispatchSemaphore(value: 0)

  package init() {}

  /// Wakes a thread that waits, to look again.
  package func tell() { changed.signal() }

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
        // Not all that is waited for is told of, so the wait is cut into parts.
        _ = changed.wait(timeout: .now() + .milliseconds(10))
      }
      return true
    }.result
  }
}
