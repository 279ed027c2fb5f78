import Larder
import LarderDigest

/// Measures the disk tier's index: memory per entry and the time of its operations by their number.
///
/// The entries are named by random digests, all can expire, and are met in random order, which is
/// the worst for memory that is not at hand. `bytes` is what the process has resident after filling
/// an index less what it had before, per entry; only the first size of a run has it, for the others
/// take what the first has left. The longest insertion shows that growing stops nobody; it holds
/// what else the machine did in that moment, so the least of the rounds counts.
enum IndexBenchmark {
  static let usage = "usage: LarderBench index [ENTRIES]…"

  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) {
    let counts = arguments.compactMap { Int($0) }
    let all = counts.isEmpty ? [1_000_000, 100_000, 10_000, 1_000] : counts
    print("   entries  " + IndexMeasurement.columns.map { $0.padded(to: 12) }.joined())
    for (row, count) in all.enumerated() {
      var measurement = IndexMeasurement(count: count)
      var cells = measurement.run().map(rounded)
      if row > 0 { cells[0] = "–" }
      print("\(count)".padded(to: 10) + "  " + cells.map { $0.padded(to: 12) }.joined())
    }
  }

  private static func rounded(_ value: Double) -> String {
    "\((value * 10).rounded() / 10)"
  }
}

/// One index of one size.
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
    // Two calls give two sets of names, one to be found and one to be missed.
    let salt = random.next()
    return (0..<count).map { number in
      let key = Array("\(number) \(salt)".utf8)
      let seconds = Int64(1_700_000_000) + Int64.random(in: 0..<1_000_000, using: &random)
      return IndexedEntry(
        name: EntryName(digest: MD5.digest(of: key.span), fileExtension: .none),
        byteCount: 1_000, allocatedByteCount: 4_096,
        lastAccess: Timestamp(seconds: seconds, nanoseconds: Int64(number)),
        expiry: Timestamp(seconds: seconds + 1_000_000), inode: UInt64(number),
        changeTime: Timestamp(seconds: seconds))
    }
  }

  /// Adds all entries, and takes the longest single insertion beside the mean.
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

  /// The nanoseconds of finding and of missing.
  private func finding(in index: EntryIndex, _ names: [EntryName], missing: [EntryName])
    -> [Double]
  {
    [
      time(names) { precondition(index.contains($0), "a name is missing") },
      time(missing) { precondition(!index.contains($0), "a name is there") },
    ]
  }

  /// The nanoseconds of touching, extending and removing.
  private func changes(of index: inout EntryIndex, _ names: [EntryName]) -> [Double] {
    [
      time(names) { index.touch($0, at: Timestamp(seconds: 1_800_000_000)) },
      time(names) { index.setExpiry(Timestamp(seconds: 1_900_000_000), of: $0) },
      time(names, once: true) { _ = index.remove($0) },
    ]
  }

  /// The nanoseconds of an entry that a scan brings, and the milliseconds of choosing the first
  /// victim after it, and half of all.
  private func choosing(_ entries: [IndexedEntry]) -> [Double] {
    var index = EntryIndex()
    let scanning = clock.measure {
      for entry in entries { index.upsert(entry, order: .byLastAccess) }
    }
    var plan = TrimPlan(now: Timestamp(seconds: 0), protected: nil)
    plan.maximumCount = count - 1
    let sorting = clock.measure { _ = index.take(plan) }
    plan.maximumCount = count / 2
    let halving = clock.measure { _ = index.take(plan) }
    return [
      scanning / .nanoseconds(1) / Double(count), sorting / .milliseconds(1),
      halving / .milliseconds(1),
    ]
  }

  /// Nanoseconds per name, over enough rounds for a million operations; once for what cannot be
  /// repeated.
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
