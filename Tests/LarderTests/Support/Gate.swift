import Foundation

/// Holds a thread at a point of its work until the test lets it go.
final class Gate: Sendable {
  private let reached = DispatchSemaphore(value: 0)
  private let opened = DispatchSemaphore(value: 0)

  /// Is called by the thread that is held.
  func pass() {
    reached.signal()
    opened.wait()
    opened.signal()
  }

  /// Waits until a thread stands at the gate.
  func waitUntilReached() { reached.wait() }

  /// Lets it and all who come later through.
  func open() { opened.signal() }
}
