public import Synchronization

/// A value that each process has for itself: a forked child that asks gets a fresh one.
///
/// For what threads share. A child inherits a copy that may be locked by a thread that it does not
/// have, counts threads that are its parent's alone, and holds their jobs. Nothing of such a copy
/// can be mended, so it is neither used nor ended there.
///
/// Safe from any thread, and in a child that was forked while another thread asked: asking takes no
/// lock.
@usableFromInline
package struct PerProcess<Value: ~Copyable & Sendable>: ~Copyable, Sendable {
  /// What one process has.
  @usableFromInline
  package final class Own: Sendable {
    @usableFromInline
    package let value: Value
    @usableFromInline
    let forkCount = ProcessIdentity.forkCount
    /// What the child has, where this is the child's or further down its line.
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
  /// - Parameter make: Is called again in a forked child, by several threads at once if they are
  ///   the first to ask; one of the results stays.
  @inlinable
  package init(_ make: @escaping @Sendable () -> sending Value) {
    self.make = make
    first = Own(make())
  }

  /// What this process has.
  ///
  /// - Complexity: O(f) for f forks between the first process and this one, in each of which it was
  ///   asked for.
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
      // Those before are kept: the inherited copy may have waiters, with whom ending it would wait
      // for threads that are not here. See: man 3 pthread_cond_destroy.
      own = own.next.load() ?? own.next.storeIfNil(Own(make()))
    }
    return own
  }
}

#if LARDER_SCHEDULES
  extension ScheduledOwn {
    /// What the process of the running thread has.
    fileprivate func own<Value>(_ make: () -> sending Value) -> Own
    where Own == PerProcess<Value>.Own, Value: ~Copyable {
      if let known { return known }
      return keep(Own(make()))
    }
  }
#endif
