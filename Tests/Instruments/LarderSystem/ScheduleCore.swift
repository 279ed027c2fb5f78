#if LARDER_SCHEDULES
  import Glibc

  /// The state of the scheduler, guarded by its lock.
  package struct ScheduleCore {
    enum Status: Sendable {
      case free
      case runnable
      /// Waits until the object is woken.
      case waiting(ObjectIdentifier)
      /// Waits until a descriptor can be read.
      case polling([Int32])
      case killed
    }

    struct Thread: Sendable {
      var carrier: ScheduleCarrier
      var label: String
      var process: Int
      var status: Status
      var waitText = ""
      var deadline: Int64?
      var isTimedOut = false
      var isStopped = false
      /// The number of points since its last wait or system call.
      var spin = 0
      /// The last place in the source that it passed.
      var site = 0
    }

    package struct Failure: Sendable {
      let errno: Int32
      let call: SystemCall
      var first: Int
      var count: Int
      let process: Int
    }

    /// The nanoseconds that a point takes.
    static let pointTime: Int64 = 1_000
    static let threadLimit = 64
    /// The limit of idle time: if the first thread still waits then, it would wait for ever.
    private var timeLimit: Int64 = 0

    var threads: [Thread] = []
    var carriers: [ScheduleCarrier] = []
    var running: Int?
    var now: Int64 = 0
    var stepCount = 0
    var pointLimit = 0
    var strategy: any SchedulingStrategy = FirstThread()
    var isQuiet = true
    /// The thread that runs whenever it can.
    var urgent: Int?
    /// The thread that the urgent one waits for.
    var helper: Int?
    var mustPoll = true
    var isTraced = false
    var trace: [String] = []
    var hash: UInt64 = 0
    var preemptionCount = 0
    var choiceCount = 0
    private var longestSpin = (label: "", count: 0)
    /// The number of points since something changed: a file, an operation that began or returned, a
    /// deadline that came.
    private var idlePoints = 0
    private var mostIdlePoints = 0
    var number = 0
    var failures: [Failure] = []
    /// The points that could have been interrupted, in their order.
    private var passed: [Scheduler.PassedPoint] = []
    /// Who has reached each object last, and where.
    private var visits: [Int: (thread: Int, site: Int)] = [:]
    private var meetings: [Int] = []
    /// The last schedule that had each meeting.
    private var met = [Int](repeating: 0, count: Scheduler.meetingCount)
    private var places: [Int] = []
    /// The last schedule that came to each place.
    private var entered = [Int](repeating: 0, count: Scheduler.placeCount)
    /// Where threads have come to what is being explored: how many points had been passed.
    private var changes: [(thread: Int, passedCount: Int)] = []
    private var processCount = 0
    private var firstProcess = 0
    private var isEndless = false
    private var isOver = false
    private var runnable: UInt64 = 0
    private var nextDeadline: Int64?
    private var idleTime: Int64 = 0

    var process: Int { running.map { threads[$0].process } ?? 0 }
    var processNumber: Int { process - firstProcess }
    var isTimedOut: Bool { running.map { threads[$0].isTimedOut } ?? false }

    mutating func begin(
      _ strategy: any SchedulingStrategy, pointLimit: Int, span: Scheduler.Span, isTraced: Bool
    ) {
      self.strategy = strategy
      timeLimit = span.limit
      self.pointLimit = pointLimit
      self.isTraced = isTraced
      threads = []
      running = nil
      // Never set back, so that stamps of the last schedule do not lie in the future.
      now = span.start
      stepCount = 0
      (isQuiet, mustPoll, isEndless, isOver) = (true, true, false, false)
      (urgent, helper) = (nil, nil)
      (trace, hash, preemptionCount, failures) = ([], 14_695_981_039_346_656_037, 0, [])
      choiceCount = 0
      passed.removeAll(keepingCapacity: true)
      visits.removeAll(keepingCapacity: true)
      meetings.removeAll(keepingCapacity: true)
      places.removeAll(keepingCapacity: true)
      changes.removeAll(keepingCapacity: true)
      longestSpin = ("", 0)
      (idlePoints, mostIdlePoints) = (0, 0)
      (runnable, nextDeadline, idleTime) = (0, nil, 0)
      number += 1
      firstProcess = processCount + 1
    }

    /// Returns the outcome of the schedule. Threads that still wait stay where they are.
    mutating func end() -> Scheduler.Outcome {
      var outcome = Scheduler.Outcome()
      outcome.isEndless = isEndless
      outcome.longestSpin = longestSpin
      outcome.mostIdlePoints = mostIdlePoints
      for thread in threads {
        switch thread.status {
        case .free, .killed: break
        case .runnable: outcome.stuck.append("\(thread.label) can run")
        case .waiting, .polling:
          outcome.stuck.append("\(thread.label) waits for \(thread.waitText)")
        }
      }
      outcome.pointCount = stepCount
      outcome.choiceCount = choiceCount
      outcome.passed = passed
      outcome.meetings = meetings
      outcome.places = places
      outcome.changes = changes
      outcome.traceHash = hash
      outcome.preemptionCount = preemptionCount
      running = nil
      return outcome
    }

    mutating func spawn(
      _ label: String, process: Int, task: UInt64 = 0, _ body: @escaping @Sendable () -> Void
    ) -> ScheduleCarrier {
      let carrier = carriers.popLast() ?? ScheduleCarrier()
      carrier.take(body)
      let thread = Thread(carrier: carrier, label: label, process: process, status: .runnable)
      let number: Int
      if let free = threads.firstIndex(where: { if case .free = $0.status { true } else { false } })
      {
        threads[free] = thread
        number = free
      } else {
        precondition(threads.count < Self.threadLimit, "more threads than a schedule can have")
        threads.append(thread)
        number = threads.count - 1
      }
      runnable |= 1 << UInt64(number)
      if running == nil { running = number }
      if !isQuiet {
        strategy.start(
          Scheduler.NewThread(
            number: number, parent: running, task: task, isLibrary: label == "thread"))
      }
      if isTraced { add("starts \(label) as thread \(number)") }
      return carrier
    }

    mutating func makeProcess() -> Int {
      processCount += 1
      return processCount
    }

    mutating func enter(_ process: Int) {
      if let running { threads[running].process = process }
    }

    mutating func add(_ text: String) {
      let label = running.map { "\($0) \(threads[$0].label)" } ?? "-"
      trace.append("\(stepCount) \((now - 1_000_000_000_000) / 1000)us [\(label)] \(text)")
    }

    /// Records that something has changed, so that a thread may repeat what it did before.
    mutating func noteProgress() { idlePoints = 0 }

    mutating func endOperation() {
      noteProgress()
      if !isQuiet, let running { strategy.endOperation(running) }
    }

    /// Counts a point, and chooses the next thread.
    ///
    /// - Parameters:
    ///   - site: A number of the place in the source.
    ///   - isPlumbing: Whether that lies in LarderSystem.
    ///   - place: The place in the source and what the thread reaches there, for the trace.
    mutating func step(
      _ kind: SchedulePoint, _ object: Int, _ site: Int, _ isPlumbing: Bool, _ place: String
    ) -> Scheduler.Move {
      guard let current = running else { return .stay }
      stepCount += 1
      noteSpin(current, kind)
      strategy.reach(current, kind.object(object))
      if !isQuiet {
        strategy.pass(current)
        let isLibrary = threads[current].label == "thread"
        passed.append(
          Scheduler.PassedPoint(
            thread: current, object: kind.object(object), site: kind.site(site),
            isRead: kind.isRead, isPlumbing: isPlumbing && !kind.isCall, isLibrary: isLibrary))
        noteMeeting(current, at: kind.object(object), kind.site(site))
        notePlace(current, kind.site(site))
      }
      now += Self.pointTime
      if isTraced { add(kind.text + place) }
      hash = (hash ^ (kind.code &* 64 &+ UInt64(current))) &* 1_099_511_628_211
      if stepCount > pointLimit {
        isEndless = true
        isOver = true
        return .over(from: threads[current].carrier)
      }
      return handOver(from: threads[current].carrier)
    }

    /// Notes which place another thread has passed last at the same object.
    private mutating func noteMeeting(_ current: Int, at object: Int, _ site: Int) {
      guard object != 0, let last = visits.updateValue((current, site), forKey: object),
        last.thread != current
      else { return }
      var word = UInt64(bitPattern: Int64(last.site &* 31 &+ site)) &* 0x9E37_79B9_7F4A_7C15
      word ^= word >> 29
      let meeting = Int(word % UInt64(Scheduler.meetingCount))
      if met[meeting] == number { return }
      met[meeting] = number
      meetings.append(meeting)
    }

    /// Notes a place that a thread has come to, with the one before.
    private mutating func notePlace(_ current: Int, _ site: Int) {
      let before = exchange(&threads[current].site, with: site)
      var word = UInt64(bitPattern: Int64(before &* 31 &+ site))
      word = word &* 0x9E37_79B9_7F4A_7C15
      let place = Int((word ^ word >> 29) % UInt64(Scheduler.placeCount))
      if entered[place] == number { return }
      entered[place] = number
      places.append(place)
    }

    /// Notes that the running thread has come to what is being explored.
    mutating func reachChange() {
      guard !isQuiet, changes.count < 64, let running else { return }
      changes.append((running, passed.count))
    }

    /// Counts the points that a thread passes without a wait and without a system call.
    private mutating func noteSpin(_ current: Int, _ kind: SchedulePoint) {
      idlePoints = isQuiet ? 0 : idlePoints + 1
      mostIdlePoints = max(mostIdlePoints, idlePoints)
      if case .call = kind { return threads[current].spin = 0 }
      threads[current].spin += 1
      if !isQuiet, threads[current].spin > longestSpin.count {
        longestSpin = (threads[current].label, threads[current].spin)
      }
    }

    mutating func beginRound() {
      idleTime = 0
      strategy.beginRound(after: passed)
      passed.removeAll(keepingCapacity: true)
    }

    mutating func wait(
      for object: ObjectIdentifier, _ text: String, until deadline: Int64?
    ) -> Scheduler.Move {
      suspend(.waiting(object), text, until: deadline)
    }

    mutating func wait(for descriptors: [Int32], until deadline: Int64?) -> Scheduler.Move {
      mustPoll = true
      return suspend(.polling(descriptors), "events", until: deadline)
    }

    private mutating func suspend(
      _ status: Status, _ text: String, until deadline: Int64?
    ) -> Scheduler.Move {
      guard let current = running else { preconditionFailure("a wait outside of a schedule") }
      threads[current].status = status
      threads[current].spin = 0
      threads[current].waitText = isTraced ? "\(text)\n\(Backtrace.text())" : text
      threads[current].deadline = deadline
      threads[current].isTimedOut = false
      runnable &= ~(1 << UInt64(current))
      if let deadline { nextDeadline = min(nextDeadline ?? deadline, deadline) }
      if isTraced { add("waits for \(text)") }
      return handOver(from: threads[current].carrier)
    }

    mutating func wake(_ object: ObjectIdentifier) {
      for number in threads.indices {
        if case .waiting(object) = threads[number].status { resume(number) }
      }
    }

    private mutating func resume(_ number: Int, isTimedOut: Bool = false) {
      threads[number].status = .runnable
      threads[number].deadline = nil
      threads[number].isTimedOut = isTimedOut
      if !threads[number].isStopped { runnable |= 1 << UInt64(number) }
    }

    mutating func finish(_ carrier: ScheduleCarrier) -> Scheduler.Move {
      guard let current = running else { return .stay }
      if isTraced { add("ends") }
      threads[current].status = .free
      runnable &= ~(1 << UInt64(current))
      carriers.append(carrier)
      return handOver(from: nil)
    }
  }

  extension ScheduleCore {
    /// Chooses the next thread.
    ///
    /// - Parameter carrier: The carrier of the thread that runs now; nil if the thread has ended.
    private mutating func handOver(from carrier: ScheduleCarrier?) -> Scheduler.Move {
      if mustPoll { poll() }
      while let deadline = nextDeadline, deadline <= now || runnable == 0 || comesEarly(deadline) {
        if runnable == 0 { idleTime += max(0, deadline - now) }
        comeTo(deadline)
      }
      guard runnable != 0, let last = running, !isTooLate else {
        isOver = true
        return .over(from: carrier)
      }
      let current = runnable & (1 << UInt64(last)) != 0 && carrier != nil ? last : nil
      let next = choose(current)
      precondition(runnable & (1 << UInt64(next)) != 0, "a strategy chose a thread that waits")
      if let current, next == current { return .stay }
      if current != nil { preemptionCount += 1 }
      hash = (hash ^ UInt64(next)) &* 1_099_511_628_211
      running = next
      // The chosen thread runs already, because its own deadline has come.
      if next == last, carrier != nil { return .stay }
      return .go(to: threads[next].carrier, from: carrier)
    }

    /// The earliest time at which a waiting thread goes on by itself; nil if none does.
    var earliestDeadline: Int64? {
      threads.compactMap { thread in
        switch thread.status {
        case .waiting, .polling: thread.deadline.flatMap { $0 > now ? $0 : nil }
        case .free, .runnable, .killed: nil
        }
      }.min()
    }

    private var isTooLate: Bool {
      if case .waiting = threads[0].status { return idleTime > timeLimit }
      return false
    }

    private mutating func choose(_ current: Int?) -> Int {
      if isQuiet, let current { return current }
      if let urgent {
        if canRun(urgent) { return urgent }
        if let helper, canRun(helper) { return helper }
      }
      if runnable & (runnable - 1) == 0 { return runnable.trailingZeroBitCount }
      choiceCount += 1
      return strategy.choose(among: runnable, current: current)
    }

    private func canRun(_ thread: Int) -> Bool {
      thread >= 0 && runnable & (1 << UInt64(thread)) != 0
    }

    private mutating func comesEarly(_ deadline: Int64) -> Bool {
      !isQuiet && strategy.comesEarly(in: deadline - now)
    }

    /// Advances the time to a deadline, and resumes the threads that wait until then.
    private mutating func comeTo(_ deadline: Int64) {
      now = max(now, deadline)
      nextDeadline = nil
      for number in threads.indices {
        guard let due = threads[number].deadline else { continue }
        switch threads[number].status {
        case .waiting, .polling: break
        case .free, .runnable, .killed: continue
        }
        if threads[number].isStopped { continue }
        if due <= now {
          noteProgress()
          resume(number, isTimedOut: true)
        } else {
          nextDeadline = min(nextDeadline ?? due, due)
        }
      }
    }

    /// Resumes the threads whose descriptors can be read.
    private mutating func poll() {
      mustPoll = false
      for number in threads.indices {
        guard case .polling(let descriptors) = threads[number].status else { continue }
        if ScheduledFiles.canRead(descriptors) { resume(number) }
      }
    }

    mutating func kill(_ process: Int) {
      for number in threads.indices where threads[number].process == process {
        if case .free = threads[number].status { continue }
        threads[number].status = .killed
        threads[number].deadline = nil
        runnable &= ~(1 << UInt64(number))
      }
      if isTraced { add("kills process \(process)") }
    }

    mutating func setStopped(_ isStopped: Bool, _ process: Int) {
      for number in threads.indices where threads[number].process == process {
        threads[number].isStopped = isStopped
        if isStopped {
          runnable &= ~(1 << UInt64(number))
        } else if case .runnable = threads[number].status {
          runnable |= 1 << UInt64(number)
        } else if let due = threads[number].deadline {
          nextDeadline = min(nextDeadline ?? due, due)
        }
      }
      mustPoll = true
    }

    mutating func failure(of call: SystemCall) -> Int32? {
      if failures.isEmpty { return nil }
      var errno: Int32?
      for index in failures.indices
      where failures[index].call == call && failures[index].process == process {
        failures[index].first -= 1
        if failures[index].first > 0 || failures[index].count == 0 { continue }
        failures[index].count -= 1
        errno = errno ?? failures[index].errno
        if isTraced { add("\(call.rawValue) fails with \(failures[index].errno)") }
      }
      return errno
    }
  }

  private struct FirstThread: SchedulingStrategy {
    func choose(among runnable: UInt64, current: Int?) -> Int {
      current ?? runnable.trailingZeroBitCount
    }
    func comesEarly(in time: Int64) -> Bool { false }
  }
#endif
