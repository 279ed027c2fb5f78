import Glibc

/// The keys of a measurement, which look like URLs, and the order of their use.
struct KeyStream {
  // The same seed gives the same keys in every run, for every cache.
  private var random: SeededRandom

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
  }

  /// Returns the key of a number: 40 to 80 bytes, the same each time, in memory of its own.
  static func key(_ number: Int) -> String {
    let scattered = UInt64(truncatingIfNeeded: number) &* 0x9e37_79b9_7f4a_7c15
    let path = String(scattered, radix: 36)
    let padding = String(repeating: "/images", count: Int(scattered >> 60) % 5)
    return "https://cdn.example.com\(padding)/\(path)/\(number).jpeg"
  }

  /// Returns the keys of numbers, each in memory of its own, so that no lookup is faster because of
  /// a shared string.
  static func keys(_ numbers: [Int]) -> [String] { numbers.map(key) }

  /// Returns the numbers below `count` in random order.
  mutating func shuffled(_ count: Int) -> [Int] {
    var numbers = Array(0..<count)
    numbers.shuffle(using: &random)
    return numbers
  }

  /// Returns numbers below `count`. The *k*-th most frequent occurs *k*⁻⁰·⁹⁹ times as often as the
  /// first.
  mutating func zipf(_ count: Int, length: Int) -> [Int] {
    var sums: [Double] = []
    sums.reserveCapacity(count)
    var sum = 0.0
    for rank in 1...count {
      sum += pow(Double(rank), -0.99)
      sums.append(sum)
    }
    let order = shuffled(count)
    return (0..<length).map { _ in
      order[Self.firstIndex(in: sums, above: Double.random(in: 0..<sum, using: &random))]
    }
  }

  /// Returns the first index of a larger sum, by bisection, because the sums ascend.
  private static func firstIndex(in sums: [Double], above value: Double) -> Int {
    var (low, high) = (0, sums.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] > value { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
