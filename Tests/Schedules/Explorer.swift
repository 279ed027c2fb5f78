#if LARDER_SCHEDULES
  import Glibc

  @testable import Larder
  @testable import LarderDisk
  @testable import LarderSystem

  /// An explorer that runs trials and prints failures.
  struct Explorer {
    var seed: UInt64 = 1
    var deadline: Int64 = .max
    /// The number of schedules, of which a trial with rounds has several.
    private(set) var roundCount = 0
    var failureCount = 0
    var leakCount = 0
    private(set) var pointCount = 0
    private var kinds: [String: Int] = [:]
    /// Whether each schedule is run twice. The second run must pass the same points.
    var isTwice = false
    /// Texts of scenes to skip.
    var unwanted: [String] = []
    /// Whether every change of a file gets a different time.
    var isFine = false
    /// Whether the exploration ends at the first failure.
    var stopsAtFirst = false
    /// A file that ends the exploration when it is not empty.
    var stopFile: String?
    /// Scenes in which something was found before.
    var known: [Scene] = []
    /// Scenes that earlier runs have made, which come to all places between them.
    var corpus: [Scene] = []
    /// Whether failures are made smaller before they are printed.
    var shrinks = true
    /// The strategies to draw from, by the first words of their texts; all if empty.
    var strategies: [String] = []
    /// The share of new scenes that are made around pairs, in percent, as soon as every pair has
    /// run with every setting. Until then all are, unless this is 0. The others come from the
    /// grammar.
    var pairShare = 50
    /// The rounds of a sweep, and how many sweeps a scene has at most.
    private static let (sweepLength, sweepLimit) = (12, 8)
    /// The share of scenes in which loads are shared among processes, in percent.
    var turnShare = 8
    /// The share of plain scenes that are rare ones or their neighbours.
    var neighbourShare = 50
    private(set) var rare: RareScenes
    /// Whether the lines that were changed are explored, which call ``Scheduler/reachChange()``.
    var isForChange = false
    /// The scenes that come to these lines, and how often each was explored.
    private var near: [(scene: Scene, count: Int)] = []
    /// The new meetings in the last trial.
    private var lastGain: [Int] = []
    /// How many sweeps there were, and the cuts that their scenes had.
    private(set) var (sweepCount, cutCount) = (0, 0)
    let table: PairTable
    private(set) var longestSpin = 0
    private(set) var mostIdlePoints = 0

    /// Whether too many threads have leaked, so that the program has to end.
    var isFull: Bool { leakCount > 3_000 }

    static var milliseconds: Int64 {
      var time = timespec()
      unsafe clock_gettime(CLOCK_MONOTONIC, &time)
      return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    var isOver: Bool {
      if Self.milliseconds >= deadline || isFull || stopsAtFirst && failureCount > 0 { return true }
      guard let path = stopFile else { return false }
      return RawFiles.byteCount(path) ?? 0 > 0
    }

    /// - Parameter pairs: The file of pairs, beside which that of rare scenes lies.
    init(seed: UInt64, seconds: Int, _ table: PairTable, pairs: String? = nil) {
      self.seed = seed
      rare = RareScenes(path: pairs.map { $0 + ".scenes" })
      self.table = table
      deadline = Self.milliseconds + Int64(seconds) * 1_000
    }

    /// Runs a trial. If it fails, prints its line and the problems.
    @discardableResult
    mutating func run(_ trial: Trial) -> Trial.Verdict {
      Progress.note(trial.text)
      let verdict = trial.run()
      for calls in verdict.rounds { table.note(trial.scene, calls) }
      if isTwice, trial.run().outcome.traceHash != verdict.outcome.traceHash {
        failureCount += 1
        Progress.tell("NOT THE SAME TWICE \(trial.text)")
      }
      lastGain = table.note(verdict.outcome.meetings)
      rare.note(trial.scene, verdict.outcome.places)
      roundCount += trial.strategy.roundCount
      pointCount += verdict.outcome.pointCount
      longestSpin = max(longestSpin, verdict.outcome.longestSpin.count)
      mostIdlePoints = max(mostIdlePoints, verdict.outcome.mostIdlePoints)
      if verdict.outcome.isLeaky { leakCount += 10 }
      if trial.scene.threads.contains(where: { $0.operations.contains { $0.verb == .kill } }) {
        leakCount += 1
      }
      guard let kind = verdict.kind else { return verdict }
      failureCount += 1
      kinds[kind, default: 0] += 1
      // Only the first three of a kind, because later ones tell nothing new.
      if kinds[kind, default: 0] <= 3 { tell(trial, verdict, kind) }
      return verdict
    }

    /// Prints a failure, made as small as possible within some seconds.
    private mutating func tell(_ trial: Trial, _ verdict: Trial.Verdict, _ kind: String) {
      var (smallest, last) = (trial, verdict)
      if shrinks {
        Progress.tell("found \(trial.text)")
        var shrinker = Shrinker(trial, kind: kind, milliseconds: 15_000)
        smallest = shrinker.shrink()
        last = smallest.run()
        leakCount += 20
      }
      Progress.tell("FAILURE \(smallest.text)")
      for problem in last.problems { Progress.tell("  \(problem)") }
    }

    /// Explores scenes until the time is up. Every sixth one is made so that every pair of
    /// operations meets every setting, until all have, with few orders each. The others are plain
    /// ones, known ones and their neighbours, more around pairs, and those of the grammar.
    mutating func explore() {
      if isForChange { return exploreChange() }
      var generator = SeededGenerator(seed)
      var pairs = PairScenes(seed: seed, table)
      var plain = PlainScenes(seed: seed)
      var turns = TurnScenes(seed: seed)
      if rare.isEmpty {
        for scene in corpus.shuffled(using: &generator) where !isOver {
          if scene.mayBeginAnew { sweep(scene, &generator) }
        }
      }
      while !isOver {
        let number = generator.next() % 1_000_000_000
        var grammar = Grammar(seed: number)
        var scene: Scene
        let isForTurns = generator.below(100) < turnShare
        let isForPairs = !isForTurns && pairShare > 0 && pairs.hasUnmetPair && generator.once(in: 6)
        if isForTurns {
          scene = turns.make()
          if generator.once(in: 4) { scene = grammar.neighbour(of: scene) }
        } else if isForPairs {
          scene = pairs.make()
        } else if pairShare > 0, generator.below(8) > 0 {
          let isNew = rare.isEmpty || generator.below(100) >= neighbourShare
          scene = isNew ? plain.make() : rare.pick(&generator)
          // In other orders, or with one thing that is different.
          if !isNew, generator.below(3) > 0 { scene = grammar.neighbour(of: scene) }
        } else if !known.isEmpty, generator.once(in: 3) {
          scene = generator.pick(known)
          if generator.once(in: 2) { scene = grammar.neighbour(of: scene) }
        } else if generator.below(100) < pairShare {
          scene = pairs.make()
        } else {
          scene = grammar.make()
        }
        if isFine { scene.isCoarse = false }
        if unwanted.contains(where: scene.text.contains) || !scene.isJudgeable { continue }
        if isForPairs || !strategies.isEmpty || generator.once(in: 4) || !scene.mayBeginAnew {
          _ = explore(scene, atMost: isForPairs ? 20 : 10, isForPairs: isForPairs, &generator)
        } else if scene.mayRepeat, generator.once(in: 6) {
          exploreRounds(scene, &generator)
        } else {
          sweep(scene, &generator)
        }
      }
    }

    /// Explores the scenes that come to lines which were changed, and their neighbours, above all
    /// in orders that stop a thread there.
    private mutating func exploreChange() {
      var generator = SeededGenerator(seed)
      var (pairs, plain) = (PairScenes(seed: seed, table), PlainScenes(seed: seed))
      for scene in corpus.shuffled(using: &generator) where !isOver { probe(scene, &generator) }
      while !isOver {
        var grammar = Grammar(seed: generator.next() % 1_000_000_000)
        if near.isEmpty || generator.once(in: 6) {
          let other = generator.once(in: 2) ? pairs.make() : grammar.make()
          probe(generator.once(in: 2) ? plain.make() : other, &generator)
          continue
        }
        let some = (0..<3).map { _ in generator.below(near.count) }
        guard let index = some.min(by: { near[$0].count < near[$1].count }) else { continue }
        near[index].count += 1
        var scene = near[index].scene
        if generator.once(in: 3) {
          scene = grammar.neighbour(of: scene)
          if !probe(scene, &generator) { continue }
        }
        if scene.mayBeginAnew, generator.once(in: 3) {
          sweep(scene, &generator)
        } else {
          exploreNear(scene, &generator)
        }
      }
    }

    /// Keeps a scene that comes to a changed line, the shortest if there are many.
    @discardableResult
    private mutating func probe(_ scene: Scene, _ generator: inout SeededGenerator) -> Bool {
      if unwanted.contains(where: scene.text.contains) || !scene.isJudgeable { return false }
      let strategy = Strategy.priorities(depth: 2, length: 100)
      let verdict = run(Trial(strategy, seed: generator.next() % 1_000_000, scene))
      guard !verdict.outcome.changes.isEmpty else { return false }
      if near.contains(where: { $0.scene == scene }) { return true }
      if near.count < 200 {
        near.append((scene, 0))
      } else if let index = near.indices.max(by: { near[$0].scene.length < near[$1].scene.length }),
        near[index].scene.length > scene.length
      {
        near[index] = (scene, 0)
      }
      return true
    }

    /// Explores a scene in orders that stop a thread about where it comes to a changed line.
    private mutating func exploreNear(_ scene: Scene, _ generator: inout SeededGenerator) {
      var cuts: [Strategy.Cut] = []
      var length = 100
      for _ in 0..<12 where !isOver {
        var strategy = Self.anyStrategy(&generator, length: length)
        if !cuts.isEmpty, generator.below(4) > 0 {
          var some = [generator.pick(cuts)]
          if generator.once(in: 3) { some.append(generator.pick(cuts)) }
          strategy = .cuts(some)
        }
        let verdict = run(Trial(strategy, seed: generator.next() % 1_000_000, scene))
        if verdict.kind != nil { return }
        let (passed, changes) = (verdict.outcome.passed, verdict.outcome.changes)
        length = max(length / 2, verdict.outcome.choiceCount)
        if changes.isEmpty { continue }
        let (thread, count) = generator.pick(changes)
        let before = passed.prefix(count).count { $0.thread == thread }
        cuts = (-3...6).map { Strategy.Cut(thread: thread, point: max(1, before + $0)) }
        if let other = passed.last(where: { $0.thread != thread && !$0.isPlumbing }) {
          let count = passed.count { $0.thread == other.thread }
          cuts.append(Strategy.Cut(thread: other.thread, point: 1 + generator.below(count)))
        }
      }
    }

    /// Explores a scene until the time is up or it has failed.
    mutating func explore(_ scene: Scene, atMost count: Int) -> Bool {
      var generator = SeededGenerator(seed)
      return explore(scene, atMost: count, &generator)
    }

    /// Explores one scene until the time is up or it has failed.
    mutating func exploreOnly(_ scene: Scene) {
      var generator = SeededGenerator(seed)
      while !isOver, failureCount == 0 {
        if strategies.isEmpty, scene.mayBeginAnew { sweep(scene, &generator) }
        if !isOver, failureCount == 0 { _ = explore(scene, atMost: 10, &generator) }
      }
    }

    private mutating func exploreRounds(_ scene: Scene, _ generator: inout SeededGenerator) {
      for _ in 0..<4 where !isOver {
        let trial = Trial(.rounds(6), seed: generator.next() % 1_000_000, scene)
        if run(trial).kind != nil { return }
      }
    }

    /// Runs a scene with all cuts, as long as new meetings of threads come of it.
    private mutating func sweep(_ scene: Scene, _ generator: inout SeededGenerator) {
      let seed = generator.next() % 1_000_000
      var skipped = 0
      for number in 0..<Self.sweepLimit where !isOver {
        let strategy = Strategy.sweep(count: Self.sweepLength, skipped: skipped)
        let verdict = run(Trial(strategy, seed: seed, scene))
        if verdict.kind != nil { return }
        skipped += Self.sweepLength - 2
        let cuts = Strategy.Cut.all(in: verdict.outcome.passed)
        let cutCount = cuts.callers.count + cuts.library.count
        (sweepCount, self.cutCount) = (sweepCount + 1, self.cutCount + cutCount)
        if lastGain.isEmpty || skipped >= cutCount { return }
      }
    }

    /// - Parameter isForPairs: Whether three orders in which no new pair runs are the last.
    private mutating func explore(
      _ scene: Scene, atMost count: Int, isForPairs: Bool = false,
      _ generator: inout SeededGenerator
    ) -> Bool {
      // The number of choices in the schedule before, among which priorities change in the next.
      var length = 100
      var (newPairCount, vainCount) = (table.newPairCount, 0)
      var cuts: (callers: [Strategy.Cut], library: [Strategy.Cut]) = ([], [])
      for _ in 0..<count {
        if isOver || isForPairs && vainCount > 2 { break }
        let strategy = strategy(&generator, length: length, cuts)
        let verdict = run(Trial(strategy, seed: generator.next() % 1_000_000, scene))
        if verdict.kind != nil { return true }
        length = max(length / 2, verdict.outcome.choiceCount)
        cuts = Strategy.Cut.all(in: verdict.outcome.passed)
        vainCount = table.newPairCount > newPairCount ? 0 : vainCount + 1
        newPairCount = table.newPairCount
      }
      return false
    }

    /// - Parameters:
    ///   - length: The number of choices that a schedule of the scene has.
    ///   - cuts: The cuts that the schedule before had.
    private func strategy(
      _ generator: inout SeededGenerator, length: Int,
      _ cuts: (callers: [Strategy.Cut], library: [Strategy.Cut])
    ) -> Strategy {
      while true {
        let strategy = Self.anyStrategy(&generator, length: length, cuts)
        if strategies.isEmpty || strategies.contains(where: strategy.text.hasPrefix) {
          return strategy
        }
      }
    }

    static func anyStrategy(
      _ generator: inout SeededGenerator, length: Int,
      _ cuts: (callers: [Strategy.Cut], library: [Strategy.Cut]) = ([], [])
    ) -> Strategy {
      if !cuts.callers.isEmpty, generator.once(in: 2) {
        let isLibrary = generator.once(in: 4) && !cuts.library.isEmpty
        var some = [generator.pick(isLibrary ? cuts.library : cuts.callers)]
        if generator.once(in: 3) { some.append(generator.pick(cuts.callers + cuts.library)) }
        return .cuts(some)
      }
      if generator.once(in: 3) { return .partialOrders }
      if generator.once(in: 3) { return .random(period: generator.pick([2, 4, 10, 30])) }
      return .priorities(depth: generator.pick([1, 2, 2, 3, 3, 4]), length: max(length, 10))
    }
  }

  /// The output, and the progress for the process that started the program.
  enum Progress {
    static func tell(_ text: String) {
      print(text)
      unsafe fflush(nil)
    }

    /// Writes the next trial to a file, where it is found after a crash.
    static func note(_ text: String) {
      guard note >= 0 else { return }
      let bytes = Array((text + "\n").utf8)
      ftruncate(note, 0)
      unsafe pwrite(note, bytes, bytes.count, 0)
    }

    private static let note: Int32 = {
      guard let path = unsafe getenv("LARDER_SCHEDULES_NOTE") else { return -1 }
      return unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    }()
  }
#endif
