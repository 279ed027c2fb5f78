public import Synchronization

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
  /// - Complexity: O(f) for f forks between the first process and this one in which the value was
  ///   used.
  #if LARDER_SCHEDULES
    package var own: Own { scheduled.own(make) }
  #else
    @inlinable
    package var own: Own { ownOfFork }
  #endif

  @inlinable
  var ownOfFork: Own {
    let forkCount = ProcessIdentity.forkCount
    var own = first
    while own.forkCount != forkCount {
      // Older values are kept: the inherited copy may have waiters, and ending it would wait for
      // threads that this process does not have. See: man 3 pthread_cond_destroy.
      own = own.next.load() ?? own.next.storeIfNil(Own(make()))
    }
    return own
  }
}

#if LARDER_SCHEDULES
  extension ScheduledOwn {
    /// Returns the value of the running thread's process.
    fileprivate func own<Value>(_ make: () -> sending Value) -> Own
    where Own == PerProcess<Value>.Own, Value: ~Copyable {
      if let known { return known }
      return keep(Own(make()))
    }
  }
#endif
