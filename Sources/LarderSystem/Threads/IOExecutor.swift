import Synchronization

/// The threads of a cache or a tier for work that may block, on its disk or in callers' code.
///
/// Threads of Swift's cooperative pool must not block, and an owner whose work hangs must not take
/// the threads of others. An executor takes a thread when there is a job and gives it back when
/// there is none, so it costs nothing meanwhile. Jobs start in the order of their submission.
package final class IOExecutor: Sendable {
  /// The state that the threads share. `ready` is a queue in an array: jobs are taken from
  /// `firstReady` on, and their places are freed when half of the array is taken, or all.
  struct State: Sendable {
    var ready: [Job?] = []
    var firstReady = 0
    /// The number of threads, including those being started.
    var threadCount = 0
  }

  /// Starts a thread, or throws if the system has none.
  package typealias Start = @Sendable (_ body: @escaping Job) throws(Errno) -> Void

  package let threadLimit: Int
  private let start: Start
  // A forked child has none of its parent's threads and jobs.
  private let states = PerProcess { ForkSafeMutex(State()) }
  private let leftJobs = Atomic<Bool>(false)

  /// Creates an executor that uses at most `threadLimit` threads at once. Without a limit a job
  /// never waits for another.
  package init(threadLimit: Int = .max, startingWith start: @escaping Start = runOnThread) {
    precondition(threadLimit > 0, "an executor needs at least one thread")
    self.threadLimit = threadLimit
    self.start = start
  }

  /// Runs a job on one of the threads, or on the caller's if no thread can be had.
  ///
  /// Does not wait for the work, unless no thread can be had.
  package func submit(_ job: @escaping Job) {
    if !submitAside(job) { runReady() }
  }

  /// Runs a job on one of the threads, never on the caller's, which may hold what the job needs.
  ///
  /// - Returns: False if no thread can be had. The job then waits for ``runReady()`` or for a
  ///   thread that a later call starts.
  package func submitAside(_ job: @escaping Job) -> Bool { startThread(adding: job) }

  /// Runs a job on one of the threads, never on the caller's, as soon as there is one.
  package func submitEventually(_ job: @escaping Job) {
    // The timer tries again until there is a thread, which runs both jobs.
    if !submitAside(job) { JobTimer.own.submit(after: .zero, to: self) {} }
  }

  /// Adds a job, and starts a thread if there is one for it; returns false if none can be had.
  func startThread(adding job: Job? = nil) -> Bool {
    let mustStart = states.own.value.withLock { state in
      if let job { state.ready.append(job) }
      guard !state.ready.isEmpty, state.threadCount < threadLimit else { return false }
      state.threadCount += 1
      return true
    }
    guard mustStart else { return true }
    do throws(Errno) {
      try start { while self.runNext(endsThread: true) {} }
      JobTimer.own.tryAgain()
      return true
    } catch {
      states.own.value.withLock { $0.threadCount -= 1 }
      leftJobs.store(true, ordering: .sequentiallyConsistent)
      return false
    }
  }

  /// Whether jobs may have found no thread since the last ``runReady()``.
  package var hasLeftJobs: Bool { leftJobs.load(ordering: .acquiring) }

  /// Runs the jobs that are ready on the caller's thread.
  package func runReady() {
    leftJobs.store(false, ordering: .sequentiallyConsistent)
    while runNext(endsThread: false) {}
  }

  /// Runs the next job, and releases what it holds. Returns false if there is none; the thread then
  /// no longer counts, if `endsThread` is true.
  private func runNext(endsThread: Bool) -> Bool {
    let job = states.own.value.withLock { $0.takeJob(endsThread: endsThread) }
    job?()
    return job != nil
  }
}

extension IOExecutor: TaskExecutor {
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    submit { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

extension IOExecutor.State {
  mutating func takeJob(endsThread: Bool) -> Job? {
    guard firstReady < ready.count else {
      if endsThread { threadCount -= 1 }
      return nil
    }
    // Taken out, because what a job holds may submit another one when it is released, which must
    // not happen under the lock.
    let job = exchange(&ready[firstReady], with: nil)
    firstReady += 1
    // Also while jobs always wait. After a burst of submissions the memory is freed.
    guard firstReady == ready.count || firstReady >= max(1024, ready.count / 2) else { return job }
    ready.removeFirst(firstReady)
    if ready.isEmpty && ready.capacity >= 2048 { ready = [] }
    firstReady = 0
    return job
  }
}
