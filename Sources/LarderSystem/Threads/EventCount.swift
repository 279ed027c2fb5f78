import LarderLibc
import Synchronization

/// A counter that lets threads wait until a state changes that they check under their own lock.
///
/// 1. A waiter takes a ticket, checks the state, and waits if it must, until the count has passed
///    the ticket.
/// 2. A thread that changes the state calls `signal()` afterwards.
///
/// No signal is lost between check and wait. Without waiters, a signal costs an atomic addition.
package struct EventCount: ~Copyable, Sendable {
  /// The count before a check.
  package struct Ticket {
    fileprivate let count: UInt32
  }

  // The count wraps around after 2³² signals. A waiter that sleeps through exactly that many waits
  // for one more, or for its timeout.
  private let count = Atomic<UInt32>(0)
  private let waiterCount = Atomic<Int>(0)
  private let parking = ParkingSpot()

  package init() {}

  /// Takes a ticket, before the check.
  ///
  /// The order matters: a change after the ticket ends the wait, and the check sees one before it.
  package func ticket() -> Ticket {
    Ticket(count: count.load(ordering: .sequentiallyConsistent))
  }

  /// Wakes all waiters whose ticket is older.
  ///
  /// Call it after the change and outside of the lock that guards it, so that a woken thread can
  /// take the lock.
  package func signal() {
    count.wrappingAdd(1, ordering: .sequentiallyConsistent)
    // A waiter adds itself before it compares, so one that is not seen here sees the new count.
    if waiterCount.load(ordering: .sequentiallyConsistent) > 0 { parking.wakeAll() }
  }

  /// Waits until a signal after the ticket, for `timeout` at most. May return without a reason.
  package func wait(_ ticket: Ticket, timeout: Duration? = nil) {
    // Before the comparison below and sequentially consistent with it, so that either this waiter
    // sees the new count or the signaller sees this waiter. A weaker order could let both miss each
    // other.
    waiterCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
    parking.wait(timeout: timeout) {
      count.load(ordering: .sequentiallyConsistent) == ticket.count
    }
    waiterCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
  }
}

/// Makes the thread wait for a time.
package func pause(for time: Duration) {
  let never = EventCount()
  never.wait(never.ticket(), timeout: time)
}

#if !LARDER_SCHEDULES
  /// A mutex and a condition variable of the system, at a fixed address.
  ///
  /// The address is kept as a number because a pointer is not Sendable, while these two objects are
  /// made to be shared. They are made once, never move, and end with the value.
  ///
  /// It is `package` because an optimised build of another target inlines the end of an
  /// `EventCount`, and Swift 6.3 then refers to this type by a symbol that a private type does not
  /// have.
  package struct ParkingSpot: ~Copyable, Sendable {
    /// The system's objects at the address, which must not be copied once in use. See: man 3
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
      // By default a timed wait uses the time of day, so that setting the clock would change its
      // length. See: man 3 pthread_condattr_setclock.
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

    /// Wakes all waiting threads. Takes the mutex although it guards no data, because a waiter
    /// between its check and its sleep holds it, and would miss a broadcast made without it.
    func wakeAll() {
      let objects = unsafe self.objects
      unsafe pthread_mutex_lock(&objects.pointee.mutex)
      unsafe pthread_cond_broadcast(&objects.pointee.condition)
      unsafe pthread_mutex_unlock(&objects.pointee.mutex)
    }

    /// Sleeps while a condition holds. The condition is checked under the mutex and must not take a
    /// lock that a signaller holds.
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
