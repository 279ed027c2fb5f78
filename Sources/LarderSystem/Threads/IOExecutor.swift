import Synchronization

/// A few threads of the project's own for work that touches the disk.
///
/// File work blocks, and Swift's cooperative pool must not. Threads start when there is work for
/// them and end after five idle seconds, so an executor that is not used costs nothing. Jobs start
/// in the order of their submission; those with a delay start when it is over.
package final class IOExecutor: Sendable {
  /// Work that waits for its time.
  fileprivate struct Job {
    let due: MonotonicTime
    let run: @Sendable () -> Void
  }

  /// Everything that the threads share. `ready` is a queue in an array: taken from `firstReady` on,
  /// and emptied when the two ends meet.
  fileprivate struct State {
    var ready: [@Sendable () -> Void] = []
    var firstReady = 0
    /// Latest first, so that the next one is taken from the end.
    var delayed: [Job] = []
    /// With those that are being started.
    var threadCount = 0
    /// Those by number: whether they can be had is not known yet.
    var starting: Set<UInt64> = []
    var lastStart: UInt64 = 0
    /// Threads that wait for work.
    var idleCount = 0
  }

  /// What a thread does next, decided under the lock and done outside of it.
  private enum Step {
    case run(@Sendable () -> Void)
    case wait(Duration)
    case end
  }

  // Long enough to outlast a pause between bursts.
  private static let idleTime = Duration.seconds(5)

  /// Runs the upkeep of all caches of the process: scans, evictions, stamps.
  // Upkeep waits for locks and disks and not for each other, so that four are enough for any number
  // of caches.
  package static var upkeep: IOExecutor { upkeeps.own.value }
  private static let upkeeps = PerProcess { IOExecutor(threadLimit: 4) }

  /// Writes what caches accepted to write later. Apart from the upkeep, since a write may have to
  /// wait for an eviction.
  package static var writing: IOExecutor { writings.own.value }
  private static let writings = PerProcess { IOExecutor(threadLimit: 2) }

  /// Runs the ends of caches, which wait for their upkeep and would hold up its threads for ever.
  package static var endings: IOExecutor { ends.own.value }
  private static let ends = PerProcess { IOExecutor(threadLimit: 2) }

  /// Starts a thread, or throws when none can be had.
  package typealias Start = @Sendable (_ body: @escaping @Sendable () -> Void) throws(Errno) -> Void

  package let threadLimit: Int
  private let start: Start
  private let state = ForkSafeMutex(State())
  private let changed = EventCount()

  /// Creates an executor that uses at most `threadLimit` threads at once.
  package init(threadLimit: Int, startingWith start: @escaping Start = startThread) {
    precondition(threadLimit > 0, "an executor needs at least one thread")
    self.threadLimit = threadLimit
    self.start = start
  }

  /// Runs a job on one of the threads; on the caller's own when no thread can be started.
  ///
  /// Never blocks for the work itself, unless no thread can be had.
  package func submit(_ job: @escaping @Sendable () -> Void) {
    let newThread = state.withLock { state in
      state.ready.append(job)
      return state.claimThread(within: threadLimit)
    }
    wake(newThread)
  }

  /// Runs a job on one of the threads when a delay is over.
  ///
  /// As long as any delayed job waits, threads that ran out of work wait with it and do not end.
  /// When no thread can be started, the job waits for the next submission, which tries again:
  /// whether it has to is what `hasThreads` tells.
  ///
  /// - Complexity: O(d) for d jobs that wait for their time: one or two per open cache.
  package func submit(after delay: Duration, _ job: @escaping @Sendable () -> Void) {
    let entry = Job(due: MonotonicTime.now.advanced(by: delay), run: job)
    let newThread = state.withLock { state in
      let index = state.delayed.firstIndex { $0.due <= entry.due } ?? state.delayed.count
      state.delayed.insert(entry, at: index)
      return state.claimThread(within: threadLimit)
    }
    wake(newThread)
  }

  /// Whether a thread is there that would run a job with a delay. One that is still being started
  /// does not count.
  package var hasThreads: Bool { state.withLock { $0.threadCount > $0.starting.count } }

  private func wake(_ newThread: UInt64?) {
    changed.signal()
    guard let newThread else { return }
    do throws(Errno) {
      // Noted by whoever is first, the thread or who started it: both may ask whether it is there.
      try start {
        self.noteStart(newThread)
        self.work(mayWait: true)
      }
      noteStart(newThread)
    } catch {
      // No thread to be had: what is ready now is done here, late rather than never. What has to
      // wait stays, and the next submission finds a thread missing and tries to start it.
      state.withLock { state in
        state.starting.remove(newThread)
        state.threadCount -= 1
      }
      work(mayWait: false)
    }
  }

  private func noteStart(_ thread: UInt64) {
    _ = state.withLock { $0.starting.remove(thread) }
  }

  /// What a thread does: run what is ready, else wait, else end.
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

  /// What a thread does next; idle, it ends after a while.
  private func nextStep(mayWait: Bool, idleSince: MonotonicTime?) -> Step {
    let now = MonotonicTime.now
    let isIdleOut = idleSince.map { now.duration(since: $0) >= Self.idleTime } ?? false
    return state.withLock { state in
      if let job = state.takeJob(at: now) { return .run(job) }
      guard mayWait else { return .end }
      // One thread stays for the jobs with a delay.
      let isNeeded = !state.delayed.isEmpty && state.idleCount == 0
      if isIdleOut && !isNeeded {
        state.threadCount -= 1
        return .end
      }
      state.idleCount += 1
      let untilNext = state.delayed.last?.due.duration(since: now) ?? Self.idleTime
      return .wait(isIdleOut ? untilNext : min(Self.idleTime, untilNext))
    }
  }
}

extension IOExecutor.State {
  /// The next job that may start, if any.
  fileprivate mutating func takeJob(at now: MonotonicTime) -> (@Sendable () -> Void)? {
    // What is due goes before what is ready: it has waited for longer.
    if let job = delayed.last, job.due <= now {
      delayed.removeLast()
      return job.run
    }
    guard firstReady < ready.count else { return nil }
    let job = ready[firstReady]
    firstReady += 1
    if firstReady == ready.count {
      // A burst of submissions must not keep its memory for ever.
      ready.removeAll(keepingCapacity: ready.count < 1024)
      firstReady = 0
    }
    return job
  }

  /// The number of the thread that the caller must start for what it has added; nil for none.
  fileprivate mutating func claimThread(within limit: Int) -> UInt64? {
    // Counted by jobs and not by wake-ups: an idle thread that was signalled is still counted as
    // idle until it has taken its job, and so is the job.
    guard idleCount < ready.count - firstReady + (delayed.isEmpty ? 0 : 1) else { return nil }
    guard threadCount < limit else { return nil }
    threadCount += 1
    lastStart += 1
    starting.insert(lastStart)
    return lastStart
  }
}
