import LarderLibc
public import Synchronization

#if !LARDER_SCHEDULES && !LARDER_THREAD_SANITIZER
  /// A mutex that a forked child can use as its parent does.
  ///
  /// `Synchronization.Mutex` inherits priorities on Linux, at two costs (Swift 6.3):
  ///
  /// - It stores the number of the thread that holds it, and each thread remembers its own number.
  ///   In a child, the thread that forked has another number, but still remembers the old one. As
  ///   soon as a second thread waits, the kernel finds no such owner, and the child ends with
  ///   "Unknown error occurred while attempting to acquire a Mutex".
  /// - The kernel hands it to the thread that has waited longest, and until that one runs all
  ///   others wait too. With many threads at one key in memory they took a fifth of a proxy's time
  ///   to wait for each other.
  ///
  /// Here whoever comes first takes it, as in Rust's standard library, and no number is stored.
  /// See: man 7 futex; Ulrich Drepper, Futexes Are Tricky, "Mutex, Take 2".
  //
  // Inlined into other targets, because a call that is not specialised looks its types up, which
  // takes more instructions than a hit in memory.
  @usableFromInline
  package struct ForkSafeMutex<Value: ~Copyable>: ~Copyable, Sendable {
    /// The value, behind the word at which threads wait.
    @usableFromInline
    struct Guarded: ~Copyable {
      /// 0: free. 1: held. 2: held, and threads may wait.
      @usableFromInline
      let word = Atomic<UInt32>(0)
      @usableFromInline
      var value: Value

      @inlinable
      init(_ value: consuming sending Value) { self.value = value }
    }

    /// The address of the value, as a number because a pointer is not Sendable.
    @usableFromInline
    let address: UInt

    @inlinable
    package init(_ value: consuming sending Value) {
      let guarded = UnsafeMutablePointer<Guarded>.allocate(capacity: 1)
      unsafe guarded.initialize(to: Guarded(value))
      address = UInt(bitPattern: guarded)
    }

    @inlinable
    deinit {
      unsafe guarded.deinitialize(count: 1)
      unsafe guarded.deallocate()
    }

    @inlinable @inline(__always)
    var guarded: UnsafeMutablePointer<Guarded> {
      unsafe UnsafeMutablePointer(bitPattern: address).unsafelyUnwrapped
    }

    @inlinable @inline(__always)
    package func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      let guarded = unsafe self.guarded
      let (isTaken, _) = unsafe guarded.pointee.word.compareExchange(
        expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed)
      if !isTaken { Futex.lock(at: address) }
      defer {
        if unsafe guarded.pointee.word.exchange(0, ordering: .releasing) == 2 {
          Futex.wake(at: address, 1)
        }
      }
      return try unsafe body(&guarded.pointee.value)
    }
  }
#endif

#if !LARDER_SCHEDULES
  /// The waits at words of memory. See: man 2 futex.
  @usableFromInline
  enum Futex {
    /// Takes the mutex whose word is at an address.
    @usableFromInline
    static func lock(at address: UInt) {
      let word = unsafe UnsafePointer<Atomic<UInt32>>(bitPattern: address).unsafelyUnwrapped
      // A holder that runs needs less time than the system to make this thread wait.
      var looks = 0
      while looks < 200, unsafe word.pointee.load(ordering: .relaxed) != 0 { looks += 1 }
      while unsafe word.pointee.exchange(2, ordering: .acquiring) != 0 {
        wait(at: address, while: 2, until: nil)
      }
    }

    /// Sleeps while the word is a value, until a time at most. May return without a reason.
    static func wait(at address: UInt, while value: UInt32, until end: MonotonicTime?) {
      guard let end else {
        c_syscall(Self.call, address, Self.waitUntil, UInt(value), 0, 0, Self.anybody)
        return
      }
      var time = end.timespec
      unsafe withUnsafePointer(to: &time) { time in
        _ = c_syscall(
          Self.call, address, Self.waitUntil, UInt(value), UInt(bitPattern: time), 0, Self.anybody)
      }
    }

    /// Wakes so many threads that wait at a word.
    @usableFromInline
    static func wake(at address: UInt, _ count: Int) {
      c_syscall(call, address, Self.wake, UInt(count), 0, 0, 0)
    }

    // The numbers of linux/futex.h, with FUTEX_PRIVATE_FLAG, and of asm/unistd.h.
    private static let (waitUntil, wake, anybody) = (
      9 | 128 as UInt, 1 | 128 as UInt, 0xffff_ffff as UInt
    )
    #if arch(x86_64)
      private static let call = 202
    #elseif arch(arm64) || arch(riscv64)
      private static let call = 98
    #else
      #error("the number of the system call futex is missing")
    #endif
  }
#endif

/// A value that each process has for itself: a forked child gets a new one at its first access.
///
/// Use it for state that threads share. A child inherits a copy of such state that may be locked by
/// a thread that the child does not have, that counts only its parent's threads, and that holds
/// their jobs. The copy cannot be repaired, so the child neither uses nor ends it.
///
/// Safe to use from any thread, also in a child that was forked while another thread used it,
/// because access takes no lock.
@usableFromInline
package struct PerProcess<Value: ~Copyable & Sendable>: ~Copyable, Sendable {
  /// The value of one process.
  @usableFromInline
  package final class Own: Sendable {
    @usableFromInline
    package let value: Value
    @usableFromInline
    let forkCount = ProcessIdentity.forkCount
    /// The value of a forked child, or the next in a chain of forks.
    @usableFromInline
    let next = AtomicLazyReference<Own>()

    @usableFromInline
    init(_ value: consuming sending Value) {
      self.value = value
    }
  }

  @usableFromInline
  let first: Own
  @usableFromInline
  let make: @Sendable () -> sending Value
  #if LARDER_SCHEDULES
    @usableFromInline
    let scheduled = ScheduledOwn<Own>()
  #endif

  /// Makes the value of this process.
  ///
  /// - Parameter make: Makes a value. It is called again in a forked child, by several threads at
  ///   once if they all ask first; one of the results is kept.
  @inlinable
  package init(_ make: @escaping @Sendable () -> sending Value) {
    self.make = make
    first = Own(make())
  }

  /// The value of this process.
  ///
  /// - Complexity: O(f) for f forks between the first process that used the value and this one.
  #if LARDER_SCHEDULES
    package var own: Own { scheduled.own(make) }
  #else
    @inlinable
    package var own: Own {
      let forkCount = ProcessIdentity.forkCount
      var own = first
      while own.forkCount != forkCount {
        // Older values are kept: the inherited copy may have waiters, and ending it would wait for
        // threads that this process does not have. See: man 3 pthread_cond_destroy.
        own = own.next.load() ?? own.next.storeIfNil(Own(make()))
      }
      return own
    }
  #endif
}
