#if LARDER_SCHEDULES
  import Glibc
  import Synchronization

  @testable import Larder
  @testable import LarderBasics
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  /// A schedule of a scene, exactly as a line describes it.
  struct Trial: Sendable {
    var strategy: Strategy
    var seed: UInt64
    var scene: Scene

    /// The line that replays the trial.
    var text: String { "\(strategy.text) \(seed) | \(scene.text)" }

    init(_ strategy: Strategy, seed: UInt64, _ scene: Scene) {
      self.strategy = strategy
      self.seed = seed
      self.scene = scene
    }

    init?(_ text: String) {
      guard let bar = text.firstIndex(of: "|") else { return nil }
      let words = text[..<bar].split(separator: " ")
      guard words.count == 2, let strategy = Strategy(words[0]), let seed = UInt64(words[1]),
        let scene = Scene(String(text[text.index(after: bar)...]))
      else { return nil }
      self.init(strategy, seed: seed, scene)
    }

    /// The result of a trial.
    struct Verdict: Sendable {
      var outcome: Scheduler.Outcome
      var problems: [String]
      /// The calls, apart for each round that has caches of its own.
      var rounds: [[Call]]
      var trace: [String] = []

      /// The kind of failure: the first words of the first problem.
      var kind: String? { problems.first.map { Self.kind(of: $0) } }

      private static func kind(of problem: String) -> String {
        String(problem.prefix { $0 != ":" && $0 != "\n" }.filter { !$0.isNumber }.prefix(40))
      }
    }

    /// The number of points after which a trial counts as endless. No scene that ends takes as
    /// many.
    static let pointLimit = 60_000

    /// The number of points that a thread may pass without a wait and without a system call. A tier
    /// that forgets all its keys passes some 500, and a thread can close two objects.
    static let spinLimit = 2_000

    /// The number of points that all threads together may pass before anything has changed: a file,
    /// the time that a thread waits for, or the operations that have begun and returned.
    static let idleLimit = 4_000

    /// Runs the trial.
    func run(isTraced: Bool = false) -> Verdict {
      ScheduledFiles.begin(tick: scene.isCoarse ? 4_000_000 : 1)
      let run = SceneRun(scene, path: Workplace.path, strategy)
      _ = ChoiceLog.take()
      // Slow loads that ask again and again take some 5,000 in each round of a sweep.
      let most = max(Self.pointLimit, 20_000 * strategy.roundCount)
      let outcome = Scheduler.run(
        strategy.make(seed: seed, early: scene.early), pointLimit: most,
        isTraced: isTraced
      ) { run.direct() }
      run.clean()
      var problems = run.history.problems
      if outcome.isEndless {
        problems.append("no end after \(most) points:\n" + outcome.list)
      } else if !outcome.stuck.isEmpty {
        problems.append("stuck for ever:\n" + outcome.list)
      } else {
        if outcome.longestSpin.count > Self.spinLimit {
          let (label, count) = outcome.longestSpin
          problems.append("\(label) spins: \(count) points without a wait or a system call")
        }
        if outcome.mostIdlePoints > Self.idleLimit {
          problems.append("no progress: \(outcome.mostIdlePoints) points, and nothing has changed")
        }
        for history in run.history.rounds {
          let judge = HistoryJudge(scene: scene, history: history, killed: run.killed)
          let found = judge.problems()
          problems += found
          // What follows it tells nothing new.
          if !found.isEmpty { break }
        }
      }
      return Verdict(
        outcome: outcome, problems: problems, rounds: run.history.rounds.map(\.calls),
        trace: isTraced ? Scheduler.trace : [])
    }
  }

  extension Trial {
    /// Returns whether the trial fails, or one of other orders of its scene does.
    func fails(seed: UInt64, inOrders count: Int) -> Bool {
      var generator = SeededGenerator(seed)
      var trial = self
      for _ in 0..<count {
        let verdict = trial.run()
        if verdict.kind != nil { return true }
        let strategy = Explorer.anyStrategy(&generator, length: verdict.outcome.choiceCount)
        trial = Trial(strategy, seed: generator.next() % 1_000_000, scene)
      }
      return false
    }
  }

  extension Scheduler.Outcome {
    var list: String { stuck.map { "    \($0)" }.joined(separator: "\n") }
    /// Whether threads are left, which take memory.
    var isLeaky: Bool { isEndless || !stuck.isEmpty }
  }

  /// The directory in which scenes run.
  enum Workplace {
    static let base: String = {
      var status = stat()
      let shared = unsafe stat("/dev/shm", &status) == 0 && access("/dev/shm", W_OK) == 0
      let folder =
        shared ? "/dev/shm" : unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
      return "\(folder)/larder-schedules-\(getpid())"
    }()

    static var path: String { "\(base)/cache" }

    static func make() { mkdir(base, 0o700) }
    static func remove() {
      RawFiles.removeDirectory(path)
      rmdir(base)
    }
  }

  /// The executor that runs the tasks of a schedule on its threads.
  enum TaskThreads {
    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    private static let executor = JobThreads()

    /// Replaces Swift's own pool.
    static func install() {
      guard let symbol = unsafe dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook") else {
        fatalError("this Swift lets nobody take the place of its pool")
      }
      unsafe symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, _ in
        TaskThreads.start(job)
      }
    }

    private static func start(_ job: UnownedJob) {
      Scheduler.spawn("task", task: Scheduler.task(of: job)) {
        job.runSynchronously(on: executor.asUnownedTaskExecutor())
      }
    }

    private final class JobThreads: TaskExecutor {
      func enqueue(_ job: consuming ExecutorJob) { TaskThreads.start(UnownedJob(job)) }
    }
  }
#endif
