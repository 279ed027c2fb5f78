import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// The closing of event queues, on a thread of its own.
///
/// The kernel closes an inotify descriptor only after every thread of the machine that may be
/// looking at its watches has passed by, which takes up to 15 ms. See: synchronize_srcu in the
/// kernel's fs/notify/mark.c. A caller that closes a cache does not wait for that.
///
/// A user has 128 queues by default. So at most four queues wait for the thread. If four wait
/// already, the caller waits until one of them is closed, or closes its queue itself.
package final class EventQueueCloser: Sendable {
  /// The closer of this process. A forked child has no thread of its parent.
  static var own: EventQueueCloser { closers.own.value }
  private static let closers = PerProcess { EventQueueCloser() }

  /// The most queues that wait for the thread.
  package static let mostWaiting = 4

  private let executor = IOExecutor(threadLimit: 1)
  private let waitingCount = Atomic<Int>(0)
  private let changed = EventCount()
  private let closing: @Sendable (Int32) -> Void

  /// - Parameter closing: Closes a descriptor. The result of `close` is ignored and the call not
  ///   repeated, as in `FileDescriptor`.
  package init(closing: @escaping @Sendable (Int32) -> Void = { _ = systemClose($0) }) {
    self.closing = closing
  }

  /// Counts a queue that will be closed as soon as another thread lets go of it. Waits while more
  /// than `mostWaiting` are counted.
  ///
  /// - Parameter patience: The longest wait. The thread that lets go of a queue may itself wait for
  ///   the caller of this function.
  package func admit(patience: Duration = .milliseconds(100)) {
    waitingCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
    let end = MonotonicTime.now.advanced(by: patience)
    while true {
      let ticket = changed.ticket()
      guard waitingCount.load(ordering: .sequentiallyConsistent) > Self.mostWaiting else { return }
      let now = MonotonicTime.now
      guard now < end else { return }
      changed.wait(ticket, timeout: end.duration(since: now))
    }
  }

  /// Closes a queue's descriptor, now or soon. Corresponds to `close`.
  ///
  /// - Parameter isAdmitted: Whether `admit` has counted the queue. One that it has not
  ///   counted, and that is one too many, is closed on the caller's thread.
  package func close(_ raw: Int32, isAdmitted: Bool = false) {
    if !isAdmitted {
      let count = waitingCount.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
      guard count <= Self.mostWaiting else { return closeNow(raw) }
    }
    executor.submit { self.closeNow(raw) }
  }

  private func closeNow(_ raw: Int32) {
    closing(raw)
    waitingCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    changed.signal()
  }
}

/// `close`, by a name that a method of that name does not hide.
package func systemClose(_ raw: Int32) -> Int32 { close(raw) }
