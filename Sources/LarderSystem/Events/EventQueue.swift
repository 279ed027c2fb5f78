import LarderLibc
import Synchronization

/// A queue into which the kernel writes the changes of a directory. Corresponds to `inotify`.
///
/// An event is in the queue before the call that caused it returns, in whatever process. It does
/// not tell which process that was.
///
/// The kernel closes a queue only after every thread of the machine that may be looking at its
/// watches has passed by, which takes up to 15 ms. See: synchronize_srcu in the kernel's
/// fs/notify/mark.c. In a forked child this is not the last descriptor of the queue, so closing it
/// is quick.
package final class EventQueue: Sendable {
  private let descriptor: FileDescriptor
  private let isEnding = Atomic<Bool>(false)
  /// The number of queues of the process that another thread is to close.
  private static let endingCount = Atomic<Int>(0)

  // FIONREAD, of asm-generic/ioctls.h.
  private static let byteCountRequest: UInt = 0x541B

  /// Makes a queue without a watch. Corresponds to `inotify_init1`.
  ///
  /// - Throws: `.tooManyOpenFiles` also when the user can have no more instances. See: man 2
  ///   inotify_init1, and /proc/sys/fs/inotify/max_user_instances.
  package init(faults: FaultInjector?) throws(Errno) {
    #if LARDER_SCHEDULES
      descriptor = FileDescriptor(lending: try ScheduledFiles.takeQueue())
    #else
      // IN_CLOEXEC and IN_NONBLOCK are these two by definition.
      let raw = try system(.inotify, faults) { inotify_init1(O_CLOEXEC | O_NONBLOCK) }
      descriptor = FileDescriptor(rawValue: raw, faults: nil)
    #endif
  }

  deinit {
    #if LARDER_SCHEDULES
      ScheduledFiles.giveBack(descriptor.rawValue)
    #endif
    if isEnding.load(ordering: .relaxed) { Self.endingCount.add(-1, ordering: .relaxed) }
  }

  /// The number of the descriptor, for a ``JobTimer``.
  package var number: Int32 { descriptor.rawValue }

  /// Whether the caller may leave the end of the queue to another thread. Not if four queues of the
  /// process wait for their ends already, because a user has only 128 queues by default.
  package func mayEndElsewhere() -> Bool {
    guard Self.endingCount.add(1, ordering: .relaxed).newValue <= 4 else {
      Self.endingCount.add(-1, ordering: .relaxed)
      return false
    }
    isEnding.store(true, ordering: .relaxed)
    return true
  }

  /// Watches a directory for some kinds of events. Corresponds to `inotify_add_watch`.
  ///
  /// Goes through `/proc`, which leads to the very directory that is held, wherever its path leads
  /// by now. Without `/proc`, goes by the path.
  ///
  /// - Throws: `.noSpace` when the user can have no more watches.
  /// - Returns: The watch's number, which its events carry.
  package func watch(
    _ directory: DirectoryHandle, path: String, for kinds: DirectoryEvent.Kind
  ) throws(Errno) -> Int32 {
    let mask = kinds.union([.onlyDirectory, .exceptUnlinked]).rawValue
    do throws(Errno) {
      let link = "/proc/self/fd/\(directory.descriptor.rawValue)"
      let watch = try system(.inotify, directory.faults) {
        unsafe inotify_add_watch(descriptor.rawValue, link, mask)
      }
      #if LARDER_SCHEDULES
        ScheduledFiles.add(watch, of: descriptor.rawValue)
      #endif
      return watch
    } catch .noSuchFile {
      return try system(.inotify, directory.faults) {
        unsafe inotify_add_watch(descriptor.rawValue, path, mask)
      }
    }
  }

  /// Ends a watch, which causes a last event of kind `ended`. Corresponds to `inotify_rm_watch`.
  ///
  /// - Throws: `.invalidArgument` for a watch that has ended by itself.
  package func endWatch(_ watch: Int32) throws(Errno) {
    _ = try system(.inotify, nil) { inotify_rm_watch(descriptor.rawValue, watch) }
  }

  /// Whether there is nothing to read.
  ///
  /// - Complexity: O(1), one system call.
  package var isEmpty: Bool {
    get throws(Errno) {
      #if LARDER_SCHEDULES
        if ScheduledFiles.isOverflown(descriptor.rawValue) { return false }
      #endif
      return try byteCount == 0
    }
  }

  /// The length of the events in the queue. Corresponds to `ioctl(FIONREAD)`.
  private var byteCount: Int {
    get throws(Errno) {
      var byteCount: Int32 = 0
      _ = try system(.ioctl, nil) {
        unsafe ioctl(descriptor.rawValue, Self.byteCountRequest, &byteCount)
      }
      return Int(byteCount)
    }
  }

  /// Reads all events that are in the queue at the time of the call, and hands them to a function,
  /// a buffer full at a time. Never waits.
  ///
  /// Goes on until the queue is empty. If that is not so after 64 reads, it reads what is in the
  /// queue then and no more, because neighbours that never rest would never let it run empty. 64
  /// reads of 64 KiB take more events than the kernel keeps by default.
  package func readAll(
    into buffer: inout [UInt8], _ body: ([DirectoryEvent]) -> Void
  ) throws(Errno) {
    for _ in 0..<64 {
      let (events, _) = try read(into: &buffer)
      if events.isEmpty { return }
      body(events)
    }
    var rest = try byteCount
    while rest > 0 {
      let (events, byteCount) = try read(into: &buffer)
      if events.isEmpty { return }
      body(events)
      rest -= byteCount
    }
  }

  /// Reads events, as many as fit into the buffer; none if there are none. Never waits.
  private func read(
    into buffer: inout [UInt8]
  ) throws(Errno) -> (events: [DirectoryEvent], byteCount: Int) {
    #if LARDER_SCHEDULES
      Scheduler.point(.call(.read))
      if ScheduledFiles.takeOverflow(descriptor.rawValue) {
        return ([DirectoryEvent(watch: -1, kind: .overflow, name: nil)], 0)
      }
    #endif
    do throws(Errno) {
      let count = try descriptor.read(into: &buffer)
      return (DirectoryEvent.all(in: buffer.span.extracting(..<count)), count)
    } catch .wouldBlock {
      return ([], 0)
    }
  }
}

