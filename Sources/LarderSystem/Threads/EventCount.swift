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
  // for one more, or for its time.
  private let count = WaitableCount()
  private let waiterCount = Atomic<Int>(0)

  package init() {}

  /// Takes a ticket, before the check.
  ///
  /// The order matters: a change after the ticket ends the wait, and the check sees one before it.
  package func ticket() -> Ticket {
    Ticket(count: count.value)
  }

  /// Wakes all waiters whose ticket is older.
  ///
  /// Call it after the change, outside of its lock, so that a woken thread can take that.
  package func signal() {
    count.add()
    // A waiter adds itself before it compares, so one that is not seen here sees the new count.
    if waiterCount.load(ordering: .sequentiallyConsistent) > 0 { count.wakeAll() }
  }

  /// Waits until a signal after the ticket, or a time. May return without a reason.
  package func wait(_ ticket: Ticket, until end: MonotonicTime? = nil) {
    // Before the comparison below and sequentially consistent with it, so that either this waiter
    // sees the new count or the signaller sees this waiter. A weaker order could let both miss.
    waiterCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
    while count.value == ticket.count {
      count.wait(while: ticket.count, until: end)
      if let end, end <= .now { break }
    }
    waiterCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
  }
}

/// Makes the thread wait for a time.
package func pause(for time: Duration) {
  let never = EventCount()
  never.wait(never.ticket(), until: .now.advanced(by: time))
}

#if !LARDER_SCHEDULES
  /// A count at which threads wait while it is what they know.
  //
  // Package, because an optimised build of another target inlines the end of an `EventCount`, and
  // Swift 6.3 then refers to this type by a symbol that a private type does not have.
  package struct WaitableCount: ~Copyable, Sendable {
    /// The address of the count, as a number because a pointer is not Sendable.
    private let address: UInt

    init() {
      let count = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)
      unsafe count.initialize(to: Atomic(0))
      address = UInt(bitPattern: count)
    }

    deinit { unsafe pointer.deallocate() }

    private var pointer: UnsafeMutablePointer<Atomic<UInt32>> {
      unsafe UnsafeMutablePointer(bitPattern: address).unsafelyUnwrapped
    }

    var value: UInt32 { unsafe pointer.pointee.load(ordering: .sequentiallyConsistent) }

    func add() { unsafe pointer.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent) }

    func wakeAll() { Futex.wake(at: address, Int(Int32.max)) }

    /// Sleeps while the count is a value, until a time at most. May return without a reason.
    func wait(while value: UInt32, until end: MonotonicTime?) {
      Futex.wait(at: address, while: value, until: end)
    }
  }
#endif
