import Glibc
import Larder
import LarderSystem

/// Loads that several processes share by `SingleFlight.directory`.
enum LoadsBenchmark {
  static let usage = """
    usage: LarderBench loads [DIR] [--other DIR]… [--processes N] [--keys N] [--only NAME]
                             [--alone] [--load MS]

      keys     N processes with 4 tasks each ask for N keys; the origin counts its loads
      kills    the same, while processes are killed at random
      latency  from the end of a load to its value in three other processes
      handover from the kill of a process that loads to the next load
      waiting  processor time of 10,000 tasks that wait for 1,000 keys
      cost     microseconds of a turn without another process, beside the load itself
      unkept   from the beginning to the end, in load times, of a value that is never kept

      DIR is made anew and removed; the default is in TMPDIR. Another DIR is the same directory
      through a mount of its own: processes take turns with them, and one on each awaits.
      --alone lets each process load keys, to compare with. A load of latency takes 25 ms, or MS.
    """

  private struct Options: Sendable {
    var directory = ReplaySubject.temporaryDirectory()
    var others: [String] = []
    var (processes, keys, load, only, isAlone) = (8, 1000, 25, String?.none, false)
    /// What the origin has loaded. On this machine's disk, for all to write.
    let origin = ReplaySubject.temporaryDirectory() + ".origin"

    /// Whether a part is to run.
    func wants(_ name: String) -> Bool { only.map { $0 == name } ?? true }

