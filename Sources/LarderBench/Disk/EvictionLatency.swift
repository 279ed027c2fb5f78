import Glibc
import Larder

/// The benchmark of reads and stores while half of a directory is being evicted.
///
/// Beside it, raw system calls are measured while another thread unlinks the same files. They show
/// the share of the waiting that is due to the kernel.
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
      let cells = [label, "\(reads.count)"] + figures.map { ($0 / 1000).rounded(to: 1) }
      return cells.map { String(repeating: " ", count: max(0, 13 - $0.count)) + $0 }.joined()
    }
  }

  /// Measures the cache and raw system calls, each idle and while evicting, and prints all four.
  func run() throws {
    print(
      [
        "µs", "operations", "read p50", "store p50", "read p99", "store p99", "read 99.9",
        "store 99.9", "read max", "store max",
      ].map { String(repeating: " ", count: 13 - $0.count) + $0 }.joined())
    for count in options.entries.isEmpty ? [1_000_000] : options.entries {
      try show(count, "larder", measure)
      try show(count, "raw", measureRaw)
    }
  }

  private func show(
    _ count: Int, _ side: String, _ measure: (Int) throws -> (Samples, Samples)
  ) throws {
    let (idle, evicting) = try measure(count)
    print(idle.line("\(side), idle"))
    print(evicting.line("evicting"))
    let reads = evicting.reads.quantile(0.99) / idle.reads.quantile(0.99)
    let stores = evicting.stores.quantile(0.99) / idle.stores.quantile(0.99)
    print(
      "\(side), p99 while evicting \(count / 2): reads × \(reads.rounded(to: 2)),",
      "stores × \(stores.rounded(to: 2))")
  }

  private func measure(_ count: Int) throws -> (Samples, Samples) {
    let filled = FilledDirectory(options, count)
    defer { filled.directory.removeAll() }
    let cache = try DiskCache(
      directory: filled.directory.path, configuration: DiskCache.Configuration(sizeLimit: nil))
    _ = try cache.count()
    // The entries to read are the most recently used, so they are not evicted.
    let kept = filled.order.suffix(min(1000, count / 4)).map { filled.keys[$0] }
    let calls = Calls {
      _ = try cache.value(forKey: kept[$0 % kept.count])
    } store: {
      try cache.store(Self.value, forKey: "new \($0 % 10_000)")
    }
    let first = try calls.sample { $0 < 20_000 }
    let isDone = Flag()
    BenchmarkThreads.startDetached {
      do { _ = try cache.trim(toCount: count - count / 2) } catch { fail("\(error)", 4) }
      isDone.set()
    }
    let second = try calls.sample { _ in !isDone.isSet }
    try cache.close()
    return (first, second)
  }

  /// Measures raw system calls while a thread unlinks the files that the cache would evict.
  private func measureRaw(_ count: Int) throws -> (Samples, Samples) {
    let filled = FilledDirectory(options, count)
    defer { filled.directory.removeAll() }
    let directory = RawCalls.openDirectory(filled.directory.path)
    defer { close(directory) }
    let (names, order) = (filled.names, filled.order)
    let kept = Array(order.suffix(min(1000, count / 4)))
    let new = RawNames(ofKeys: (0..<10_000).map { "new \($0)" })
    let attribute = Array("1 0123456789abcdef 604800 =new 1000".utf8)
    let now = Int(time(nil))
    let times = [timespec(tv_sec: now, tv_nsec: 1), timespec(tv_sec: now + 604_800, tv_nsec: 1)]
    let calls = Calls {
      _ = unsafe RawCalls.read(directory, names[kept[$0 % kept.count]])
    } store: {
      unsafe RawCalls.store(directory, new[$0 % 10_000], Self.value, attribute, times)
    }
    let first = try calls.sample { $0 < 20_000 }
    let isDone = Flag()
    BenchmarkThreads.startDetached {
      for index in order.prefix(count / 2) { unsafe RawCalls.remove(directory, names[index]) }
      isDone.set()
    }
    return (first, try calls.sample { _ in !isDone.isSet })
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
      keys = (0..<count).map { "https://example.com/item/\($0)" }
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
