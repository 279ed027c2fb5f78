#if LARDER_SCHEDULES
  import Glibc
  import Synchronization

  /// The scheduler of builds for the schedule explorer: of all threads of the library one runs, and
  /// at each point where one can see another a strategy chooses which.
  ///
  /// 1. A point is what comes before a lock, an atomic operation that is not relaxed, a signal, a
  ///    wait or a system call. Between two points a thread runs alone.
  /// 2. A thread that has to wait says for what and hands over. It is chosen again after
  ///    ``wake(_:)``, after its deadline, or when its descriptors can be read.
  /// 3. Time is virtual. A point takes a microsecond; when nobody can run, the earliest deadline
  ///    comes at once.
  /// 4. Nobody can run and no deadline is left: the schedule is stuck, and ends.
  /// 5. Threads belong to processes, which share nothing but the file system. A process that is
  ///    killed loses its descriptors, and its threads are never chosen again.
  package enum Scheduler {
    static let core = Synchronization.Mutex(ScheduleCore())
    private static let active = Synchronization.Atomic<Bool>(false)
    private static let controller = ScheduleGate()

    /// How a schedule ended.
    package struct Outcome: Sendable {
      /// What each thread that is left waits for; empty when all have ended.
      package var stuck: [String] = []
      /// Whether more points were passed than allowed.
      package var isEndless = false
      package var pointCount = 0
      package var traceHash: UInt64 = 0
      /// The number of times that a thread was interrupted at a point.
      package var preemptionCount = 0
    }

    /// Whether a schedule is going on.
    static var isActive: Bool { active.load(ordering: .relaxed) }

    /// Runs a schedule, of which `body` is the first thread, until all of its threads have ended.
    package static func run(
      _ strategy: any SchedulingStrategy, pointLimit: Int, isTraced: Bool = false,
      _ body: @escaping @Sendable () -> Void
    ) -> Outcome {
      let first = core.withLock { core in
        core.begin(strategy, pointLimit: pointLimit, isTraced: isTraced)
        return core.spawn("director", process: 0, body)
      }
      active.store(true, ordering: .sequentiallyConsistent)
      first.gate.open()
      controller.wait()
      active.store(false, ordering: .sequentiallyConsistent)
      return core.withLock { $0.end() }
    }

    /// Passes a point, where another thread may be chosen.
    @inline(__always)
    static func point(_ kind: SchedulePoint) {
      if isActive { pass(kind) }
    }

    private static func pass(_ kind: SchedulePoint) {
      move(core.withLock { $0.step(kind) })
    }

    /// Waits until ``wake(_:)`` is called for an object, for some nanoseconds at most.
    ///
    /// - Returns: Whether the time was over before that.
    @discardableResult
    static func wait(for object: ObjectIdentifier, _ text: String, until deadline: Int64?) -> Bool {
      precondition(isActive, "a thread waits outside of a schedule: \(text)")
      move(core.withLock { $0.wait(for: object, text, until: deadline) })
      return core.withLock { $0.isTimedOut }
    }

    /// Waits until one of some descriptors can be read, until a deadline at most.
    static func wait(forDescriptors descriptors: [Int32], until deadline: Int64?) {
      guard isActive else { return }
      move(core.withLock { $0.wait(for: descriptors, until: deadline) })
    }

    /// Lets the threads run that wait for an object.
    static func wake(_ object: ObjectIdentifier) {
      if isActive { core.withLock { $0.wake(object) } }
    }

    /// Starts a thread in the process of the caller, or in another.
    package static func spawn(
      _ label: String, process: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) {
      _ = core.withLock { $0.spawn(label, process: process ?? $0.process, body) }
    }

    /// Ends the caller's turn for good; called by carriers when a thread's body has returned.
    static func finish(_ carrier: ScheduleCarrier) {
      follow(core.withLock { $0.finish(carrier) })
    }

    /// What a step leads to.
    enum Move: Sendable {
      case stay
      case go(to: ScheduleCarrier, from: ScheduleCarrier?)
      /// The schedule is over; the caller stays where it is for good, unless it has ended.
      case over(from: ScheduleCarrier?)
    }

    private static func move(_ move: Move) {
      follow(move)
      switch move {
      case .stay: break
      case .go(_, let from), .over(let from): from?.gate.wait()
      }
    }

    private static func follow(_ move: Move) {
      switch move {
      case .stay: break
      case .go(let to, _): to.gate.open()
      case .over: controller.open()
      }
    }
  }

  extension Scheduler {
    /// Sleeps for some virtual time.
    package static func sleep(milliseconds: Int) {
      let object = ScheduledLock()
      let deadline = now + Int64(milliseconds) * 1_000_000
      while now < deadline { wait(for: ObjectIdentifier(object), "a pause", until: deadline) }
    }

    /// The nanoseconds of the virtual clock.
    package static var now: Int64 { core.withLock { $0.now } }

    /// The points passed so far.
    package static var step: Int { core.withLock { $0.stepCount } }

    /// The process of the thread that runs.
    package static var process: Int { core.withLock { $0.process } }

    /// The same, counted from the schedule's first.
    static var processNumber: Int { core.withLock { $0.processNumber } }

    /// The number of the thread that runs.
    static var thread: Int { core.withLock { $0.running ?? -1 } }

    /// The number of the schedule, unlike any other of the program.
    static var number: Int { core.withLock { $0.number } }

    /// Lets nobody interrupt the running thread, while a scene is prepared or judged.
    package static func setQuiet(_ isQuiet: Bool) { core.withLock { $0.isQuiet = isQuiet } }

    /// Makes a process that has nothing yet.
    package static func makeProcess() -> Int { core.withLock { $0.makeProcess() } }

    /// Lets the calling thread belong to another process from now on.
    package static func enter(process: Int) { core.withLock { $0.enter(process) } }

    /// Ends a process: its threads are never chosen again, and its descriptors are closed.
    package static func kill(process: Int) {
      core.withLock { $0.kill(process) }
      ScheduledFiles.closeAll(of: process)
      noteKernelChange()
    }

    /// Lets a process stand still, or go on.
    package static func setStopped(_ isStopped: Bool, process: Int) {
      core.withLock { $0.setStopped(isStopped, process) }
    }

    /// Says that what descriptors tell may have changed.
    static func noteKernelChange() {
      if isActive { core.withLock { $0.mustPoll = true } }
    }

    /// Lets the `n`-th call of a kind from now on fail in a process.
    package static func plan(
      _ errno: Int32, for call: SystemCall, at n: Int, count: Int = 1, process: Int
    ) {
      core.withLock {
        $0.failures.append(
          ScheduleCore.Failure(errno: errno, call: call, first: n, count: count, process: process))
      }
    }

    /// Forgets the failures that are still to come.
    package static func forgetFailures() { core.withLock { $0.failures = [] } }

    /// The error that a call has to fail with.
    static func failure(of call: SystemCall) -> Errno? {
      guard isActive, let errno = core.withLock({ $0.failure(of: call) }) else { return nil }
      return Errno(rawValue: errno)
    }

    /// Every point of the schedule that was traced.
    package static var trace: [String] { core.withLock { $0.trace } }

    /// Adds a line to the trace.
    package static func note(_ text: @autoclosure () -> String) {
      guard core.withLock({ $0.isTraced }) else { return }
      let text = text()
      core.withLock { $0.add(text) }
    }
  }
#endif
