import Glibc
import Larder

/// Measures what reads and stores take while half of a directory is being evicted.
struct EvictionLatency {
  private let options: DiskOptions

  init(_ options: DiskOptions) {
    self.options = options
  }

  /// What one operation took each time, in nanoseconds.
  private struct Samples {
    var reads: [Double] = []
    var stores: [Double] = []

    func line(_ label: String) -> String {
      let figures = [0.5, 0.99, 0.999, 1].flatMap { share in
        [reads.quantile(share), stores.quantile(share)]
      }
      let cells = [label, "\(reads.count)"] + figures.map { ($0 / 1000).rounded(to: 1) }
      return cells.map { String(repeating: " ", count: max(0, 11 - $0.count)) + $0 }.joined()
    }
  }

  /// Measures idle, then evicting, and prints both.
  func run() throws {
    print(
      "           operations  read p50  store p50   read p99  store p99  read 99.9 store 99.9"
        + "  read max  store max  µs")
    for count in options.entries.isEmpty ? [1_000_000] : options.entries {
      let (idle, evicting) = try measure(count)
      print(idle.line("idle"))
      print(evicting.line("evicting"))
      let reads = evicting.reads.quantile(0.99) / idle.reads.quantile(0.99)
      let stores = evicting.stores.quantile(0.99) / idle.stores.quantile(0.99)
      print(
        "p99 while evicting \(count / 2): reads × \(reads.rounded(to: 2)),",
        "stores × \(stores.rounded(to: 2))")
    }
  }

  private func measure(_ count: Int) throws -> (Samples, Samples) {
    let directory = BenchmarkDirectory(options, "latency")
    defer { directory.removeAll() }
    let keys = (0..<count).map { "https://example.com/item/\($0)" }
    let start = Int(time(nil)) - count
    let order = Array(0..<count).shuffled()
    var accesses = [Int](repeating: 0, count: count)
    for (place, index) in order.enumerated() { accesses[index] = start + place }
    directory.fill(
      RawNames(ofKeys: keys), byteCount: options.byteCounts.first ?? 100, accesses: accesses)
    sync()
    let cache = try DiskCache(
      directory: directory.path, configuration: DiskCache.Configuration(sizeLimit: nil))
    _ = try cache.count()
    // What is read is used last, and stays.
    let kept = order.suffix(min(1000, count / 4)).map { keys[$0] }
    let first = try sample(cache, kept) { $0 < 20_000 }
    let isDone = Flag()
    BenchmarkThreads.startDetached {
      do { _ = try cache.trim(toCount: count - count / 2) } catch { fail("\(error)", 4) }
      isDone.set()
    }
    let second = try sample(cache, kept) { _ in !isDone.isSet }
    try cache.close()
    return (first, second)
  }

  /// One store for nine reads, until a condition on their number ends.
  private func sample(
    _ cache: DiskCache, _ keys: [String], while condition: (Int) -> Bool
  ) throws -> Samples {
    var samples = Samples()
    var number = 0
    let value = [UInt8](repeating: 1, count: 1024)
    while condition(number) {
      let start = ContinuousClock.now
      if number % 10 == 0 {
        try cache.store(value, forKey: "new \(number % 10_000)")
        samples.stores.append((ContinuousClock.now - start) / .nanoseconds(1))
      } else {
        _ = try cache.value(forKey: keys[number % keys.count])
        samples.reads.append((ContinuousClock.now - start) / .nanoseconds(1))
      }
      number += 1
    }
    return samples
  }
}
