import Glibc
import Larder

/// What a power cut leaves of a cache: one process writes and says what it was told is stored,
/// another judges the directory when the file system is mounted again.
///
/// The cut itself is the script's: `Tests/Reliability/power-cut`.
enum PowerBenchmark {
  static let usage = """
    usage: LarderBench power prepare|write|check DIR [--durable] [--seed N] [--threads N]

      prepare   stores what is there before the cut
      write     stores new keys, stores over old ones and removes some, in an order that the seed
                gives; prints a line for each that returned, until it is stopped or all fail
      check     reads those lines from its input, then the directory, and prints counts; exits 1
                if anything was served that must not be, or lost that must not be
    """

  /// Runs with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let options = try PowerOptions(arguments)
    switch options.role {
    case .prepare: try prepare(options)
    case .write: try write(options)
    case .check:
      let judgement = try PowerJudgement(options, acknowledged: acknowledgements())
      judgement.report()
      if judgement.hasViolation { exit(1) }
    }
  }

  static func open(_ options: PowerOptions) throws -> DiskCache {
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    configuration.durability = options.isDurable ? .durable : .relaxed
    return try DiskCache(directory: options.directory, configuration: configuration)
  }

  private static func prepare(_ options: PowerOptions) throws {
    let disk = try open(options)
    for step in PowerPlan.before { try apply(step, to: disk, options) }
    try disk.close()
  }

  /// Goes through the steps with several threads, and says of each that returned which it was.
  private static func write(_ options: PowerOptions) throws {
    let disk = try open(options)
    let steps = PowerPlan.after(seed: options.seed)
    BenchmarkThreads.run(options.threads) { thread in
      var failures = 0
      for number in stride(from: thread, to: steps.count, by: options.threads) {
        do {
          try apply(steps[number], to: disk, options)
          // One call of `write` for a line, which a pipe takes in one piece.
          let line = Array("\(steps[number].text)\n".utf8)
          unsafe Glibc.write(STDOUT_FILENO, line, line.count)
        } catch {
          failures += 1
          // The file system is gone for good.
          if failures > 20 { return }
        }
      }
    }
    // Not closed: a cut leaves no time for it.
    exit(0)
  }

  private static func apply(
    _ step: PowerPlan.Step, to disk: DiskCache, _ options: PowerOptions
  ) throws {
    switch step.kind {
    case .store:
      let value = PowerValue(key: step.key, version: step.version)
      try disk.store(value.bytes, forKey: step.key, extendedData: value.extendedData)
    case .remove: try disk.remove(forKey: step.key)
    }
  }

  /// The steps that the writer said had returned.
  private static func acknowledgements() -> [PowerPlan.Step] {
    var steps: [PowerPlan.Step] = []
    while let line = readLine() {
      if let step = PowerPlan.Step(line) { steps.append(step) }
    }
    return steps
  }
}
