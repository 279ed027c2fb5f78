import Synchronization

/// A few threads of the library's own for work that touches the disk.
///
/// File operations block, and threads of Swift's cooperative pool must not. Threads start when
/// there is work for them and end after five idle seconds, or once the executor is retired and
/// there is no work, so an unused executor costs nothing. Jobs start in the order of their
/// submission; jobs with a delay start when it is over.
package final class IOExecutor: Sendable {
  /// A job with a delay.
  fileprivate struct Job {
    let due: MonotonicTime
    let run: @Sendable () -> Void
  }

  /// The state that the threads share. `ready` is a queue in an array: jobs are taken from
  /// `firstReady` on, and the array is emptied when all are taken.
  fileprivate struct State {
    var ready: [@Sendable () -> Void] = []
    var firstReady = 0
    /// Sorted with the latest first, so that the next job is taken from the end.
    var delayed: [Job] = []
    /// The number of threads, including those being started.
    var threadCount = 0
    /// The numbers of the threads being started; starting them can still fail.
    var starting: Set<UInt64> = []
    var lastStart: UInt64 = 0
    /// The number of threads that wait for work.
    var idleCount = 0
    /// Whether a thread ends as soon as there is no work for it.
    var isRetired = false
  }

  /// The next step of a thread, chosen under the lock and carried out outside of it.
  private enum Step {
    case run(@Sendable () -> Void)
    case wait(Duration)
    case end
  }

  /// The executor for the upkeep of all caches of the process: scans, evictions, stamps.
  // Upkeep jobs wait for locks and disks and not for each other, so four threads are enough for any
  // number of caches.
  package static var upkeep: IOExecutor { upkeeps.own.value }
  private static let upkeeps = PerProcess { IOExecutor(threadLimit: 4) }

  /// The executor for writes that caches do in the background. Separate from the upkeep, because a
  /// write may have to wait for an eviction.
  package static var writing: IOExecutor { writings.own.value }
  private static let writings = PerProcess { IOExecutor(threadLimit: 2) }

  /// The executor for closing caches. Closing waits for upkeep, and would block its threads for
  /// ever.
  package static var endings: IOExecutor { ends.own.value }
  private static let ends = PerProcess { IOExecutor(threadLimit: 2) }

  /// The executor that releases values of callers. Separate from the others, because a
  /// deinitialiser may use a cache and wait for what they do.
  package static var releases: IOExecutor { release.own.value }
  private static let release = PerProcess { IOExecutor(threadLimit: 2) }

  /// Starts a thread, or throws if the system has none.
  package typealias Start = @Sendable (_ body: @escaping @Sendable () -> Void) throws(Errno) -> Void

  package let threadLimit: Int
  private let start: Start
  private let idleTime: Duration
  private let state = ForkSafeMutex(State())
  private let changed = EventCount()

  /// Creates an executor that uses at most `threadLimit` threads at once.
  ///
  /// - Parameter idleTime: The time after which a thread without work ends; long enough to outlast
  ///   a pause between bursts.
  package init(
    threadLimit: Int, idleTime: Duration = .seconds(5),
    startingWith start: @escaping Start = startThread
  ) {
    precondition(threadLimit > 0, "an executor needs at least one thread")
    self.threadLimit = threadLimit
    self.idleTime = idleTime
    self.start = start
  }

  /// Runs a job on one of the threads, or on the caller's if no thread can be started.
  ///
  /// Does not wait for the work, unless no thread can be started.
  package func submit(_ job: @escaping @Sendable () -> Void) {
    if !submitAside(job) { runReady() }
  }

  /// Runs a job on one of the threads, and never on the caller's, which may hold what the job
  /// needs.
  ///
  /// - Returns: False if no thread can be started. The job then waits for ``runReady()`` or for a
  ///   thread that a later submission starts.
  package func submitAside(_ job: @escaping @Sendable () -> Void) -> Bool {
    let newThread = state.withLock { state in
      state.ready.append(job)
      return state.claimThread(within: threadLimit)
    }
    return wake(newThread)
  }

  /// Runs the jobs that are ready on the caller's thread.
  package func runReady() { work(mayWait: false) }

  /// Runs a job on one of the threads after a delay.
  ///
  /// While a delayed job waits, threads without work wait with it and do not end. If no thread can
  /// be started, the job waits for the next submission, which tries again; `hasThreads` tells
  /// whether this is so.
  ///
  /// - Complexity: O(d) for d jobs that wait for their time: one or two per open cache.
  package func submit(after delay: Duration, _ job: @escaping @Sendable () -> Void) {
    let entry = Job(due: MonotonicTime.now.advanced(by: delay), run: job)
    let newThread = state.withLock { state in
      let index = state.delayed.firstIndex { $0.due <= entry.due } ?? state.delayed.count
      state.delayed.insert(entry, at: index)
      return state.claimThread(within: threadLimit)
    }
    // Nothing runs on the caller's thread, because a job with a delay need not run now.
    _ = wake(newThread)
  }

  /// Whether there is a thread that would run a job with a delay. A thread that is still being
  /// started does not count.
  package var hasThreads: Bool { state.withLock { $0.threadCount > $0.starting.count } }

  /// Whether a thread ends as soon as there is no work for it.
  package var isRetired: Bool { state.withLock { $0.isRetired } }

  /// Ends the threads without work now, and the others as soon as they have none. Jobs that are
  /// submitted later run all the same.
  package func retire() {
    state.withLock { $0.isRetired = true }
    changed.signal()
  }

  /// Wakes the threads and starts a claimed one. Returns false if it cannot be started.
  private func wake(_ newThread: UInt64?) -> Bool {
    changed.signal()
    guard let newThread else { return true }
    do throws(Errno) {
      // Recorded by both, because either the new thread or the starter may be the first to read it.
      try start {
        self.noteStart(newThread)
        self.work(mayWait: true)
      }
      noteStart(newThread)
      return true
    } catch {
      // Delayed jobs stay until the next submission, which tries again to start a thread.
      state.withLock { state in
        state.starting.remove(newThread)
        state.threadCount -= 1
      }
      return false
    }
  }

  private func noteStart(_ thread: UInt64) {
    _ = state.withLock { $0.starting.remove(thread) }
  }

  /// Runs a thread: takes jobs that are ready, else waits, else ends.
  private func work(mayWait: Bool) {
    var idleSince: MonotonicTime?
    while true {
      // Before the look at the queue, so that a job added after the look ends the wait.
      let ticket = changed.ticket()
      switch nextStep(mayWait: mayWait, idleSince: idleSince) {
      case .run(let job):
        job()
        idleSince = nil
      case .wait(let time):
        if idleSince == nil { idleSince = .now }
        changed.wait(ticket, timeout: time)
        state.withLock { $0.idleCount -= 1 }
      case .end: return
      }
    }
  }

  /// Returns the next step of a thread, which ends after some idle time.
  private func nextStep(mayWait: Bool, idleSince: MonotonicTime?) -> Step {
    let now = MonotonicTime.now
    let isIdleOut = idleSince.map { now.duration(since: $0) >= idleTime } ?? false
    return state.withLock { [idleTime] state in
      if let job = state.takeJob(at: now) { return .run(job) }
      guard mayWait else { return .end }
      // One thread stays for the jobs with a delay.
      let isNeeded = !state.delayed.isEmpty && state.idleCount == 0
      let isOver = isIdleOut || state.isRetired
      if isOver && !isNeeded {
        state.threadCount -= 1
        return .end
      }
      state.idleCount += 1
      let untilNext = state.delayed.last?.due.duration(since: now) ?? idleTime
      return .wait(isOver ? untilNext : min(idleTime, untilNext))
    }
  }
}

