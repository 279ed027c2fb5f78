import Larder
import LarderDigest
import LarderSystem

/// The benchmark of the disk tier's index: memory per entry, and the time of its operations by the
/// number of entries.
///
/// The entries have random digests as names, can all expire, and are used in random order, which is
/// the worst for the processor's caches. `bytes` is the growth of resident memory per entry while
/// an index is filled. Only the first size of a run has it, because later sizes reuse the memory of
/// the first. `longest` is the longest insertion, which shows that growing never blocks for long.
/// It includes disturbances by other work of the machine, so the least of the rounds counts.
enum IndexBenchmark {
  static let usage = "usage: LarderBench index [ENTRIES]…"

  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) {
    let counts = arguments.compactMap { Int($0) }
    let all = counts.isEmpty ? [1_000_000, 100_000, 10_000, 1_000] : counts
    print("   entries  " + IndexMeasurement.columns.map { $0.padded(to: 12) }.joined())
    let expected = { (count: Int) in Double(count) * 16e-6 + 1 }
    let progress = Progress("index", seconds: all.map(expected).reduce(0, +))
    for (row, count) in all.enumerated() {
      progress.begin("\(count) entries", seconds: expected(count))
      var measurement = IndexMeasurement(count: count)
      var cells = measurement.run().map { $0.rounded(to: 1) }
      if row > 0 { cells[0] = "–" }
      progress.end()
      print("\(count)".padded(to: 10) + "  " + cells.map { $0.padded(to: 12) }.joined())
    }
  }
}

/// A measurement of indexes of one size.
private struct IndexMeasurement {
  static let columns = [
    "bytes", "insert ns", "longest µs", "find ns", "miss ns", "touch ns", "extend ns", "remove ns",
    "scan ns", "sort ms", "half ms",
  ]

  let count: Int
  private var random = SystemRandomNumberGenerator()
  private let clock = ContinuousClock()

  init(count: Int) {
    self.count = count
  }

  mutating func run() -> [Double] {
    let entries = entries()
    let others = self.entries()
    let order = entries.indices.shuffled(using: &random)
    var index = EntryIndex()
    let before = ResidentMemory.byteCount
    let filling = fill(&index, entries)
    let bytes = Double(ResidentMemory.byteCount - before) / Double(count)
    let names = order.map { entries[$0].name }
    return [bytes, filling.mean, longest(entries, first: filling.longest)]
      + finding(in: index, names, missing: others.map(\.name)) + changes(of: &index, names)
      + choosing(entries)
  }

  private mutating func entries() -> [IndexedEntry] {
    // The salt makes the names of two calls different: one set is found, the other missed.
    let salt = random.next()
    return (0..<count).map { number in
      let key = Array("\(number) \(salt)".utf8)
      let seconds = Int64(1_700_000_000) + Int64.random(in: 0..<1_000_000, using: &random)
      var entry = IndexedEntry(
        name: EntryName(digest: MD5.digest(of: key.span), fileExtension: .none),
        status: Self.status,
        lastAccess: Timestamp(seconds: seconds, nanoseconds: Int64(number)))
      entry.expiry = Timestamp(seconds: seconds + 1_000_000)
      return entry
    }
  }

  /// The status of some file, with which all entries begin.
  private static let status: FileStatus = {
    do throws(Errno) {
      return try FileDescriptor.open(source: "/proc/self/exe", faults: nil).status()
    } catch {
      fatalError("/proc/self/exe: \(error)")
    }
  }()

  /// Adds all entries. Returns the mean time in nanoseconds and the longest insertion in
  /// microseconds.
  private func fill(_ index: inout EntryIndex, _ entries: [IndexedEntry]) -> (
    mean: Double, longest: Double
  ) {
    var longest = Duration.zero
    var last = clock.now
    let start = last
    for entry in entries {
      index.upsert(entry, order: .mostRecent)
      let now = clock.now
      longest = max(longest, now - last)
      last = now
    }
    return ((last - start) / .nanoseconds(1) / Double(count), longest / .microseconds(1))
  }

  private func longest(_ entries: [IndexedEntry], first: Double) -> Double {
    (0..<4).reduce(first) { least, _ in
      var index = EntryIndex()
      return min(least, fill(&index, entries).longest)
    }
  }

  /// Returns the nanoseconds of finding and of missing.
  private func finding(in index: EntryIndex, _ names: [EntryName], missing: [EntryName])
    -> [Double]
  {
    [
      time(names) { precondition(index.contains($0), "a name is missing") },
      time(missing) { precondition(!index.contains($0), "a name is there") },
    ]
  }

  /// Returns the nanoseconds of touching, extending and removing.
  private func changes(of index: inout EntryIndex, _ names: [EntryName]) -> [Double] {
    [
      time(names) { name in
        let slot = index.slot(of: name)
        if let slot { index.use(slot, at: Timestamp(seconds: 1_800_000_000)) }
      },
      time(names) { name in
        let slot = index.slot(of: name)
        if let slot { index.setExpiry(Timestamp(seconds: 1_900_000_000), of: slot) }
      },
      time(names, once: true) { index.remove($0) },
    ]
  }

  /// Returns the nanoseconds of adding an entry from a scan, and the milliseconds of then choosing
  /// the first entry to go, and half of them.
  private func choosing(_ entries: [IndexedEntry]) -> [Double] {
    var index = EntryIndex()
    let scanning = clock.measure {
      for entry in entries { index.upsert(entry, order: .byLastAccess) }
    }
    var plan = TrimPlan(for: .living, at: Timestamp(seconds: 0), DiskCache.Configuration())
    plan.maximumCount = count - 1
    let sorting = clock.measure { _ = index.take(plan) }
    plan.maximumCount = count / 2
    let halving = clock.measure { _ = index.take(plan) }
    return [
      scanning / .nanoseconds(1) / Double(count), sorting / .milliseconds(1),
      halving / .milliseconds(1),
    ]
  }

  /// Returns the nanoseconds per name, over about a million operations; over one round with `once`,
  /// for operations that cannot be repeated.
  private func time(_ names: [EntryName], once: Bool = false, _ body: (EntryName) -> Void)
    -> Double
  {
    let rounds = once ? 1 : max(1, 1_000_000 / names.count)
    let duration = clock.measure {
      for _ in 0..<rounds { for name in names { body(name) } }
    }
    return duration / .nanoseconds(1) / Double(rounds * names.count)
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}
