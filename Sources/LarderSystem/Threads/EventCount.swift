import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Lets threads wait until something changed that they look at under a lock of their own.
///
/// A waiter takes a ticket, looks, and if it must, waits until the count has passed the ticket; who
/// changes something calls `signal()` afterwards. Nothing is lost between the look and the wait,
/// and signalling costs one atomic addition when nobody waits.
package struct EventCount: ~Copyable, Sendable {
  /// The count before a look.
  package struct Ticket {
    fileprivate let count: UInt32
  }

  // It may come round after 2³² signals. A waiter that slept through exactly that many would wait
  // for one more, or for its timeout.
  private let count = Atomic<UInt32>(0)
  private let waiterCount = Atomic<Int>(0)
  private let parking = ParkingSpot()

  package init() {}

  /// Takes a ticket; look afterwards.
  ///
  /// The order matters: a change after the ticket ends the wait, a change before it is seen by the
  /// look.
  package func ticket() -> Ticket {
    Ticket(count: count.load(ordering: .sequentiallyConsistent))
  }

  /// Wakes all who wait with a ticket taken before.
  ///
  /// Call it after the change and outside of the lock that guards it, so that who wakes can take
  /// it.
  package func signal() {
    count.wrappingAdd(1, ordering: .sequentiallyConsistent)
    // A waiter announces itself before it compares, so one that is not seen here sees the new
    // count.
    if waiterCount.load(ordering: .sequentiallyConsistent) > 0 { parking.wakeAll() }
  }

  /// Waits until a signal after the ticket, at most for `timeout`. May also return for no reason.
  package func wait(_ ticket: Ticket, timeout: Duration? = nil) {
    // Before the comparison below and sequentially consistent with it: either this waiter sees the
    // new count, or the signaller sees this waiter. Anything weaker lets both miss each other.
    waiterCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
    parking.wait(timeout: timeout) {
      count.load(ordering: .sequentiallyConsistent) == ticket.count
    }
    waiterCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
  }
}

#if LARDER_SCHEDULES
  /// Where threads of a schedule wait.
  package final class ParkingSpot: Sendable {
    func wakeAll() {
      Scheduler.point(.signal)
      Scheduler.wake(ObjectIdentifier(self))
    }

    /// Between the last comparison and the wait nobody can signal, as under the mutex of the system.
    func wait(timeout: Duration?, while mustWait: () -> Bool) {
      let end = timeout.map { MonotonicTime.now.advanced(by: $0).nanoseconds }
      while mustWait() {
        if Scheduler.wait(for: ObjectIdentifier(self), "a signal", until: end) { return }
      }
    }
  }
#else
  /// A mutex and a condition of the system, at an address of their own.
  ///
  /// The address is kept as a number because a pointer is not Sendable; sharing it is what these two
  /// objects are for. They are made once, never move, and end with the value.
  ///
  /// It is `package` because an optimised build of another target inlines the end of an `EventCount`,
  /// and Swift 6.3 then refers to this type by a symbol that a private type does not have.
  package struct ParkingSpot: ~Copyable, Sendable {
    /// What the system keeps at the address. Neither may be copied once it is in use. See: man 3
    /// pthread_mutex_init.
    @unsafe private struct Objects {
      var mutex = unsafe pthread_mutex_t()
      var condition = pthread_cond_t()
    }

    private let address: UInt

    init() {
      let objects = UnsafeMutablePointer<Objects>.allocate(capacity: 1)
      unsafe objects.initialize(to: Objects())
      address = UInt(bitPattern: objects)
      unsafe pthread_mutex_init(&objects.pointee.mutex, nil)
      var attributes = pthread_condattr_t()
      unsafe pthread_condattr_init(&attributes)
      // By default a timed wait goes by the time of day, and setting the clock would stretch or cut
      // it. See: man 3 pthread_condattr_setclock.
      unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      unsafe pthread_cond_init(&objects.pointee.condition, &attributes)
      unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
      let objects = unsafe self.objects
      unsafe pthread_cond_destroy(&objects.pointee.condition)
      unsafe pthread_mutex_destroy(&objects.pointee.mutex)
      unsafe objects.deallocate()
    }

    private var objects: UnsafeMutablePointer<Objects> {
      unsafe UnsafeMutablePointer(bitPattern: address).unsafelyUnwrapped
    }

    /// Takes the mutex although it guards nothing of its own: a waiter between its comparison and its
    /// sleep holds it, and would sleep through a broadcast made without.
    func wakeAll() {
      let objects = unsafe self.objects
      unsafe pthread_mutex_lock(&objects.pointee.mutex)
      unsafe pthread_cond_broadcast(&objects.pointee.condition)
      unsafe pthread_mutex_unlock(&objects.pointee.mutex)
    }

    /// Sleeps while a condition holds, which is asked under the mutex and must not take a lock that a
    /// signaller holds.
    func wait(timeout: Duration?, while mustWait: () -> Bool) {
      let objects = unsafe self.objects
      unsafe pthread_mutex_lock(&objects.pointee.mutex)
      defer { unsafe pthread_mutex_unlock(&objects.pointee.mutex) }
      guard let timeout else {
        while mustWait() {
          unsafe pthread_cond_wait(&objects.pointee.condition, &objects.pointee.mutex)
        }
        return
      }
      var end = MonotonicTime.now.advanced(by: timeout).timespec
      while mustWait() {
        let result = unsafe pthread_cond_timedwait(
          &objects.pointee.condition, &objects.pointee.mutex, &end)
        if result == ETIMEDOUT { return }
      }
    }
  }
#endif
