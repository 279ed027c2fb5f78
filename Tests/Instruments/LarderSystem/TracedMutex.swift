#if LARDER_THREAD_SANITIZER
  import Synchronization

  /// The standard library's mutex, made visible to the thread sanitizer. It replaces
  /// `Synchronization.Mutex` in builds for the sanitizer only.
  ///
  /// `Synchronization.Mutex` is in a library that is not instrumented and locks with futexes. So
  /// the sanitizer reports a race for every value that a mutex guards. It does see atomics. Each
  /// holder stores to an atomic last and loads from it first. This orders the holders exactly as
  /// the lock does.
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
