import Glibc
import Larder

/// The benchmark of reads and stores while a directory is scanned, half of it is evicted, and all
/// of it is removed.
///
/// Beside it, raw system calls are measured while another thread lists the directory, unlinks the
/// same files, and unlinks all. They show the share of the waiting that is due to the kernel.
struct EvictionLatency {
  private let options: DiskOptions

  init(_ options: DiskOptions) {
    self.options = options
  }

  /// The nanoseconds of each operation.
  private struct Samples {
    var reads: [Double] = []
    var stores: [Double] = []

    func line(_ label: String) -> String {
      let figures = [0.5, 0.99, 0.999, 1].flatMap { share in
        [reads.quantile(share), stores.quantile(share)]
      }
      return EvictionLatency.row(
        [label, "\(reads.count)"] + figures.map { ($0 / 1000).rounded(to: 1) })
    }

    /// The ratios of p99 and p99.9 to those of idle operations.
    func ratios(to idle: Samples) -> String {
      let ratios = [0.99, 0.999].flatMap { share in
        [
          reads.quantile(share) / idle.reads.quantile(share),
          stores.quantile(share) / idle.stores.quantile(share),
        ]
      }
      return EvictionLatency.row(["  × idle", "", "", ""] + ratios.map { $0.rounded(to: 2) })
    }
  }

  private static func row(_ cells: [String]) -> String {
    cells.map { String(repeating: " ", count: max(0, 13 - $0.count)) + $0 }.joined()
  }

  /// Measures the cache and raw system calls, each idle and beside the three, and prints all.
  func run() throws {
    print(
      Self.row([
        "µs", "operations", "read p50", "store p50", "read p99", "store p99", "read 99.9",
        "store 99.9", "read max", "store max",
      ]))
    let sizes = options.entries.isEmpty ? [1_000_000] : options.entries
    let expected = sizes.map { Double($0) * Self.perEntry }
    let progress = Progress("evict --latency", seconds: 2 * expected.reduce(0, +))
    for (count, seconds) in zip(sizes, expected) {
      progress.begin("larder, \(count) files", seconds: seconds)
      let ours = try measure(count)
      progress.begin("raw calls, \(count) files", seconds: seconds)
      let raw = try measureRaw(count)
      progress.end()
      for (side, phases) in [("larder", ours), ("raw", raw)] {
        print("\(side), \(count) files")
        for (name, samples) in phases {
          print(samples.line(name))
          if name != phases[0].name { print(samples.ratios(to: phases[0].samples)) }
        }
      }
    }
  }

  // The seconds per entry in which a directory is filled, measured and removed.
  private static let perEntry = 120e-6

  private typealias Phases = [(name: String, samples: Samples)]

  private func measure(_ count: Int) throws -> Phases {
    let filled = FilledDirectory(options, count)
    defer { filled.directory.removeAll() }
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    if options.isByValue { configuration.evictionOrder = .leastValuable }
    let cache = try DiskCache(directory: filled.directory.path, configuration: configuration)
    // The entries to read are the most recently used, so they are not evicted.
    let kept = filled.order.suffix(min(1000, count / 4)).map { filled.keys[$0] }
    let new = BenchmarkKeys.make(10_000, kind: 1)
    let calls = Calls {
      _ = try cache.value(forKey: kept[$0 % kept.count])
    } store: {
      try cache.store(Self.value, forKey: new[$0 % new.count])
    }
    // Once before, so that the first reads' checks are not measured as part of the scan.
    _ = try calls.sample { $0 < 20_000 }
    let idle = try calls.sample { $0 < 20_000 }
    let scan = try calls.sample { _ = try cache.count() }
    let purge = try calls.sample { _ = try cache.trim(toCount: count - count / 2) }
    let clear = try calls.sample { _ = try cache.removeAll() }
    try cache.close()
    return [("idle", idle), ("scan", scan), ("purge", purge), ("clear", clear)]
  }

  /// Measures raw system calls while a thread does what the cache would do.
  private func measureRaw(_ count: Int) throws -> Phases {
    let filled = FilledDirectory(options, count)
    defer { filled.directory.removeAll() }
    let directory = RawCalls.openDirectory(filled.directory.path)
    defer { close(directory) }
    let (names, order) = (filled.names, filled.order)
    let kept = Array(order.suffix(min(1000, count / 4)))
    let new = RawNames(ofKeys: BenchmarkKeys.make(10_000, kind: 1))
    let now = Int(time(nil))
    let times = [timespec(tv_sec: now, tv_nsec: 1), timespec(tv_sec: now + 604_800, tv_nsec: 1)]
    let calls = Calls {
      _ = unsafe RawCalls.read(directory, names[kept[$0 % kept.count]])
    } store: {
      unsafe RawCalls.store(directory, new[$0 % 10_000], Self.value, times)
    }
    _ = try calls.sample { $0 < 20_000 }
    let idle = try calls.sample { $0 < 20_000 }
    let scan = try calls.sample { _ = RawCalls.scan(directory) }
    let purge = try calls.sample {
      for index in order.prefix(count / 2) { unsafe RawCalls.remove(directory, names[index]) }
    }
    // Those that are read stay, because a read of a missing file would end the program.
    let rest = order.dropFirst(count / 2).dropLast(kept.count)
    let clear = try calls.sample {
      for index in rest { unsafe RawCalls.remove(directory, names[index]) }
    }
    return [("idle", idle), ("scan", scan), ("purge", purge), ("clear", clear)]
  }

  private static let value = [UInt8](repeating: 1, count: 1024)

  /// A directory of files whose order of use is unrelated to their order on the disk.
  private struct FilledDirectory {
    let directory: BenchmarkDirectory
    let keys: [String]
    let names: RawNames
    /// The indices of the keys, the least recently used first.
    let order: [Int]

    init(_ options: DiskOptions, _ count: Int) {
      directory = BenchmarkDirectory(options, "latency")
      keys = BenchmarkKeys.make(count)
      names = RawNames(ofKeys: keys)
      order = Array(0..<count).shuffled()
      let start = Int(time(nil)) - count
      var accesses = [Int](repeating: 0, count: count)
      for (place, index) in order.enumerated() { accesses[index] = start + place }
      directory.fill(names, byteCount: options.byteCounts.first ?? 100, accesses: accesses)
      sync()
    }
  }

  /// The operations to measure: one store for every nine reads.
  private struct Calls {
    let read: (Int) throws -> Void
    let store: (Int) throws -> Void

    init(read: @escaping (Int) throws -> Void, store: @escaping (Int) throws -> Void) {
      self.read = read
      self.store = store
    }

    /// Calls both while another thread runs something.
    func sample(during work: @escaping @Sendable () throws -> Void) throws -> Samples {
      let isDone = Flag()
      BenchmarkThreads.startDetached {
        do { try work() } catch { fail("\(error)", 4) }
        isDone.set()
      }
      return try sample { _ in !isDone.isSet }
    }

    /// Calls both while a condition on the number of calls holds.
    func sample(while condition: (Int) -> Bool) throws -> Samples {
      var samples = Samples()
      var number = 0
      while condition(number) {
        let start = ContinuousClock.now
        if number % 10 == 0 {
          try store(number)
          samples.stores.append((ContinuousClock.now - start) / .nanoseconds(1))
        } else {
          try read(number)
          samples.reads.append((ContinuousClock.now - start) / .nanoseconds(1))
        }
        number += 1
      }
      return samples
    }
  }
}
