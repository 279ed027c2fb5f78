@testable import Larder

/// Lets a test wait, with an end, until something that other threads bring about is true.
final class Happening: Sendable {
  private let changed = EventCount()

  /// Wakes who waits, to look again.
  func tell() { changed.signal() }

  /// Waits until a condition holds and returns whether it came to hold within `timeout`.
  func wait(_ timeout: Duration = .seconds(20), until holds: () -> Bool) -> Bool {
    let end = MonotonicTime.now.advanced(by: timeout)
    while true {
      let ticket = changed.ticket()
      if holds() { return true }
      let rest = end.duration(since: .now)
      guard rest > .zero else { return false }
      // Not all that is waited for is told of, so the wait is cut into parts.
      changed.wait(ticket, timeout: min(rest, .milliseconds(10)))
    }
  }
}
