#if LARDER_SCHEDULES
  import Glibc
  import Synchronization

  /// The descriptors of each process, the change times of files, and inotify queues for reuse.
  package enum ScheduledFiles {
    private struct State {
      var owners: [Int32: (process: Int, serial: UInt64)] = [:]
      var lastSerial: UInt64 = 0
      /// The time of the last change of each file, in nanoseconds of the virtual clock.
      var changes: [UInt64: Int64] = [:]
      /// Unused queues without a watch, kept because the kernel takes milliseconds to close one.
      var queues: [Int32] = []
      var watches: [Int32: [Int32]] = [:]
      var queueOwners: [Int32: Int] = [:]
      var overflown: Set<Int32> = []
      /// The length of a tick of the clock that stamps files, in nanoseconds.
      var tick: Int64 = 4_000_000
    }

    private static let state = Synchronization.Mutex(State())
    /// The wall clock when the virtual clock shows zero: in 2033, so that entries stamped by the
    /// real clock have expired.
    static let epoch: Int64 = 2_000_000_000

    /// Forgets the previous schedule.
    package static func begin(tick: Int64) {
      state.withLock { state in
        state.changes.removeAll(keepingCapacity: true)
        state.tick = tick
      }
    }

    // MARK: Descriptors

    static func open(_ descriptor: Int32) -> UInt64 {
      let process = Scheduler.process
      return state.withLock { state in
        state.lastSerial += 1
        state.owners[descriptor] = (process, state.lastSerial)
        return state.lastSerial
      }
    }

    /// Whether a descriptor is still the one opened under a serial number. If so, it is forgotten
    /// here.
    static func close(_ descriptor: Int32, _ serial: UInt64) -> Bool {
      Scheduler.noteKernelChange()
      return state.withLock { state in
        guard state.owners[descriptor]?.serial == serial else { return false }
        state.owners[descriptor] = nil
        return true
      }
    }

    /// Returns the number of open descriptors of some processes.
    package static func count(of processes: [Int]) -> Int {
      state.withLock { state in
        state.owners.values.count { processes.contains($0.process) }
          + state.queueOwners.values.count { processes.contains($0) }
      }
    }

    static func closeAll(of process: Int) {
      let (files, queues) = state.withLock { state in
        let files = state.owners.filter { $0.value.process == process }.map(\.key)
        for file in files { state.owners[file] = nil }
        return (files, state.queueOwners.filter { $0.value == process }.map(\.key))
      }
      for file in files.sorted() { _ = Glibc.close(file) }
      for queue in queues.sorted() { giveBack(queue) }
    }

    // MARK: Change times

    /// Records that a file changes now.
    static func touch(_ status: stat) {
      let now = Scheduler.now
      state.withLock { $0.changes[UInt64(status.st_ino)] = now / $0.tick * $0.tick }
    }

    package static func touch(_ descriptor: Int32) {
      var status = stat()
      if unsafe fstat(descriptor, &status) == 0 { touch(status) }
    }

    static func touch(_ directory: Int32, _ name: UnsafePointer<CChar>) {
      var status = stat()
      if unsafe fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { touch(status) }
    }

    /// Returns the change time of a file by the virtual clock.
    static func changeTime(_ inode: UInt64) -> Timestamp {
      let now = Scheduler.now
      let time = state.withLock { state in
        if let known = state.changes[inode] { return known }
        state.changes[inode] = now / state.tick * state.tick
        return now / state.tick * state.tick
      }
      return timestamp(time)
    }

    /// The time of the wall clock.
    package static var wallTime: Timestamp { timestamp(Scheduler.now) }

    /// The time of the wall clock as of the last tick.
    static var coarseWallTime: Timestamp {
      let now = Scheduler.now
      return timestamp(state.withLock { now / $0.tick * $0.tick })
    }

    private static func timestamp(_ nanoseconds: Int64) -> Timestamp {
      Timestamp(
        seconds: epoch + nanoseconds / 1_000_000_000, nanoseconds: nanoseconds % 1_000_000_000)
    }

    // MARK: Events

    static func takeQueue() throws(Errno) -> Int32 {
      let process = Scheduler.process
      let known = state.withLock { $0.queues.popLast() }
      let queue = known ?? inotify_init1(O_CLOEXEC | O_NONBLOCK)
      guard queue >= 0 else { throw .current }
      state.withLock { $0.queueOwners[queue] = process }
      return queue
    }

    static func add(_ watch: Int32, of queue: Int32) {
      state.withLock { $0.watches[queue, default: []].append(watch) }
    }

    static func giveBack(_ queue: Int32) {
      let watches: [Int32]? = state.withLock { state in
        guard state.queueOwners.removeValue(forKey: queue) != nil else { return nil }
        state.overflown.remove(queue)
        return state.watches.removeValue(forKey: queue) ?? []
      }
      guard let watches else { return }
      for watch in watches { inotify_rm_watch(queue, watch) }
      drain(queue)
      state.withLock { $0.queues.append(queue) }
    }

    private static func drain(_ queue: Int32) {
      unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
        while unsafe read(queue, buffer.baseAddress, 4096) > 0 {}
      }
    }

    /// Makes the queues of a process overflow.
    package static func overflow(_ process: Int) {
      state.withLock { state in
        for (queue, owner) in state.queueOwners where owner == process {
          state.overflown.insert(queue)
        }
      }
      Scheduler.noteKernelChange()
    }

    static func isOverflown(_ queue: Int32) -> Bool {
      state.withLock { $0.overflown.contains(queue) }
    }

    /// Returns whether events of a queue were lost. If so, drops the events in the queue as well.
    static func takeOverflow(_ queue: Int32) -> Bool {
      guard state.withLock({ $0.overflown.remove(queue) != nil }) else { return false }
      drain(queue)
      return true
    }

    static func canRead(_ descriptors: [Int32]) -> Bool {
      if state.withLock({ state in descriptors.contains { state.overflown.contains($0) } }) {
        return true
      }
      var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      return unsafe Glibc.poll(&polled, nfds_t(polled.count), 0) > 0
    }
  }
#endif
