/// The jobs of the process that wait for a time or a descriptor, and the one thread that waits.
///
/// The thread hands each job over to the job's executor, and does nothing else. It touches no disk
/// and runs nothing of a caller's, so no cache can hang it. It ends when no job is left.
package final class JobTimer: Sendable {
  package static var own: JobTimer { timers.own.value }
  private static let timers = PerProcess { JobTimer() }

  fileprivate struct Entry: Sendable {
    /// The time of the job, or the time from which on its descriptor counts.
    var due: MonotonicTime
    var descriptor: Int32?
    let executor: IOExecutor
    /// Nil for jobs that the executor has, and for which no thread could be had.
    var job: Job?
  }

  fileprivate struct State: Sendable {
    /// Sorted with the latest first, so that the next entry is taken from the end.
    var delayed: [Entry] = []
    /// The entries that wait for their descriptors.
    var polled: [Entry] = []
    var hasThread = false
    /// Wakes the thread where it waits for descriptors; nil until there has been one.
    var bell: EventDescriptor?
    /// Whether the thread may be waiting for descriptors.
    var isPolling = false
    /// The number of times that it has waited.
    var pollCount = 0
  }

  /// The pause before another attempt to get a thread.
  private static let famine = Duration.seconds(1)

  private let state = ForkSafeMutex(State())
  private let changed = EventCount()

  /// Runs a job on an executor after a delay.
  ///
  /// The job must not hold the last reference to anything that closes a file. If the system has no
  /// thread, the job waits until a call of these gets one, and is late.
  ///
  /// - Returns: Whether the timer has a thread.
  /// - Complexity: O(d) for d jobs that wait for their time: one or two per open cache.
  @discardableResult
  package func submit(after delay: Duration, to threads: IOExecutor, _ job: @escaping Job) -> Bool {
    let entry = Entry(due: .now.advanced(by: delay), executor: threads, job: job)
    do throws(Errno) { try add(entry) } catch { return false }
    return true
  }

  /// Starts the thread if it could not be had for jobs that wait; returns false if it still cannot.
  @discardableResult
  package func tryAgain() -> Bool {
    do throws(Errno) { try state.withLock { (state) throws(Errno) in try start(&state) } } catch {
      return false
    }
    return true
  }

  /// Runs a job on an executor once a descriptor can be read.
  ///
  /// - Parameter delay: The time after which the descriptor is looked at.
  /// - Throws: `EAGAIN` if the timer has no thread, `.tooManyOpenFiles`.
  package func submit(
    whenReadable descriptor: Int32, after delay: Duration, to executor: IOExecutor,
    _ job: @escaping Job
  ) throws(Errno) {
    do throws(Errno) {
      try add(
        Entry(
          due: .now.advanced(by: delay), descriptor: descriptor, executor: executor, job: job))
    } catch {
      forget(descriptor)
      throw error
    }
  }

  /// Forgets the job of a descriptor, which may be closed when this returns.
  ///
  /// A file that is closed while a thread waits for it is closed by that thread in the end.
  package func forget(_ descriptor: Int32) {
    let wait = state.withLock { state -> (EventDescriptor?, pollCount: Int)? in
      state.delayed.removeAll { $0.descriptor == descriptor }
      let polledCount = state.polled.count
      state.polled.removeAll { $0.descriptor == descriptor }
      return state.isPolling && state.polled.count < polledCount
        ? (state.bell, state.pollCount) : nil
    }
    guard let (bell, pollCount) = wait else { return }
    bell?.raise()
    while true {
      let ticket = changed.ticket()
      if state.withLock({ $0.pollCount != pollCount }) { return }
      changed.wait(ticket)
    }
  }

  /// Forgets the jobs of an executor that wait for a time, because its owner has ended.
  ///
  /// A sweep is planned ten minutes ahead. It would keep the thread and its bell for as long.
  package func forget(jobsOf executor: IOExecutor) {
    let (forgotten, bell) = state.withLock { state -> ([Entry], EventDescriptor?) in
      let isForgotten = { (entry: Entry) in entry.executor === executor && entry.descriptor == nil }
      let forgotten = state.delayed.filter(isForgotten)
      state.delayed.removeAll(where: isForgotten)
      return (forgotten, state.delayed.isEmpty ? state.bell : nil)
    }
    // The thread ends if nothing is left. What the jobs hold is released outside of the lock.
    if !forgotten.isEmpty { wake(bell) }
  }

  private func add(_ entry: Entry) throws(Errno) {
    let (bell, isNext) = try state.withLock { (state) throws(Errno) in
      if entry.descriptor != nil && state.bell == nil { state.bell = try EventDescriptor() }
      let index = state.delayed.firstIndex { $0.due <= entry.due } ?? state.delayed.count
      state.delayed.insert(entry, at: index)
      try start(&state)
      return (state.bell, index == state.delayed.count - 1)
    }
    // Other entries come first, and the thread looks at this one after them.
    if isNext { wake(bell) }
  }

  /// Starts the thread. Under the lock, so that no other call counts on one that cannot be had.
  private func start(_ state: inout State) throws(Errno) {
    if state.hasThread || state.delayed.isEmpty { return }
    try runOnThread { self.run() }
    state.hasThread = true
  }

  private func wake(_ bell: EventDescriptor?) {
    bell?.raise()
    changed.signal()
  }

  private func run() {
    while true {
      let ticket = changed.ticket()
      let (due, polled, end, bell) = state.withLock { $0.takeDue(at: .now) }
      for entry in due { handOver(entry) }
      if !due.isEmpty { continue }
      if polled.isEmpty && end == nil { return }
      if bell == nil { changed.wait(ticket, until: end) }
      let readable = bell?.wait(or: polled, until: end) ?? []
      let ready = state.withLock { $0.endPolling(readable) }
      changed.signal()
      for entry in ready { handOver(entry) }
    }
  }

  private func handOver(_ entry: Entry) {
    let isTaken = entry.job.map { entry.executor.submitAside($0) } ?? entry.executor.startThread()
    if isTaken { return }
    let next = Entry(due: .now.advanced(by: Self.famine), executor: entry.executor)
    // This thread is there, so adding cannot fail.
    do throws(Errno) { try add(next) } catch {}
  }
}

extension JobTimer.State {
  /// Takes the jobs that are due. If there are none, returns what to wait for; neither a descriptor
  /// nor an end if the thread must end.
  fileprivate mutating func takeDue(
    at now: MonotonicTime
  ) -> (due: [JobTimer.Entry], polled: [Int32], end: MonotonicTime?, EventDescriptor?) {
    var due: [JobTimer.Entry] = []
    while let entry = delayed.last, entry.due <= now {
      delayed.removeLast()
      if entry.descriptor == nil { due.append(entry) } else { polled.append(entry) }
    }
    if due.isEmpty {
      isPolling = !polled.isEmpty
      hasThread = isPolling || !delayed.isEmpty
      if !hasThread { bell = nil }
    }
    return (due, polled.compactMap(\.descriptor), delayed.last?.due, bell)
  }

  /// Takes the jobs whose descriptors can be read.
  fileprivate mutating func endPolling(_ readable: [Int32]) -> [JobTimer.Entry] {
    (isPolling, pollCount) = (false, pollCount + 1)
    let ready = polled.filter { readable.contains($0.descriptor ?? -1) }
    polled.removeAll { readable.contains($0.descriptor ?? -1) }
    return ready
  }
}
