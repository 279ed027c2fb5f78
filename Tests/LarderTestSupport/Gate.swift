import Foundation
package import Testing

/// Holds a thread at a point of its work until the test lets it go.
package final class Gate: Sendable {
  private let reached = DispatchSemaphore(value: 0)
  private let opened = DispatchSemaphore(value: 0)

  package init() {}

  /// Is called by the thread that is held.
  package func pass(sourceLocation: SourceLocation = #_sourceLocation) {
    reached.signal()
    opened.wait(for: "a gate to be opened", sourceLocation: sourceLocation)
    opened.signal()
  }

  /// Waits until a thread stands at the gate.
  package func waitUntilReached(sourceLocation: SourceLocation = #_sourceLocation) {
    reached.wait(for: "a thread to come to a gate", sourceLocation: sourceLocation)
  }

  /// Lets it and all who come later through.
  package func open() { opened.signal() }
}

extension Gate {
  /// Runs a function in a thread of its own, which must wait for whoever stands at the gate; then
  /// opens the gate and returns when the function has.
  package func expectToHold(
    sourceLocation: SourceLocation = #_sourceLocation,
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
    // Real time: on a busy machine this sees less, and never what is not there.
    #expect(
      done.wait(timeout: .now() + .milliseconds(50)) == .timedOut, sourceLocation: sourceLocation)
    open()
    done.wait(for: "what a gate held", sourceLocation: sourceLocation)
  }
}
