/// One figure, beside that of raw system calls in the same rounds.
struct DiskResult {
  let name: String
  let entries: Int
  let byteCount: Int?
  var threads = 1
  /// The nanoseconds of each round, per operation, or in all if the round is one operation.
  var ours: [Double] = []
  var raw: [Double] = []

  /// Adds the nanoseconds of a round.
  mutating func add(_ ours: Double, raw: Double) {
    self.ours.append(ours)
    self.raw.append(raw)
  }

  /// Adds the times of a round of a number of operations.
  mutating func add(_ times: Interleaving.Times, count: Int) {
    add(
      times.ours / .nanoseconds(1) / Double(count), raw: times.raw / .nanoseconds(1) / Double(count)
    )
  }

  var nanoseconds: Double { ours.median }
  var rawNanoseconds: Double { raw.median }
  /// The median of the rounds' ratios, because disturbances in a round affect both sides.
  var ratio: Double { zip(ours, raw).map { $0 / $1 }.median }
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