    /// The cache's directory for the process of a number.
    func place(_ number: Int) -> String {
      ([directory] + others)[number % (others.count + 1)] + "/loads"
    }
  }

  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) async throws {
    if arguments.first == "--part" { return try await LoadsPart.run(Array(arguments.dropFirst())) }
    var (rest, options) = (arguments[...], Options())
    while let argument = rest.popFirst() {
      switch argument {
      case "--processes": options.processes = try ByteSize.parse(rest.popFirst())
      case "--keys": options.keys = try ByteSize.parse(rest.popFirst())
      case "--other": options.others += rest.popFirst().map { [$0] } ?? []
      case "--alone": options.isAlone = true
      case "--load": options.load = try ByteSize.parse(rest.popFirst())
      case "--only": options.only = rest.popFirst()
      case _ where argument.hasPrefix("-"): throw UsageError()
      default: options.directory = argument
      }
    }
    if options.wants("keys") { try keys(options, kills: false) }
    if options.wants("kills") { try keys(options, kills: true) }
    if options.wants("latency") { try latency(options) }
    if options.wants("handover") { try handover(options) }
    if options.wants("waiting") { try waiting(options) }
    // As a load's task, and not on the main actor, from which each turn would change threads.
    if options.wants("cost") {
      try await Task.detached { [options] in try await cost(options) }.value
    }
    if options.wants("unkept") { try unkept(options) }
    try empty(options)
  }

  private static func empty(_ options: Options) throws {
    let cache = try DiskCache(directory: options.place(0))
    try cache.removeAll()
    try cache.close()
  }

  private static func child(_ words: [String]) throws -> StressChild {
    try StressChild(["loads", "--part"] + words)
  }

  private static func keys(_ options: Options, kills: Bool) throws {
    try empty(options)
    let origin = options.origin
    _ = unsafe unlink(origin)
    let words = (0..<options.processes).map { number in
      ["keys", options.place(number), "\(options.keys)", origin]
        + (options.isAlone ? ["alone"] : [])
    }
    let start = MonotonicTime.now
    var children = try words.map(child)
    var (random, killCount) = (SeededRandom(seed: 1), 0)
    if kills {
      for _ in 0..<40 {
        usleep(50_000)
        let index = Int.random(in: children.indices, using: &random)
        kill(children[index].process, SIGKILL)
        _ = children[index].wait()
        children[index] = try child(words[index])
        killCount += 1
      }
    }
    var (awaited, unshared) = (0, 0)
    for child in children {
      let figures = (child.readLine() ?? "").split(separator: " ").compactMap { Int($0) }
      guard figures.count == 2, child.wait() else { fail("a process has failed", 4) }
      (awaited, unshared) = (awaited + figures[0], unshared + figures[1])
    }
    let time = MonotonicTime.now.duration(since: start) / .milliseconds(1)
    var counts: [Substring: Int] = [:]
    let loaded = try LoadsPart.text(of: origin).split(separator: "\n")
    for key in loaded { counts[key, default: 0] += 1 }
    let total = counts.values.reduce(0, +)
    print(
      kills ? "kills   " : "keys    ", "\(options.processes) processes, \(options.keys) keys,",
      "\(killCount) kills: loads \(total),", (Double(total) / Double(options.keys)).rounded(to: 4),
      "a key, most \(counts.values.max() ?? 0); awaited \(awaited), unshared \(unshared);",
      "\(time.rounded(to: 0)) ms")
    _ = unsafe unlink(origin)
  }

  private static func latency(_ options: Options) throws {
    try empty(options)
    // A network's store and look must have ended before the next load.
    let (count, rest, waiterCount) =
      options.others.isEmpty ? (300, 15, 3) : (50, 400, options.others.count)
    let times = [
      "\(count)", "\(MonotonicTime.now.advanced(by: .seconds(1)).nanoseconds)",
      "\(options.load)", "\(options.load + rest)",
    ]
    let loader = try child(["publish", options.place(0)] + times)
    let others = try (1...waiterCount).map { try child(["await", options.place($0)] + times) }
    let stored = try delays(of: [loader])
    let served = try delays(of: others)
    guard ([loader] + others).allSatisfy({ $0.wait() }) else { fail("a process has failed", 4) }
    let percentiles = [0.5, 0.99, 1].map { served[Int(Double(served.count - 1) * $0)] }
    print(
      "latency  of \(served.count): median \(percentiles[0].rounded(to: 3)) ms after the load,",
      "p99 \(percentiles[1].rounded(to: 3)), most \(percentiles[2].rounded(to: 3));",
      "the store takes \(stored.median.rounded(to: 3))")
  }

  private static func delays(of children: [StressChild]) throws -> [Double] {
    var delays: [Double] = []
    for child in children {
      while let line = child.readLine(), line != "end" { delays.append(Double(line) ?? .infinity) }
    }
    return delays.sorted()
  }

  private static func handover(_ options: Options) throws {
    try empty(options)
    var times: [Double] = []
    for round in 0..<100 {
      let holder = try child(["hang", options.place(round), "h\(round)-", "1"])
      holder.expect("ready")
      let next = try child(["next", options.place(round + 1), "h\(round)-0"])
      next.expect("waits")
      let start = MonotonicTime.now
      kill(holder.process, SIGKILL)
      guard let end = Int64(next.readLine() ?? "") else { fail("a process has failed", 4) }
      times.append(Double(end - start.nanoseconds) / 1e6)
      _ = (holder.wait(), next.wait())
    }
    times.sort()
    print(
      "handover of \(times.count): median \(times.median.rounded(to: 2)) ms,",
      "most \((times.last ?? 0).rounded(to: 2))")
  }

  private static func waiting(_ options: Options) throws {
    try empty(options)
    let holders = try (0..<10).map { number in
      try child(["hang", options.place(number), "w\(number)-", "100"])
    }
    for holder in holders { holder.expect("ready") }
    let waiter = try child(["wait", options.place(1)])
    print("waiting  10,000 tasks, 1,000 keys:", waiter.readLine() ?? "failed")
    for holder in holders { kill(holder.process, SIGKILL) }
    kill(waiter.process, SIGKILL)
    for child in holders + [waiter] { _ = child.wait() }
  }

  private static func cost(_ options: Options) async throws {
    try empty(options)
    let cache = try Cache(directory: options.place(0), coder: .bytes)
    // A turn that publishes nothing costs a mark and an event more.
    try await cache.store([1], forKey: "key")
    let name = cache.disk.subject("key").name
    var times: [Double] = []
    for _ in 0..<50 {
      let start = ContinuousClock.now
      for _ in 0..<1000 {
        _ = try await cache.disk.inTurn(name, mayWait: { true }) {
          nil as Int?
        } load: {
          1
        } count: { _ in
        }
      }
      times.append((ContinuousClock.now - start) / .microseconds(1000))
    }
    print(
      "cost     us of a turn: median \(times.median.rounded(to: 2)),",
      "least \((times.min() ?? 0).rounded(to: 2))")
    try await cache.close()
  }

  private static func unkept(_ options: Options) throws {
    try empty(options)
    let children = try (0..<options.processes).map { number in
      try child(["unkept", options.place(number)])
    }
    for child in children { child.expect("ready") }
    let start = MonotonicTime.now
    for child in children { child.tell("go") }
    for child in children { child.expect("end") }
    let time = MonotonicTime.now.duration(since: start) / .milliseconds(500)
    // Not before, because what a process has marked ends with it.
    for child in children { child.tell("end") }
    guard children.allSatisfy({ $0.wait() }) else { fail("a process has failed", 4) }
    print("unkept   \(options.processes) processes: \(time.rounded(to: 2)) load times")
  }
}
