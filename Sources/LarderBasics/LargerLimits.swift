package import LarderSystem

/// The hits that a cache would have had with twice and with four times its limits.
///
/// What evicts the least recently used holds, with larger limits, all that it holds with smaller
/// ones, and of what those evicted the latest. So the evicted entries stand here in the order in
/// which they went, and each larger cache has a place from which on it would have them still:
///
/// ```
///  evicted   oldest … ┊ … ┊ … newest   then the entries
///                     4   2            times the limits
/// ```
///
/// If that exceeds its limits, its place moves on, down to the share that an eviction leaves.
///
/// At most 8,192 stand here, in less than 1 MiB. If more were evicted, only every second is taken,
/// by its digest, and counts twice; then every fourth, and so on.
package struct LargerLimits: Sendable {
  private struct Evicted: Sendable {
    let digest: UInt64
    let byteCount: Double
    /// In the past if its miss was counted.
    var expiry: Timestamp
  }

  /// A cache with larger limits.
  private struct Larger: Sendable {
    let factor: Double
    /// The number of the first evicted entry that it would have.
    var start = 0
    /// What it would have beside the entries.
    var totals = SIMD2(0.0, 0)
  }

  private static let most = 8192
  private var evicted: [Evicted] = []
  /// The number of the first of them. They are numbered in the order in which they went.
  private var first = 0
  /// The numbers by digest. One that was stored again has none.
  private var numbers: [UInt64: Int] = [:]
  private var caches = [Larger(factor: 2), Larger(factor: 4)]
  /// The number of entries for which each stands: a power of two.
  private var weight = 1

  /// Creates larger caches that have nothing more.
  package init() {}

  /// Notes that an entry was evicted.
  package mutating func note(_ digest: UInt64, byteCount: UInt64, expiry: Timestamp) {
    forget(digest)
    if evicted.count >= Self.most { thin() }
    append(Evicted(digest: digest, byteCount: Double(byteCount), expiry: expiry)) { _ in true }
  }

  private mutating func append(_ entry: Evicted, isKept: (_ index: Int) -> Bool) {
    guard entry.digest & UInt64(weight - 1) == 0 else { return }
    numbers[entry.digest] = first + evicted.count
    evicted.append(entry)
    for index in caches.indices {
      if isKept(index) {
        caches[index].totals += SIMD2(entry.byteCount, 1)
      } else {
        caches[index].start = first + evicted.count
      }
    }
  }

  /// Forgets an entry that was stored again, or removed otherwise.
  package mutating func forget(_ digest: UInt64) {
    guard !numbers.isEmpty, let number = numbers.removeValue(forKey: digest) else { return }
    for index in caches.indices where number >= caches[index].start {
      caches[index].totals -= SIMD2(evicted[number - first].byteCount, 1)
    }
  }

  /// Counts a miss, once for each entry that was evicted.
  ///
  /// - Returns: The number of misses that it stands for and that would have been hits with twice
  ///   and with four times the limits.
  package mutating func countMiss(
    _ digest: UInt64, at now: Timestamp
  ) -> (double: Int, fourfold: Int) {
    guard !numbers.isEmpty, let number = numbers[digest], evicted[number - first].expiry > now
    else { return (0, 0) }
    evicted[number - first].expiry = Timestamp(seconds: .min)
    let hits = caches.map { number >= $0.start ? weight : 0 }
    return (hits[0], hits[1])
  }

  /// Has each larger cache evict if it exceeds its limits.
  ///
  /// - Parameter share: The share of a limit that was exceeded down to which an eviction goes.
  package mutating func keepLimits(
    beside entries: (byteCount: UInt64, count: Int), limits: (byteCount: Int?, count: Int?),
    share: Double
  ) {
    if numbers.isEmpty {
      weight = 1
      return
    }
    let entries = SIMD2(Double(entries.byteCount), Double(entries.count))
    let limits = SIMD2(
      limits.byteCount.map(Double.init) ?? .infinity, limits.count.map(Double.init) ?? .infinity)
    for index in caches.indices {
      func excess(over share: Double) -> SIMDMask<SIMD2<Int64>> {
        entries + caches[index].totals * Double(weight) .> limits * caches[index].factor * share
      }
      let passed = excess(over: 1)
      while caches[index].start < first + evicted.count, any(passed .& excess(over: share)) {
        let (number, entry) = (caches[index].start, evicted[caches[index].start - first])
        if numbers[entry.digest] == number { caches[index].totals -= SIMD2(entry.byteCount, 1) }
        caches[index].start += 1
      }
    }
    let count = min(caches[0].start, caches[1].start) - first
    // No cache would have these. Many at once, because the rest moves.
    guard count >= 256 else { return }
    for (offset, entry) in evicted.prefix(count).enumerated()
    where numbers[entry.digest] == first + offset { numbers[entry.digest] = nil }
    evicted.removeFirst(count)
    first += count
  }

  /// Leaves out what was stored again, and half of the rest if that is much.
  private mutating func thin() {
    let old = self
    self = LargerLimits()
    weight = old.numbers.count > Self.most / 2 ? 2 * old.weight : old.weight
    for (number, entry) in zip(old.first..., old.evicted) where old.numbers[entry.digest] == number
    {
      append(entry) { number >= old.caches[$0].start }
    }
  }
}
