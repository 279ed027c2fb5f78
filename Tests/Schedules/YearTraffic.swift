#if LARDER_SCHEDULES
  @testable import LarderSystem

  /// The accesses of a year: those of traces, again and again, or drawn ones of which a few keys
  /// get most.
  struct YearTraffic: Sendable {
    /// The key and the length of each access of the traces.
    private let accesses: [(key: Int, byteCount: Int)]
    private var position: Int
    private var generator: SeededGenerator

    /// No value is longer.
    private static let largest = 4_096

    /// - Parameter traces: Files with an access in each line: a number, and a length where there
    ///   is one. Without them accesses are drawn.
    init(traces: [String], seed: UInt64) {
      generator = SeededGenerator(seed)
      accesses = traces.flatMap { path -> [(key: Int, byteCount: Int)] in
        Self.lines(of: path).compactMap { line in
          let numbers = line.split(separator: " ").compactMap { Int($0) }
          guard let key = numbers.first else { return nil }
          let byteCount = numbers.count > 1 ? numbers[1] : Self.byteCount(of: key)
          return (key, 16 + byteCount % (Self.largest - 16))
        }
      }
      position = 0
    }

    /// Goes to a place in the traces, because each worker begins elsewhere.
    mutating func start(at share: Double) { position = Int(Double(accesses.count) * share) }

    mutating func next() -> (key: Int, byteCount: Int) {
      if !accesses.isEmpty {
        position = (position + 1) % accesses.count
        return accesses[position]
      }
      // Half of the accesses go to the 32 hottest of 4,096 keys.
      var key = generator.below(4_096)
      for _ in 0..<7 where generator.once(in: 2) { key /= 2 }
      return (key, 16 + Self.byteCount(of: key) % (Self.largest - 16))
    }

    private static func byteCount(of key: Int) -> Int {
      Int(SeededGenerator.mixed(UInt64(key)) % 2_048)
    }

    private static func lines(of path: String) -> [Substring] {
      String(decoding: RawFiles.all(path), as: UTF8.self).split(separator: "\n")
    }
  }
#endif
