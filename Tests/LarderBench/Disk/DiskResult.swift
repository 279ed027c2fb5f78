/// One figure, beside those of raw system calls in the same rounds.
struct DiskResult {
  let name: String
  let entries: Int
  let byteCount: Int?
  var threads = 1
  /// The nanoseconds of each round, per operation, or in all if the round is one operation.
  var ours: [Double] = []
  /// Likewise, of the fewest calls after which a user has the same value.
  var least: [Double] = []
  /// Likewise, of calls that do what the cache does. Empty if these are no others.
  var same: [Double] = []

  /// Adds the times of a round of a number of operations.
  mutating func add(_ times: Interleaving.Times, count: Int = 1) {
    let each = { (time: Duration) in time / .nanoseconds(1) / Double(count) }
    ours.append(each(times.ours))
    least.append(each(times.least))
    if let time = times.same { same.append(each(time)) }
  }

  var nanoseconds: Double { ours.median }
  /// The median of the rounds' ratios, because disturbances in a round affect all sides.
  var ratioToLeast: Double { zip(ours, least).map { $0 / $1 }.median }
  /// The same for the calls that do what the cache does; NaN if these are no others.
  var ratioToSame: Double { zip(ours, same).map { $0 / $1 }.median }
}

extension [Double] {
  /// The median; of an even number of elements, the higher of the middle two.
  var median: Double {
    let sorted = sorted()
    return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
  }

  /// Returns the value below which a share of the elements lies.
  func quantile(_ share: Double) -> Double {
    let sorted = sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted[Swift.min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }
}
