#if LARDER_SCHEDULES
  import Glibc

  @testable import Larder
  @testable import LarderBasics
  @testable import LarderDisk
  @testable import LarderSystem

  /// The program's commands.
  enum Commands {
    static func run(_ arguments: [String]) -> Int32 {
      Processor.stay(worker: value(of: "--worker", in: arguments).flatMap { Int($0) } ?? 0)
      Workplace.make()
      defer { Workplace.remove() }
      TaskThreads.install()
      warmUp()
      let seed = value(of: "--seed", in: arguments).flatMap { UInt64($0) } ?? 1
      let seconds = value(of: "--seconds", in: arguments).flatMap { Int($0) } ?? 10
      if let line = value(of: "--replay", in: arguments) { return replay(line) }
      if let path = value(of: "--open", in: arguments) { return findAgain(path, seed: seed) }
      if let days = value(of: "--days", in: arguments).flatMap({ Int($0) }) {
        return runYear(days, seed: seed, arguments)
      }
      let pairs = value(of: "--pairs", in: arguments)
      let table = PairTable(path: pairs)
      if arguments.contains("--report") { return report(table) }
      var explorer = Explorer(seed: seed, seconds: seconds, table, pairs: pairs)
      explorer.shrinks = !arguments.contains("--no-shrinking")
      explorer.stopsAtFirst = arguments.contains("--first")
      if explorer.stopsAtFirst { explorer.shrinks = false }
      explorer.unwanted =
        value(of: "--without", in: arguments)?.split(separator: ",").map(String.init) ?? []
      explorer.strategies =
        value(of: "--strategies", in: arguments)?.split(separator: ",").map(String.init) ?? []
      if let share = value(of: "--pair-share", in: arguments).flatMap({ Int($0) }) {
        explorer.pairShare = share
      }
      if let share = value(of: "--turns", in: arguments).flatMap({ Int($0) }) {
        explorer.turnShare = share
      }
      if let share = value(of: "--neighbours", in: arguments).flatMap({ Int($0) }) {
        explorer.neighbourShare = share
      }
      let changed = value(of: "--lines", in: arguments).map { lines(in: $0) }
      changed.map(Scheduler.explore)
      explorer.isForChange = changed != nil || arguments.contains("--changed")
      explorer.isFine = arguments.contains("--fine")
      explorer.stopFile = value(of: "--until", in: arguments)
      explorer.isTwice = arguments.contains("--twice")
      if let path = value(of: "--corpus", in: arguments) {
        let text = String(decoding: RawFiles.all(path), as: UTF8.self)
        explorer.corpus = text.split(separator: "\n").compactMap { Scene(String($0)) }
      }
      let path = value(of: "--known", in: arguments)
      let trials = path.map { Self.trials(in: $0, &explorer) } ?? []
      explorer.known = trials.map(\.scene)
      if let count = value(of: "--orders", in: arguments).flatMap({ Int($0) }) {
        explore(trials, atMost: count, &explorer)
      } else if let text = value(of: "--scene", in: arguments) {
        guard let scene = Scene(text) else { return complain("no scene: \(text)") }
        if let bound = value(of: "--exhaustive", in: arguments).flatMap({ Int($0) }) {
          return exhaust(scene, bound: bound, explorer)
        }
        explorer.exploreOnly(scene)
      } else {
        explorer.explore()
      }
      for lines in Set(Scheduler.linesReached) { Progress.tell("CAME TO \(lines)") }
      if arguments.contains("--cover") {
        for scene in explorer.rare.cover() { Progress.tell("COVERS \(scene.text)") }
      }
      Progress.tell(
        "\(explorer.roundCount) schedules, \(explorer.failureCount) failures, seed \(seed), "
          + "\(explorer.pointCount / max(1, explorer.roundCount)) points each, "
          + "\(explorer.sweepCount) sweeps of "
          + "\(explorer.cutCount / max(1, explorer.sweepCount)) cuts, \(explorer.rare.text)")
      Progress.tell(
        "longest spin \(explorer.longestSpin), without a change \(explorer.mostIdlePoints)")
      if explorer.failureCount > 0 { return 1 }
      return explorer.isFull ? 3 : 0
    }

    private static func value(of name: String, in arguments: [String]) -> String? {
      guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else {
        return nil
      }
      return arguments[index + 1]
    }

    /// Prints what has not run side by side in the schedules that share a table.
    private static func report(_ table: PairTable) -> Int32 {
      let unmet = table.unmet
      for pair in unmet.prefix(20) { Progress.tell("never ran: \(pair)") }
      Progress.tell(table.report)
      return unmet.isEmpty ? 0 : 1
    }

    /// Runs days of a virtual year.
    private static func runYear(_ dayCount: Int, seed: UInt64, _ arguments: [String]) -> Int32 {
      var year = Year(seed: seed, dayCount: dayCount)
      year.traces =
        value(of: "--traces", in: arguments)?.split(separator: ",").map(String.init) ?? []
      if let count = value(of: "--accesses", in: arguments).flatMap({ Int($0) }) {
        year.accessCount = count
      }
      return year.run() ? 0 : 1
    }

    private static func complain(_ text: String) -> Int32 {
      Progress.tell(text)
      return 2
    }

    /// Creates all objects that exist once in a program, before anything is counted.
    private static func warmUp() {
      guard let scene = Scene("fine early=0 with=a | p0 memory shared events | c0 Sa100 Oa100 X G")
      else { return }
      for _ in 0..<2 { _ = Trial(.random(period: 4), seed: 1, scene).run() }
    }

    /// Reads lines to explore: the name of a file, and the first and the last line there.
    private static func lines(in path: String) -> Scheduler.Lines {
      let text = String(decoding: RawFiles.bytes(path) ?? [], as: UTF8.self)
      return text.split(separator: "\n").reduce(into: [:]) { lines, line in
        let words = line.split(separator: " ")
        guard words.count == 3, let first = Int(words[1]), let last = Int(words[2]), first <= last
        else { return }
        lines[String(words[0]), default: []].append(first...last)
      }
    }

    /// Returns the trials in the lines of a file.
    private static func trials(in path: String, _ explorer: inout Explorer) -> [Trial] {
      let text = String(decoding: RawFiles.bytes(path) ?? [], as: UTF8.self)
      return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
        let trial = Trial(String(line))
        if trial == nil {
          Progress.tell("FAILURE no trial: \(line)")
          explorer.failureCount += 1
        }
        return trial
      }
    }

    /// Runs trials, and their scenes in further orders.
    private static func explore(_ trials: [Trial], atMost count: Int, _ explorer: inout Explorer) {
      var generator = SeededGenerator(explorer.seed)
      // Their own orders come first, which are no strategy's.
      for trial in trials where !explorer.isOver && explorer.strategies.isEmpty {
        explorer.run(trial)
      }
      for trial in trials.shuffled(using: &generator) where !explorer.isOver {
        _ = explorer.explore(trial.scene, atMost: count)
      }
    }

    /// Runs all schedules of a scene with few interruptions.
    private static func exhaust(_ scene: Scene, bound: Int, _ explorer: Explorer) -> Int32 {
      var exhaustion = Exhaustion(scene, bound: bound)
      exhaustion.explore { explorer.isOver }
      for failure in exhaustion.failures { Progress.tell("FAILURE \(failure.text)") }
      let extent = exhaustion.isComplete ? "all" : "not all"
      Progress.tell(
        "\(exhaustion.trialCount) schedules, \(exhaustion.failures.count) failures; \(extent) "
          + "with at most \(bound) interruptions")
      return exhaustion.failures.isEmpty ? 0 : 1
    }

    /// Looks for failures that are known and not mended. Prints the line of each that is not found
    /// any more, neither with its order nor with others of its scene.
    private static func findAgain(_ path: String, seed: UInt64) -> Int32 {
      var explorer = Explorer(seed: seed, seconds: 600, PairTable(path: nil))
      let trials = trials(in: path, &explorer)
      let passing = trials.filter { !$0.fails(seed: seed, inOrders: 2_000) }
      for trial in passing { Progress.tell("PASSES \(trial.text)") }
      Progress.tell("\(trials.count) known failures, \(passing.count) of them not found again")
      return passing.isEmpty && explorer.failureCount == 0 ? 0 : 1
    }

    private static func replay(_ line: String) -> Int32 {
      guard let trial = Trial(line) else { return complain("no trial: \(line)") }
      let first = trial.run()
      let verdict = trial.run(isTraced: true)
      for line in verdict.trace { print(line) }
      for call in verdict.rounds.joined() { print(call.text) }
      for problem in verdict.problems { print(problem) }
      if first.outcome.traceHash != verdict.outcome.traceHash {
        print("NOT DETERMINISTIC: \(first.outcome.traceHash), \(verdict.outcome.traceHash)")
      }
      print("\(verdict.outcome.pointCount) points, hash \(verdict.outcome.traceHash)")
      return verdict.problems.isEmpty ? 0 : 1
    }
  }
#endif
