#if LARDER_SCHEDULES
  @testable import Larder
  @testable import LarderBasics
  @testable import LarderDigest
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  /// A random number generator whose numbers are the same for a seed on every machine.
  struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    // Mixed, because the numbers of a seed must not be those of another seed, shifted by one.
    init(_ seed: UInt64) { state = Self.mixed(seed &+ 0x9E37_79B9_7F4A_7C15) }

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      return Self.mixed(state)
    }

    static func mixed(_ number: UInt64) -> UInt64 {
      var word = number
      word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
      return word ^ (word >> 31)
    }

    /// Returns a number below a bound.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
      elements[below(elements.count)]
    }

    /// Returns true once in so many times.
    mutating func once(in count: Int) -> Bool { below(count) == 0 }
  }

  /// The strategy that chooses threads, as a replay line names it.
  enum Strategy: Sendable, Equatable {
    /// At each point, another thread runs with the probability 1 / `period`.
    case random(period: Int)
    /// Threads have priorities, which are lowered at `depth` - 1 points among the first `length`.
    case priorities(depth: Int, length: Int)
    /// Events have priorities, which are drawn anew after an event that they depend on.
    case partialOrders
    /// Threads are interrupted at the given choices only.
    case preemptions([Preemption])
    /// Threads have priorities. Those of the cuts have the highest ones, until they are at the
    /// given points of their own, and the lowest ones then.
    case cuts([Cut])

    /// The threads of the scene begin anew some times, and each round has a strategy of its own.
    case rounds(Int)
    /// The scene begins anew some times, each time with its first files and with caches that are
    /// opened anew: in two orders without an interruption, and then with a cut each that is not
    /// among the first `skipped`.
    case sweep(count: Int, skipped: Int)

    /// How often the threads of a scene begin.
    var roundCount: Int {
      switch self {
      case .rounds(let count), .sweep(let count, _): count
      default: 1
      }
    }

    /// Whether each round has files and caches of its own.
    var isSweep: Bool {
      if case .sweep = self { true } else { false }
    }

    /// The point of a thread at which the others overtake it.
    struct Cut: Sendable, Hashable {
      let thread: Int
      /// Counted from 1, as far as the thread can be interrupted.
      let point: Int
    }

    /// The thread that continues at a choice among several.
    struct Preemption: Sendable, Equatable {
      let choice: Int
      let thread: Int
    }

    var text: String {
      switch self {
      case .random(let period): "random/\(period)"
      case .priorities(let depth, let length): "pct/\(depth)/\(length)"
      case .partialOrders: "pos"
      case .preemptions(let all):
        "at/" + all.map { "\($0.choice):\($0.thread)" }.joined(separator: ",")
      case .rounds(let count): "rounds/\(count)"
      case .sweep(let count, let skipped): "sweep/\(count)/\(skipped)"
      case .cuts(let all):
        "cut/" + all.map { "\($0.thread):\($0.point)" }.joined(separator: ",")
      }
    }

    init?(_ text: Substring) {
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      let numbers = parts.dropFirst().compactMap { Int($0) }
      switch parts.first {
      case "random" where numbers.count == 1: self = .random(period: numbers[0])
      case "pct" where numbers.count == 2:
        self = .priorities(depth: numbers[0], length: numbers[1])
      case "pos" where parts.count == 1: self = .partialOrders
      case "rounds" where numbers.count == 1 && numbers[0] > 0: self = .rounds(numbers[0])
      case "sweep" where numbers.count == 2 && numbers[0] > 0:
        self = .sweep(count: numbers[0], skipped: numbers[1])
      case "at" where parts.count == 2:
        self = .preemptions(Self.pairs(parts[1]).map { Preemption(choice: $0, thread: $1) })
      case "cut" where parts.count == 2:
        self = .cuts(Self.pairs(parts[1]).map { Cut(thread: $0, point: $1) })
      default: return nil
      }
    }

    private static func pairs(_ text: Substring) -> [(Int, Int)] {
      text.split(separator: ",").compactMap { pair in
        let numbers = pair.split(separator: ":").compactMap { Int($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
      }
    }

    func make(seed: UInt64, early: Int) -> any SchedulingStrategy {
      switch self {
      case .random(let period): RandomWalk(seed: seed, period: period, early: early)
      case .priorities(let depth, let length):
        PriorityWalk(seed: seed, depth: depth, length: length, early: early)
      case .partialOrders: PartialOrderWalk(seed: seed, early: early)
      case .preemptions(let all): BoundedWalk(all)
      case .cuts(let all): CutWalk(seed: seed, all, early: early)
      case .rounds: RoundWalk(seed: seed, early: early)
      case .sweep(_, let skipped): SweepWalk(seed: seed, skipped: skipped, early: early)
      }
    }
  }

  private struct RandomWalk: SchedulingStrategy {
    private var generator: SeededGenerator
    private let period: Int
    private let early: Int

    init(seed: UInt64, period: Int, early: Int) {
      generator = SeededGenerator(seed)
      self.period = period
      self.early = early
    }

    mutating func choose(among runnable: UInt64, current: Int?) -> Int {
      if let current, !generator.once(in: period) { return current }
      return nthBit(generator.below(runnable.nonzeroBitCount), of: runnable)
    }

    mutating func comesEarly(in time: Int64) -> Bool { early > 0 && generator.once(in: early) }
  }

  /// Priorities of threads, of which the one with the highest runs.
  private struct Priorities {
    var ofThreads: [Int]
    private var lowest = 0
    private var sameCount = 0

    init(_ generator: inout SeededGenerator) {
      ofThreads = Array(1...64).shuffled(using: &generator)
    }

    mutating func lower(_ thread: Int) {
      lowest -= 1
      ofThreads[thread] = lowest
    }

    mutating func reverse() {
      for thread in ofThreads.indices { ofThreads[thread] = 65 - ofThreads[thread] }
    }

    /// Lowers the priority of a line, one thread of which has gone on for long.
    mutating func noteChoice(_ thread: Int, of line: Int, after current: Int?) {
      sameCount = thread == current ? sameCount + 1 : 0
      if sameCount > 400 { lower(line) }
    }

    mutating func choose(among runnable: UInt64, current: Int?) -> Int {
      if let current {
        sameCount += 1
        // It may poll, and other threads could not continue.
        if sameCount > 400 { lower(current) }
      }
      let best = highest(of: ofThreads, among: runnable)
      if best != current { sameCount = 0 }
      return best
    }
  }

  private func highest<Priority: Comparable>(of all: [Priority], among runnable: UInt64) -> Int {
    var best = runnable.trailingZeroBitCount
    var rest = runnable
    while rest != 0 {
      let number = rest.trailingZeroBitCount
      if all[number] > all[best] { best = number }
      rest &= rest - 1
    }
    return best
  }

  /// Burckhardt's probabilistic concurrency testing, which finds a defect of depth d with a
  /// probability of at least 1 / (n · k^(d−1)).
  private struct PriorityWalk: SchedulingStrategy {
    private var generator: SeededGenerator
    private var changes: Set<Int> = []
    private var priorities: Priorities
    private var choices = 0
    private let early: Int

    init(seed: UInt64, depth: Int, length: Int, early: Int) {
      generator = SeededGenerator(seed)
      for _ in 1..<max(2, depth) { changes.insert(generator.below(length)) }
      if depth <= 1 { changes = [] }
      priorities = Priorities(&generator)
      self.early = early
    }

    mutating func choose(among runnable: UInt64, current: Int?) -> Int {
      choices += 1
      if let current, changes.contains(choices) { priorities.lower(current) }
      return priorities.choose(among: runnable, current: current)
    }

    mutating func comesEarly(in time: Int64) -> Bool { early > 0 && generator.once(in: early) }
  }

  /// A strategy that runs a thread up to a point of its own, then all others, and then its rest.
  /// Where what it reaches there is reached by others too, that is the shortest way to most orders
  /// that matter.
  private struct CutWalk: SchedulingStrategy {
    private var generator: SeededGenerator
    private var priorities: Priorities
    private var passed = [Int](repeating: 0, count: 64)
    private let cuts: [Strategy.Cut]
    private let early: Int

    init(seed: UInt64, _ cuts: [Strategy.Cut], early: Int) {
      generator = SeededGenerator(seed)
      priorities = Priorities(&generator)
      for (index, cut) in cuts.enumerated() {
        priorities.ofThreads[cut.thread] = 100 - index
      }
      self.cuts = cuts
      self.early = early
    }

    mutating func pass(_ thread: Int) {
      passed[thread] += 1
      for cut in cuts where cut.thread == thread && cut.point == passed[thread] {
        priorities.lower(thread)
      }
    }

    mutating func choose(among runnable: UInt64, current: Int?) -> Int {
      priorities.choose(among: runnable, current: current)
    }

    mutating func comesEarly(in time: Int64) -> Bool { early > 0 && generator.once(in: early) }
  }

  /// A strategy that draws another one for each round, with the cuts that the round before had.
  private struct RoundWalk: SchedulingStrategy {
    private var generator: SeededGenerator
    private var inner: any SchedulingStrategy
    private let early: Int

    init(seed: UInt64, early: Int) {
      generator = SeededGenerator(seed)
      inner = Strategy.priorities(depth: 1, length: 100).make(seed: seed, early: early)
      self.early = early
    }

    mutating func beginRound(after passed: [Scheduler.PassedPoint]) {
      let strategy = Explorer.anyStrategy(
        &generator, length: max(20, passed.count / 2), Strategy.Cut.all(in: passed))
      inner = strategy.make(seed: generator.next(), early: early)
    }

    mutating func reach(_ thread: Int, _ object: Int) { inner.reach(thread, object) }
    mutating func pass(_ thread: Int) { inner.pass(thread) }
    mutating func comesEarly(in time: Int64) -> Bool { inner.comesEarly(in: time) }

    mutating func choose(among runnable: UInt64, current: Int?) -> Int {
      inner.choose(among: runnable, current: current)
    }
  }

  /// A strategy of rounds that runs the threads in one order and in the reverse, without an
  /// interruption, and then in each round with another cut of these two, until all had their turn.
  ///
  /// A cut names a line: a thread of the scene with the tasks that it starts and those that they
  /// start, or a thread of the library; with some seeds every task has a line of its own. The
  /// scheduler's numbers are no names, because a thread gets that of one that has ended, and each
  /// part of a task is a thread.
  private struct SweepWalk: SchedulingStrategy {
    private var generator: SeededGenerator
    /// The priorities of lines.
    private var priorities: Priorities
    private let first: Priorities
    private var round = -1
    private var number: Int
    /// The line of each thread, and that of the thread at each point of the round.
    private var lines = Self.oldLines
    private var linesOfTasks: [UInt64: Int] = [:]
    private var lineCount = 0
    /// Whether each thread is the library's, or the first one, which starts those of the scene.
    private var areLibrary = [Bool](repeating: true, count: 64)
    /// Whether every task has a line of its own.
    private let splitsTasks: Bool
    private var linesOfPoints: [Int] = []
    private var passed = [Int](repeating: 0, count: 64)
    private var all: [Strategy.Cut] = []
    private var cuts: [Strategy.Cut] = []
    /// The line that goes on after its cut as soon as another one has ended an operation.
    private var resuming: Int?
    /// Whether a timer may still come early in this round, and whether a thread is at its cut now.
    private var (mayLeap, isAtCut) = (false, false)
    private let early: Int

    /// The lines of the threads that were there before the round.
    private static let oldLines = (0..<64).map { 63 - $0 }

    init(seed: UInt64, skipped: Int, early: Int) {
      generator = SeededGenerator(seed)
      first = Priorities(&generator)
      splitsTasks = generator.once(in: 3)
      priorities = first
      number = skipped
      self.early = early
    }

    mutating func beginRound(after points: [Scheduler.PassedPoint]) {
      round += 1
      if round > 0 { learn(points) }
      (lines, lineCount) = (Self.oldLines, 0)
      (mayLeap, isAtCut) = (false, false)
      areLibrary = [Bool](repeating: true, count: 64)
      linesOfTasks.removeAll(keepingCapacity: true)
      linesOfPoints.removeAll(keepingCapacity: true)
      passed = [Int](repeating: 0, count: 64)
      priorities = first
      if round == 1 { priorities.reverse() }
      guard round > 1 else { return }
      priorities = Priorities(&generator)
      (cuts, resuming) = (drawn(), nil)
      mayLeap = generator.once(in: 2)
      for (index, cut) in cuts.enumerated() { priorities.ofThreads[cut.thread] = 100 - index }
    }

    mutating func start(_ thread: Scheduler.NewThread) {
      lines[thread.number] = line(of: thread)
      if thread.task != 0 { linesOfTasks[thread.task] = lines[thread.number] }
      areLibrary[thread.number] = thread.isLibrary
    }

    private mutating func line(of thread: Scheduler.NewThread) -> Int {
      if let line = linesOfTasks[thread.task] { return line }
      let isPart = !thread.isLibrary && !(splitsTasks && thread.task != 0)
      if isPart, let parent = thread.parent, !areLibrary[parent] { return lines[parent] }
      defer { lineCount += 1 }
      return min(lineCount, 47)
    }

    /// Adds the cuts of a round to those that are to come, in a random order. Threads that are
    /// interrupted reach what they do not where one follows the other.
    private mutating func learn(_ points: [Scheduler.PassedPoint]) {
      let known = Set(all)
      let new = Strategy.Cut.all(
        in: zip(points, linesOfPoints).map { point, line in
          var point = point
          point.thread = line
          return point
        })
      let added = (new.callers + new.library).filter { !known.contains($0) }
      if added.isEmpty { return }
      let used = round > 2 ? min(number, all.count) : 0
      all = all[..<used] + (all[used...] + added).shuffled(using: &generator)
    }

    /// Returns the next cut, often with others of its line, and seldom with one of any.
    private mutating func drawn() -> [Strategy.Cut] {
      guard !all.isEmpty else { return [] }
      let next = all[number % all.count]
      number += 1
      if generator.once(in: 4) { return [next, generator.pick(all)] }
      let others = all.filter { $0.thread == next.thread && $0 != next }
      return [next] + others.shuffled(using: &generator).prefix(generator.below(5))
    }

    mutating func pass(_ thread: Int) {
      let line = lines[thread]
      linesOfPoints.append(line)
      passed[line] += 1
      isAtCut = false
      for cut in cuts where cut.thread == line && cut.point == passed[line] {
        isAtCut = true
        priorities.lower(line)
        resuming = generator.once(in: 3) ? nil : line
      }
    }

    mutating func endOperation(_ thread: Int) {
      guard let line = resuming, line != lines[thread] else { return }
      priorities.ofThreads[line] = 100
      resuming = nil
    }

    mutating func choose(among runnable: UInt64, current: Int?) -> Int {
      // The threads of a line go on where they are, or in the order of their numbers.
      var (best, rest) = (current ?? runnable.trailingZeroBitCount, runnable)
      while rest != 0 {
        let number = rest.trailingZeroBitCount
        if priorities.ofThreads[lines[number]] > priorities.ofThreads[lines[best]] {
          best = number
        }
        rest &= rest - 1
      }
      priorities.noteChoice(best, of: lines[best], after: current)
      return best
    }

    /// A timer that is due within 20 ms may come once a round where a thread is at its cut, as if
    /// that took so long there: the library's threads act within the calls of others.
    mutating func comesEarly(in time: Int64) -> Bool {
      if isAtCut, mayLeap, time <= 20_000_000 {
        mayLeap = false
        return true
      }
      return early > 0 && generator.once(in: early)
    }
  }

  /// Partial order sampling (Yuan, Yang and Gu, 2018): each event has a random priority, and an
  /// event that waits gets another one when an event on the same object has run. Orders that
  /// differ only in independent events are drawn as one.
  private struct PartialOrderWalk: SchedulingStrategy {
    private var generator: SeededGenerator
    private var priorities = [UInt64](repeating: 0, count: 64)
    private var objects = [Int](repeating: 0, count: 64)
    private let early: Int

    init(seed: UInt64, early: Int) {
      generator = SeededGenerator(seed)
      for thread in priorities.indices { priorities[thread] = generator.next() }
      self.early = early
    }

    mutating func reach(_ thread: Int, _ object: Int) {
      objects[thread] = object
      priorities[thread] = generator.next()
    }

    mutating func choose(among runnable: UInt64, current: Int?) -> Int {
      let best = highest(of: priorities, among: runnable)
      // Without an event of its own, a thread goes on after a wait.
      if objects[best] != 0 {
        for thread in objects.indices where thread != best && objects[thread] == objects[best] {
          priorities[thread] = generator.next()
        }
      }
      objects[best] = 0
      priorities[best] = generator.next()
      return best
    }

    mutating func comesEarly(in time: Int64) -> Bool { early > 0 && generator.once(in: early) }
  }

  /// A strategy that continues with the running thread, except at given choices.
  private struct BoundedWalk: SchedulingStrategy {
    private let preemptions: [Strategy.Preemption]
    private var choices = 0
    private var next = 0

    init(_ preemptions: [Strategy.Preemption]) {
      self.preemptions = preemptions
    }

    mutating func choose(among runnable: UInt64, current: Int?) -> Int {
      defer { choices += 1 }
      let choice = current ?? runnable.trailingZeroBitCount
      let isPlanned = next < preemptions.count && preemptions[next].choice == choices
      var chosen = choice
      if isPlanned {
        let thread = preemptions[next].thread
        if runnable & (1 << UInt64(thread)) != 0 { chosen = thread }
        next += 1
      }
      ChoiceLog.add(ChoiceLog.Choice(runnable: runnable, current: current, chosen: chosen))
      return chosen
    }

    func comesEarly(in time: Int64) -> Bool { false }
  }

  extension Strategy.Cut {
    /// Returns all cuts of a schedule at which a thread reaches what another one changes, or
    /// changes what another one reaches: those of the callers' threads and tasks, and those of the
    /// library's own threads. Of a place that a thread comes to in the same way more than once, the
    /// first.
    static func all(in passed: [Scheduler.PassedPoint]) -> (callers: [Self], library: [Self]) {
      var (users, changers): ([Int: UInt64], [Int: UInt64]) = ([:], [:])
      for point in passed where !point.isPlumbing {
        users[point.object, default: 0] |= 1 << UInt64(point.thread)
        if !point.isRead { changers[point.object, default: 0] |= 1 << UInt64(point.thread) }
      }
      var counts = [Int](repeating: 0, count: 64)
      var sites = [Int](repeating: 0, count: 64)
      var known: Set<Int> = []
      var all: (callers: [Self], library: [Self]) = ([], [])
      for point in passed {
        counts[point.thread] += 1
        if point.object == 0 || point.isPlumbing { continue }
        let way = (sites[point.thread] &* 31 &+ point.site) &* 64 &+ point.thread
        sites[point.thread] = point.site
        let others = (point.isRead ? changers : users)[point.object, default: 0]
        if others & ~(1 << UInt64(point.thread)) == 0 || !known.insert(way).inserted { continue }
        let cut = Self(thread: point.thread, point: counts[point.thread])
        if point.isLibrary { all.library.append(cut) } else { all.callers.append(cut) }
      }
      return all
    }
  }

  private func nthBit(_ n: Int, of bits: UInt64) -> Int {
    var rest = bits
    for _ in 0..<n { rest &= rest - 1 }
    return rest.trailingZeroBitCount
  }
#endif