extension IOExecutor.State {
  /// Takes the next job that may start, if there is one.
  fileprivate mutating func takeJob(at now: MonotonicTime) -> (@Sendable () -> Void)? {
    // Delayed jobs that are due come before ready ones, because they have waited longer.
    if let job = delayed.last, job.due <= now {
      delayed.removeLast()
      return job.run
    }
    guard firstReady < ready.count else { return nil }
    // Taken out, because what a job holds may submit another one when it is released, which must
    // not happen under the lock.
    var job: @Sendable () -> Void = {}
    swap(&job, &ready[firstReady])
    firstReady += 1
    if firstReady == ready.count {
      // After a burst of submissions the memory is freed.
      ready.removeAll(keepingCapacity: ready.count < 1024)
      firstReady = 0
    }
    return job
  }

  /// Returns the number of the thread that the caller must start for the job that it added; nil for
  /// none.
  fileprivate mutating func claimThread(within limit: Int) -> UInt64? {
    // Compared with the number of jobs, because an idle thread that was signalled counts as idle
    // until it takes its job, and until then the job counts as well.
    guard idleCount < ready.count - firstReady + (delayed.isEmpty ? 0 : 1) else { return nil }
    guard threadCount < limit else { return nil }
    threadCount += 1
    lastStart += 1
    starting.insert(lastStart)
    return lastStart
  }
}
