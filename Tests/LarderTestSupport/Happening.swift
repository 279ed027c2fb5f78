import Foundation
package import Testing

/// A wait, with a limit, for a condition that other threads bring about.
package final class Happening: Sendable {
  // Not a lock, because a thread might hold it while the process forks.
  private let changed = DispatchSemaphore(value: 0)

  package init() {}

  /// Wakes a waiting thread to check its condition.
  package func tell() { changed.signal() }

  /// Waits until a condition holds, and returns whether it did within a limit in machine time.
  package func wait(
    _ limit: Duration = MachineTime.patience, for what: String = "something to happen",
    sourceLocation: SourceLocation = #_sourceLocation, until holds: () -> Bool
  ) -> Bool {
    let began = MachineTime.now
    return WaitTable.shared.note(what, limit, sourceLocation, giveUp: nil) {
      while !holds() {
        guard !MachineTime.hasPassed(limit, since: began) else { return false }
        // The wait is cut into parts, because not every change calls `tell()`.
        _ = changed.wait(timeout: .now() + .milliseconds(10))
      }
      return true
    }.result
  }
}
