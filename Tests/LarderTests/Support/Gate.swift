import Foundation
import Testing

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

extension Gate {
  /// Runs a function in a thread of its own, which must wait for whoever stands at the gate; then
  /// opens the gate and returns when the function has.
  func expectToHold(_ body: @escaping @Sendable () throws -> Void) {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do {
        try body()
      } catch {
        Issue.record(error)
      }
      done.signal()
    }
    #expect(done.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
    open()
    done.wait()
  }
}
