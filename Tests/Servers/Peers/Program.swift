// Measures the stores in turns, and prints a table for people or lines for a script.
import Foundation
import Larder
import Synchronization

#if canImport(GRDB)
  let kinds: [any Store.Type] = [
    LarderStore.self, SQLite.self, SQLiteWithUses.self, GRDBStore.self, FoundationFiles.self,
  ]
#else
  let kinds: [any Store.Type] = [
    LarderStore.self, SQLite.self, SQLiteWithUses.self, FoundationFiles.self,
  ]
#endif

@main
struct Peers {
  static let pieceLength = 250

  static func main() throws {
    let arguments = CommandLine.arguments
    let (directory, count) = (arguments[1], Int(arguments[2]) ?? 10_000)
    var rows = [(name: String, values: [Double])]()
    let folders = try kinds.indices.map { index in
      let folder = "\(directory)/\(index)"
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
      return folder
    }
    var stores = try zip(kinds, folders).map { try $0.init(directory: $1) }
    func row(
      _ name: String, _ numbers: some Sequence<Int>,
      _ work: (any Store, String, [UInt8]) throws -> Void
    ) rethrows {
      rows.append((name, try typicalTimes(stores, Array(numbers), work)))
    }
    try row("store, new", 0..<count) { try $0.store($2, forKey: $1) }
    let some = (0..<min(count, 20_000)).map { $0 * 7919 % count }
    try row("store, over", some) { try $0.store($2, forKey: $1) }
    try row("read", some) { store, key, _ in
      guard try store.read(forKey: key) == 1024 else {
        throw Failure(what: "no value in \(type(of: store))")
      }
    }
    try row("miss", some.map { $0 + count }) { store, key, _ in
      guard try store.read(forKey: key) == nil else {
        throw Failure(what: "a value in \(type(of: store))")
      }
    }
    stores = []
    rows.append(("open, first value", try openingTimes(folders, count)))
    rows.append(("remove half, of each", try removingTimes(folders, count)))
    print("us\t" + kinds.map { $0.title }.joined(separator: "\t"))
    for (name, values) in rows {
      print("\(name)\t" + values.map { String(format: "%.2f", $0) }.joined(separator: "\t"))
    }
    printMemory()
  }

  static func key(_ number: Int) -> String {
    "https://api.example.com/v1/users/\(String(format: "%017d", number))?full=1"
  }

  static func value(_ number: Int) -> [UInt8] {
    (0..<1024).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
  }

  static func microseconds(_ work: () throws -> Void) rethrows -> Double {
    let time = try ContinuousClock().measure(work)
    return Double(time.components.attoseconds) / 1e12 + Double(time.components.seconds) * 1e6
  }

  /// The medians of the time of a call. The stores take turns, in pieces.
  static func typicalTimes(
    _ stores: [any Store], _ numbers: [Int], _ work: (any Store, String, [UInt8]) throws -> Void
  ) rethrows -> [Double] {
    var times = stores.map { _ in [Double]() }
    for start in stride(from: 0, to: numbers.count, by: pieceLength) {
      let piece = numbers[start..<min(start + pieceLength, numbers.count)]
      let entries = piece.map { (key($0), value($0)) }
      for (index, store) in stores.enumerated() {
        let time = try microseconds { for (key, value) in entries { try work(store, key, value) } }
        times[index].append(time / Double(piece.count))
      }
    }
    return times.map { $0.sorted()[$0.count / 2] }
  }

  static func openingTimes(_ folders: [String], _ count: Int) throws -> [Double] {
    try zip(kinds, folders).map { kind, folder in
      let times = try (0..<5).map { round in
        // Closed after the measurement.
        var store: (any Store)?
        defer { withExtendedLifetime(store) {} }
        return try microseconds {
          store = try kind.init(directory: folder)
          guard try store?.read(forKey: key(round * 7919 % count)) == 1024 else {
            throw Failure(what: "no value in \(kind)")
          }
        }
      }
      return times.sorted()[2]
    }
  }

  static func removingTimes(_ folders: [String], _ count: Int) throws -> [Double] {
    try zip(kinds, folders).map { kind, folder in
      let store = try kind.init(directory: folder)
      try store.finishOpening()
      return try microseconds { try store.removeHalf() } / Double(count / 2)
    }
  }

  static func printMemory() {
    let count = 10_000
    let (memory, cache) = (MemoryCache<String, [UInt8]>(), NSCache<NSString, NSData>())
    let locked = Mutex([String: [UInt8]]())
    let keys = (0..<count).map { key($0) }
    for number in 0..<count {
      memory.store(value(number), forKey: keys[number])
      cache.setObject(Data(value(number)) as NSData, forKey: keys[number] as NSString)
      locked.withLock { $0[keys[number]] = value(number) }
    }
    var found = 0
    let reads: [(String) -> Void] = [
      { if memory.value(forKey: $0) != nil { found += 1 } },
      { if cache.object(forKey: $0 as NSString) != nil { found += 1 } },
      { key in if locked.withLock({ $0[key] }) != nil { found += 1 } },
    ]
    var times = reads.map { _ in [Double]() }
    for _ in 0..<21 {
      for (index, read) in reads.enumerated() {
        times[index].append(microseconds { for key in keys { read(key) } } / Double(count))
      }
    }
    print("us\tMemoryCache\tNSCache\tdictionary and lock, evicts nothing")
    let medians = times.map { String(format: "%.3f", $0.sorted()[$0.count / 2]) }
    print("hit in memory\t" + medians.joined(separator: "\t"))
    if found != count * 21 * 3 { print("some were not there: \(found)") }
  }
}
