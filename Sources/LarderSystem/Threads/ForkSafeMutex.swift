import Synchronization

/// A mutex that a forked child can use as its parent does. Source: ``ForkGate``.
package struct ForkSafeMutex<Value: ~Copyable>: ~Copyable, Sendable {
  private let mutex: Mutex<Value>
  private let gate = ForkGate()

  package init(_ value: consuming sending Value) {
    mutex = Mutex(value)
  }

  @inline(__always)
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    gate.enter()
    defer { gate.leave() }
    return try mutex.withLock(body)
  }
}
