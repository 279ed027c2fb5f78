#if LARDER_THREAD_SANITIZER
  import Synchronization

  /// The standard library's mutex with what the thread sanitizer has to see of it; takes its place
  /// in builds for the sanitizer only.
  ///
  /// `Synchronization.Mutex` takes its lock with futexes in a library that is not instrumented, so
  /// that the sanitizer takes whatever a mutex guards for a race: two threads that add to a number
  /// in one are reported. What it does see are atomics. Each holder stores to one last and loads
  /// from it first, which orders the holders as the lock does, and nothing else.
  @usableFromInline
  package struct Mutex<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Synchronization.Mutex<Value>
    private let unlocking = Atomic<Bool>(false)

    @usableFromInline
    package init(_ value: consuming sending Value) {
      mutex = Synchronization.Mutex(value)
    }

    @usableFromInline
    package func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      try mutex.withLock { (value) throws(Failure) in
        _ = unlocking.load(ordering: .acquiring)
        defer { unlocking.store(true, ordering: .releasing) }
        return try body(&value)
      }
    }
  }
#endif
