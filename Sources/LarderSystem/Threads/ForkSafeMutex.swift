public import Synchronization

/// A mutex that a forked child can use as its parent does. Source: ``ForkGate``.
@usableFromInline
package struct ForkSafeMutex<Value: ~Copyable>: ~Copyable, Sendable {
  // Inlined into other targets, because a call that is not specialised looks its types up, which
  // takes more instructions than a hit in memory.
  @usableFromInline
  let mutex: Mutex<Value>
  @usableFromInline
  let gate: ForkGate

  @inlinable
  package init(_ value: consuming sending Value) {
    mutex = Mutex(value)
    gate = ForkGate()
  }

  @inlinable @inline(__always)
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    gate.enter()
    defer { gate.leave() }
    return try mutex.withLock(body)
  }
}
