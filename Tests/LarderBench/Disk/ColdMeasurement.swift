import Glibc
import Larder

/// The measurement of one side in one process.
struct ColdMeasurement {
  static let sides = ["disk", "left", "kept"]

  private let side: String
  private let cache: Cache<[UInt8]>
  private let raw: Int32
  private let keys: [String]
  private let names: RawNames
  private let byteCount: Int

  /// Opens the directory, in which each value has been stored, and reads each value once, so that
  /// none has to be checked any more.
  init(_ side: String, _ path: String, byteCount: Int, count: Int) throws {
    guard Self.sides.contains(side) else { throw UsageError() }
    self.side = side
    self.byteCount = byteCount
    keys = BenchmarkKeys.make(count)
    names = RawNames(ofKeys: keys)
    raw = RawCalls.openDirectory(path)
    var configuration = CacheConfiguration()
    configuration.disk.sizeLimit = 1 << 50
    configuration.memoryCostLimit = nil
    configuration.memoryEntryCostLimit = side == "kept" ? .unlimited : .bytes(0)
    cache = try Cache(directory: path, coder: .bytes, configuration: configuration)
    try read(0..<count) { try cache.disk.value(forKey: $0) }
  }

  /// Reads each value once, and then once more from memory if it keeps them. Returns nanoseconds
  /// per read.
  func run() throws -> [(String, Double)] {
    defer { close(raw) }
    let times = try Interleaving(isByTypicalPiece: true).run(keys.count) { range in
      if side == "disk" {
        try read(range) { try cache.disk.value(forKey: $0) }
      } else {
        try read(range) { try cache.value(forKey: $0) }
      }
    } least: { range in
      for index in range {
        precondition(unsafe RawCalls.read(raw, names[index]).count == byteCount, "a file is short")
      }
    }
    var results = [("raw", times.least), (side, times.ours)]
    if side == "kept" {
      let times = try Interleaving(isByTypicalPiece: true).run(keys.count) { range in
        try read(range) { try cache.value(forKey: $0) }
      } least: { _ in
      }
      results.append(("hit", times.ours))
    }
    try cache.close()
    return results.map { ($0, $1 / .nanoseconds(1) / Double(keys.count)) }
  }

  @inline(__always)
  private func read(_ range: Range<Int>, _ read: (String) throws -> [UInt8]?) rethrows {
    for index in range {
      let value = try read(keys[index])
      precondition(value?.count == byteCount, "a value is missing")
    }
  }
}