/// A descriptor through which one thread wakes another that waits for descriptors.
package final class EventDescriptor: Sendable {
  let descriptor: FileDescriptor

  /// Makes a descriptor that is not raised. Corresponds to
  /// `eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)`.
  package init() throws(Errno) {
    let raw = try system(.eventfd, nil) { c_eventfd(0, O_CLOEXEC | O_NONBLOCK) }
    descriptor = FileDescriptor(rawValue: raw, faults: nil)
  }

  /// Makes the descriptor readable until it is cleared. Raising it again changes nothing.
  package func raise() {
    let one: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0]
    // This can only fail if the count is full, and then the descriptor is raised.
    do throws(Errno) { try descriptor.write(one.span) } catch {}
  }

  /// Makes the descriptor unreadable again.
  func clear() { descriptor.drainEvent() }
}

extension EventDescriptor {
  /// Waits until the descriptor is raised, which clears it, or one of some others can be read, but
  /// not beyond a time. Corresponds to `poll`.
  ///
  /// - Returns: Those of the others that can be read, or that it is of no use to wait for.
  func wait(or others: [Int32], until end: MonotonicTime?) -> [Int32] {
    #if LARDER_SCHEDULES
      let all = [descriptor.rawValue] + others
      if !ScheduledFiles.canRead(all) {
        Scheduler.wait(forDescriptors: all, until: end?.nanoseconds)
      }
      let readable = all.filter { ScheduledFiles.canRead([$0]) }
    #else
      let readable = waitInSystem(or: others, until: end)
    #endif
    if readable.contains(descriptor.rawValue) { clear() }
    return others.filter { readable.contains($0) }
  }

  private func waitInSystem(or others: [Int32], until end: MonotonicTime?) -> [Int32] {
    var polled = ([descriptor.rawValue] + others).map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    let milliseconds = end?.duration(since: .now).milliseconds ?? -1
    do throws(Errno) {
      _ = try system(.poll, nil) { unsafe poll(&polled, nfds_t(polled.count), milliseconds) }
    } catch {
      // There is no memory to wait for so many. Their readers find out.
      return others
    }
    return polled.filter { $0.revents != 0 }.map(\.fd)
  }
}

extension Duration {
  /// The time for `poll`, at most a day, rounded up, so that a wait never ends just before its
  /// time. It is negative, by any amount, if the process was stopped beyond the end of the wait.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = Swift.min(Swift.max(self, .zero), .seconds(86_400)).components
    let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return Int32(seconds * 1_000 + rest)
  }
}

extension FileDescriptor {
  /// Reads the count of an event descriptor, which makes it unreadable.
  func drainEvent() {
    var count: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
    // This can only fail if there is nothing to read, and then the descriptor is clear.
    do throws(Errno) { _ = try read(into: &count) } catch {}
  }
}
