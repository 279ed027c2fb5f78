#if LARDER_SCHEDULES
  import Glibc
  import Synchronization

  /// The scheduler of builds for the schedule explorer. Only one thread of the library runs at a
  /// time, and a strategy chooses the next thread at each point where one thread can see another's
  /// effects.
  ///
  /// 1. A point comes before a lock, an atomic operation that is not relaxed, a signal, a wait and
  ///    a system call. Between two points a thread runs alone.
  /// 2. A thread that has to wait names the object and hands over. It is chosen again after
  ///    ``wake(_:)``, after its deadline, or when its descriptors can be read.
  /// 3. Time is virtual. A point takes a microsecond. If no thread can run, the earliest deadline
  ///    comes at once.
  /// 4. If no thread can run and there is no deadline, the schedule is stuck, and ends.
  /// 5. Threads belong to processes, which share only the file system. A killed process loses its
  ///    descriptors, and its threads are never chosen again.
  package enum Scheduler {
    static let core = Synchronization.Mutex(ScheduleCore())
    private static let active = Synchronization.Atomic<Bool>(false)
    private static let controller = ScheduleGate()

    /// The outcome of a schedule.
    package struct Outcome: Sendable {
      /// The object that each remaining thread waits for; empty if all threads have ended.
      package var stuck: [String] = []
      /// Whether the limit of points was exceeded.
      package var isEndless = false
      /// The thread that passed the most points without a wait, a system call or a change by
      /// another thread between them.
      package var longestSpin = (label: "", count: 0)
      /// The most points between two changes of anything that all threads could see.
      package var mostIdlePoints = 0
      package var pointCount = 0
      /// The number of times that the strategy chose among several threads.
      package var choiceCount = 0
      package var traceHash: UInt64 = 0
      /// The points that could have been interrupted, in their order.
      package var passed: [PassedPoint] = []
      /// The number of times that a thread was interrupted at a point.
      package var preemptionCount = 0
      /// The meetings of two threads, each a number below ``Scheduler/meetingCount``.
      package var meetings: [Int] = []
      /// The places in the sources that were come to, each a number below ``Scheduler/placeCount``.
      package var places: [Int] = []
      /// The threads that came to what is being explored, and how many points had been passed, of
      /// this round or one before it.
      package var changes: [(thread: Int, passedCount: Int)] = []
    }

    /// A point that a thread has passed, and what it reached there: 0 for nothing that another
    /// thread can reach, −1 for the file system.
    package struct PassedPoint: Sendable {
      package var thread: Int
      package let object: Int
      /// A number of the place in the source.
      package let site: Int
      /// Whether the thread changes nothing there.
      package let isRead: Bool
      /// Whether it lies in the layer that wakes, parks and times threads.
      package let isPlumbing: Bool
      /// Whether the thread is one that the library has started for itself.
      package let isLibrary: Bool
    }

    /// The bound of the numbers of meetings. A meeting is a place in the sources, and the place at
    /// which another thread reached the same object next; some share a number.
    package static let meetingCount = 1 << 16
    /// The bound of the numbers of places; some share a number.
    package static let placeCount = 1 << 14

    /// A thread that begins, by its number.
    package struct NewThread: Sendable {
      package let number: Int
      /// The thread that starts it.
      package let parent: Int?
      /// The task of which it runs a part; 0 for none.
      package let task: UInt64
      /// Whether it is one that the library starts for itself.
      package let isLibrary: Bool
    }

    /// Whether a schedule is running.
    static var isActive: Bool { active.load(ordering: .relaxed) }

    /// The virtual time of a schedule, in nanoseconds.
    package struct Span: Sendable {
      var start: Int64 = 1_000_000_000_000
      /// The idle time after which the first thread counts as one that waits for ever: an hour.
      var limit: Int64 = 3_600_000_000_000

      package init() {}

      /// Makes the span of a day.
      package init(day: Int) {
        start += Int64(day) * 86_400_000_000_000
        limit = 2 * 86_400_000_000_000
      }
    }

    /// Runs a schedule until all of its threads have ended. `body` is the first thread.
    package static func run(
      _ strategy: any SchedulingStrategy, pointLimit: Int, span: Span = Span(),
      isTraced: Bool = false, _ body: @escaping @Sendable () -> Void
    ) -> Outcome {
      let first = core.withLock { core in
        core.begin(strategy, pointLimit: pointLimit, span: span, isTraced: isTraced)
        return core.spawn("director", process: 0, body)
      }
      traces.store(isTraced, ordering: .relaxed)
      active.store(true, ordering: .sequentiallyConsistent)
      first.gate.open()
      controller.wait()
      active.store(false, ordering: .sequentiallyConsistent)
      return core.withLock { $0.end() }
    }

    /// Passes a point, where another thread may be chosen.
    ///
    /// - Parameters:
    ///   - object: The number of the lock or the atomic value that the thread reaches; 0 for none.
    ///   - type: The type of the value that the lock guards.
    @inline(__always)
    static func point(
      _ kind: SchedulePoint, on object: Int = 0, _ type: Any.Type? = nil,
      file: StaticString = #fileID, line: Int = #line
    ) {
      if isActive { pass(kind, object, type, file, line) }
    }

    private static func pass(
      _ kind: SchedulePoint, _ object: Int, _ type: Any.Type?, _ file: StaticString, _ line: Int
    ) {
      var place = ""
      if traces.load(ordering: .relaxed) {
        place = (type.map { " of \($0)" } ?? "") + " at \(file):\(line)" + Backtrace.callers()
      }
      let site = reach(file, line)
      // LarderSystem alone has an S there.
      let isPlumbing = unsafe file.utf8Start[6] == UInt8(ascii: "S")
      move(core.withLock { [place] in $0.step(kind, object, site, isPlumbing, place) })
    }

    /// The address of a text of the program, from which those of the names of files are counted.
    private static let firstSite = {
      let name: StaticString = #fileID
      return unsafe Int(bitPattern: name.utf8Start)
    }()

    /// Lines to explore, by the names of their files, such as `LarderDisk/DiskEngine.swift`.
    package typealias Lines = [String: [ClosedRange<Int>]]
    /// The lines to explore, those that were reached, and of places whether they are among them.
    private static let explored = Synchronization.Mutex(
      (lines: Lines(), reached: Lines(), places: [Int: Bool]()))
    private static let explores = Synchronization.Atomic<Bool>(false)

    /// Has each point in some lines count as one that comes to a change.
    package static func explore(_ lines: Lines) {
      explored.withLock { $0 = (lines, [:], [:]) }
      explores.store(!lines.isEmpty, ordering: .relaxed)
    }

    /// The lines to explore that a thread has come to: the name of a file, the first and the last.
    package static var linesReached: [String] {
      let reached = explored.withLock(\.reached)
      return reached.flatMap { path, lines in
        lines.map { "\(path) \($0.lowerBound) \($0.upperBound)" }
      }
    }

    /// Returns the number of a place, and notes a change if it is to be explored.
    private static func reach(_ file: StaticString, _ line: Int) -> Int {
      let site = unsafe Int(bitPattern: file.utf8Start) &- firstSite &+ line &* 4_099
      if isExplored(file, line, site) { reachChange() }
      return site
    }

    private static func isExplored(_ file: StaticString, _ line: Int, _ site: Int) -> Bool {
      guard explores.load(ordering: .relaxed) else { return false }
      return explored.withLock { explored in
        if let known = explored.places[site] { return known }
        let found = explored.lines["\(file)", default: []].filter { $0.contains(line) }
        explored.places[site] = !found.isEmpty
        explored.reached["\(file)", default: []] += found
        return !found.isEmpty
      }
    }

    /// Notes the place that holds a lock.
    static func noteHold(_ file: StaticString, _ line: Int) {
      guard isActive else { return }
      _ = reach(file, line)
      note("held the state at \(file):\(line)")
    }

    /// Whether the running schedule is traced.
    private static let traces = Synchronization.Atomic<Bool>(false)

    private static let lastObject = Synchronization.Atomic<Int>(0)

    /// Returns a number for a new lock or atomic value.
    static func makeObject() -> Int {
      lastObject.add(1, ordering: .relaxed).newValue
    }

    /// Waits until ``wake(_:)`` is called for an object, or until a deadline.
    ///
    /// - Returns: Whether the deadline came first.
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

    /// Resumes the threads that wait for an object.
    static func wake(_ object: ObjectIdentifier) {
      if isActive { core.withLock { $0.wake(object) } }
    }

    /// Starts a thread in the caller's process, or in another one.
    package static func spawn(
      _ label: String, process: Int? = nil, task: UInt64 = 0,
      _ body: @escaping @Sendable () -> Void
    ) {
      _ = core.withLock { $0.spawn(label, process: process ?? $0.process, task: task, body) }
    }

    /// The number of the task that a job is a part of.
    package static func task(of job: UnownedJob) -> UInt64 {
      unsafe c_jobTask(unsafeBitCast(job, to: UnsafeRawPointer.self))
    }

    /// Ends the caller's thread. Called by carriers after the thread's body has returned.
    static func finish(_ carrier: ScheduleCarrier) {
      follow(core.withLock { $0.finish(carrier) })
    }

    /// The effect of a step.
    enum Move: Sendable {
      case stay
      case go(to: ScheduleCarrier, from: ScheduleCarrier?)
      /// The schedule is over. The caller waits for ever, unless its thread has ended.
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

    /// Sleeps until the earliest deadline of another thread, such as a timer of the library, so
    /// that either may go on first; not at all if there is none.
    package static func sleepUntilDeadline() {
      guard let deadline = core.withLock({ $0.earliestDeadline }) else { return }
      let object = ScheduledLock()
      while now < deadline { wait(for: ObjectIdentifier(object), "a deadline", until: deadline) }
    }

    /// The nanoseconds of the virtual clock.
    package static var now: Int64 { core.withLock { $0.now } }

    /// The number of points passed so far.
    package static var step: Int { core.withLock { $0.stepCount } }

    /// The process of the running thread.
    package static var process: Int { core.withLock { $0.process } }

    /// The process of the running thread, counted from the schedule's first process.
    static var processNumber: Int { core.withLock { $0.processNumber } }

    /// The number of the running thread.
    static var thread: Int { core.withLock { $0.running ?? -1 } }

    /// The number of the schedule, unique in the program.
    static var number: Int { core.withLock { $0.number } }

    /// Notes that the running thread has come to a line that is being explored, as one that was
    /// changed.
    package static func reachChange() { if isActive { core.withLock { $0.reachChange() } } }

    /// Keeps the running thread from being interrupted, while a scene is prepared or judged.
    package static func setQuiet(_ isQuiet: Bool) { core.withLock { $0.isQuiet = isQuiet } }

    /// Begins another round of a scene's threads.
    package static func beginRound() { core.withLock { $0.beginRound() } }

    /// Cancels a task. That holds a lock of Swift's runtime while handlers run and reach points.
    /// No thread that waits for such a lock would give up its turn, so the running one goes on
    /// whenever it can, and else the one that has the lock of ours which it waits for.
    package static func cancel<Success, Failure>(_ task: Task<Success, Failure>) {
      let outer = core.withLock { core in exchange(&core.urgent, with: core.running) }
      unsafe c_cancel(unsafeBitCast(task, to: UnsafeRawPointer.self))
      core.withLock { ($0.urgent, $0.helper) = (outer, nil) }
    }

    /// Lets a thread run for the urgent one, which waits for a lock that it has.
    static func help(_ holder: Int) {
      core.withLock { core in if core.urgent == core.running { core.helper = holder } }
    }

    /// The thread that runs.
    static var running: Int? { isActive ? core.withLock(\.running) : nil }

    /// Makes a new process without threads and descriptors.
    package static func makeProcess() -> Int { core.withLock { $0.makeProcess() } }

    /// Moves the calling thread to another process.
    package static func enter(process: Int) { core.withLock { $0.enter(process) } }

    /// Ends a process: its threads are never chosen again, and its descriptors are closed.
    package static func kill(process: Int) {
      core.withLock { $0.kill(process) }
      ScheduledFiles.closeAll(of: process)
      noteKernelChange()
    }

    /// Stops a process, or lets it go on.
    package static func setStopped(_ isStopped: Bool, process: Int) {
      core.withLock { $0.setStopped(isStopped, process) }
    }

    /// Records that something has changed that all threads can see.
    package static func noteProgress() {
      if isActive { core.withLock { $0.noteProgress() } }
    }

    /// Records that the running thread has ended an operation.
    package static func endOperation() {
      if isActive { core.withLock { $0.endOperation() } }
    }

    /// Records that the readiness of descriptors may have changed.
    static func noteKernelChange() {
      if isActive { core.withLock { $0.mustPoll = true } }
    }

    /// Makes the `n`-th call of a kind from now on fail in a process.
    package static func plan(
      _ errno: Int32, for call: SystemCall, at n: Int, count: Int = 1, process: Int
    ) {
      core.withLock {
        $0.failures.append(
          ScheduleCore.Failure(errno: errno, call: call, first: n, count: count, process: process))
      }
    }

    /// Forgets the failures still planned.
    package static func forgetFailures() { core.withLock { $0.failures = [] } }

    /// Returns the error with which a call must fail; nil for none.
    static func failure(of call: SystemCall) -> Errno? {
      guard isActive, let errno = core.withLock({ $0.failure(of: call) }) else { return nil }
      return Errno(rawValue: errno)
    }

    /// The trace of the schedule: a line for every point.
    package static var trace: [String] { core.withLock { $0.trace } }

    /// Adds a line to the trace.
    package static func note(_ text: @autoclosure () -> String) {
      guard traces.load(ordering: .relaxed) else { return }
      let text = text()
      core.withLock { $0.add(text) }
    }
  }

  /// A strategy that chooses the next thread to run.
  package protocol SchedulingStrategy: Sendable {
    /// Chooses one of the threads that can run.
    ///
    /// - Parameters:
    ///   - runnable: The threads that can run, a bit for each by its number; at least one is set.
    ///   - current: The thread that ran last; nil if it cannot go on.
    mutating func choose(among runnable: UInt64, current: Int?) -> Int

    /// Whether the earliest deadline comes now, although threads could run.
    ///
    /// - Parameter time: The nanoseconds until then.
    mutating func comesEarly(in time: Int64) -> Bool

    /// Takes the next event of a thread, before the strategy chooses: steps on one object depend on
    /// each other, and all system calls do.
    mutating func reach(_ thread: Int, _ object: Int)

    /// Takes notice that a thread is at a point where it can be interrupted.
    mutating func pass(_ thread: Int)

    /// Takes notice of a new thread.
    mutating func start(_ thread: Scheduler.NewThread)

    /// Takes notice that a thread has ended an operation of the scene.
    mutating func endOperation(_ thread: Int)

    /// Takes notice that the threads of a scene begin anew, and what the round before passed.
    mutating func beginRound(after passed: [Scheduler.PassedPoint])
  }

  extension SchedulingStrategy {
    package mutating func reach(_ thread: Int, _ object: Int) {}
    package mutating func pass(_ thread: Int) {}
    package mutating func start(_ thread: Scheduler.NewThread) {}
    package mutating func endOperation(_ thread: Int) {}
    package mutating func beginRound(after passed: [Scheduler.PassedPoint]) {}
  }

  /// The next action of a thread at a point.
  package enum SchedulePoint: Sendable {
    case lock
    case load
    case change
    case signal
    case look
    case call(SystemCall)

    var text: String {
      switch self {
      case .lock: "lock"
      case .load: "load"
      case .change: "change"
      case .signal: "signal"
      case .look: "look"
      case .call(let call): call.rawValue
      }
    }

    /// The object that the action concerns: all system calls concern the file system.
    func object(_ given: Int) -> Int {
      if case .call = self { -1 } else { given }
    }

    /// Whether it changes nothing that another thread can see.
    var isRead: Bool {
      switch self {
      case .load, .look: true
      case .call(let call):
        !call.changesFiles && ![.openat, .flock, .fcntl].contains(call)
      default: false
      }
    }

    var isCall: Bool { if case .call = self { true } else { false } }

    /// The place of a point: of a system call the call, because all have the same place.
    func site(_ given: Int) -> Int {
      if case .call = self { Int(code % 1_000_003) } else { given }
    }

    var code: UInt64 {
      switch self {
      case .lock: 1
      case .load: 2
      case .change: 3
      case .signal: 4
      case .look: 5
      case .call(let call): call.rawValue.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) }
      }
    }
  }
#endif
