import Foundation
package import Testing

/// A gate that holds a thread until the test opens it.
package final class Gate: Sendable {
  private let reached = DispatchSemaphore(value: 0)
  private let opened = DispatchSemaphore(value: 0)

  package init() {}

  /// Waits at the gate. The thread to be held calls this.
  package func pass(sourceLocation: SourceLocation = #_sourceLocation) {
    reached.signal()
    opened.wait(for: "a gate to be opened", sourceLocation: sourceLocation)
    opened.signal()
  }

  /// Waits until a thread is at the gate.
  package func waitUntilReached(sourceLocation: SourceLocation = #_sourceLocation) {
    reached.wait(for: "a thread to come to a gate", sourceLocation: sourceLocation)
  }

  /// Opens the gate for this thread and all later ones.
  package func open() { opened.signal() }
}

extension Gate {
  /// Runs a function in a new thread and expects that it waits for the thread at the gate. Then
  /// opens the gate, and returns when the function has returned.
  ///
  /// - Parameter isThere: Whether the thread has come to where it is held. By default it may come
  ///   after the gate was opened: only for a test that passes then too.
  package func expectToHold(
    sourceLocation: SourceLocation = #_sourceLocation, once isThere: () throws -> Bool = { true },
    _ body: @escaping @Sendable () throws -> Void
  ) {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do {
        try body()
      } catch {
        Issue.record(error, sourceLocation: sourceLocation)
      }
      done.signal()
    }
    do {
      try eventually(
        "a thread to come to what holds it", sourceLocation: sourceLocation, isThere)
    } catch {
      Issue.record(error, sourceLocation: sourceLocation)
    }
    // In real time: a busy machine may hide a failure, but never causes one.
    let isHeld = done.wait(timeout: .now() + .milliseconds(50)) == .timedOut
    #expect(isHeld, sourceLocation: sourceLocation)
    open()
    if isHeld { done.wait(for: "what a gate held", sourceLocation: sourceLocation) }
  }
}
