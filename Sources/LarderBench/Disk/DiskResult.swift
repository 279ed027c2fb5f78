/// One figure beside that of the raw system calls of the same rounds.
struct DiskResult {
  let name: String
  let entries: Int
  let byteCount: Int?
  var threads = 1
  /// Per operation, or for the whole where the operation is one; one of each a round.
  var ours: [Double] = []
  var raw: [Double] = []

  /// Adds what a round took.
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
  /// The median of the rounds' ratios: the two sides of one round had the same disturbances.
  var ratio: Double { zip(ours, raw).map { $0 / $1 }.median }
}

extension [Double] {
  /// The middle one, of an even number the later of the two.
  var median: Double {
    let sorted = sorted()
    return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
  }

  /// The value below which a share of all lies.
  func quantile(_ share: Double) -> Double {
    let sorted = sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted[Swift.min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }
}
