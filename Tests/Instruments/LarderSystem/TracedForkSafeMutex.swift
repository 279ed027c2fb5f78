#if LARDER_THREAD_SANITIZER
  public import Synchronization

  /// The library's mutex with the word apart from the value. In one struct the access to the value
  /// is one to both, which the sanitizer takes for a race with the word.
  @usableFromInline
  package struct ForkSafeMutex<Value: ~Copyable>: ~Copyable, Sendable {
    /// The address of a word, and behind it the value; a number, because a pointer is not Sendable.
    /// The word is 0: free. 1: held. 2: held, and threads may wait.
    @usableFromInline
    let address: UInt

    @inlinable
    package init(_ value: consuming sending Value) {
      precondition(MemoryLayout<Value>.alignment <= Self.offset)
      let memory = UnsafeMutableRawPointer.allocate(
        byteCount: Self.offset + MemoryLayout<Value>.size, alignment: Self.offset)
      address = UInt(bitPattern: memory)
      unsafe memory.bindMemory(to: Atomic<UInt32>.self, capacity: 1).initialize(to: Atomic(0))
      unsafe self.value.initialize(to: value)
    }

    @inlinable
    deinit {
      unsafe value.deinitialize(count: 1)
      unsafe UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped.deallocate()
    }

    /// Not by the alignment of the value, because every lock would look its type up.
    @inlinable @inline(__always)
    static var offset: Int { 16 }

    @inlinable @inline(__always)
    var word: UnsafePointer<Atomic<UInt32>> {
      unsafe UnsafePointer(bitPattern: address).unsafelyUnwrapped
    }

    @inlinable @inline(__always)
    var value: UnsafeMutablePointer<Value> {
      unsafe UnsafeMutablePointer(bitPattern: address &+ UInt(Self.offset)).unsafelyUnwrapped
    }

    @inlinable @inline(__always)
    package func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      let word = unsafe self.word
      let (isTaken, _) = unsafe word.pointee.compareExchange(
        expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed)
      if !isTaken { Futex.lock(at: address) }
      defer {
        if unsafe word.pointee.exchange(0, ordering: .releasing) == 2 { Futex.wake(at: address, 1) }
      }
      return try unsafe body(&value.pointee)
    }
  }
#endif
