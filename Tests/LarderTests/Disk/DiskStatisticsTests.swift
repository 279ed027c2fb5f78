import Foundation
import Testing

@testable import Larder

/// Which event bumps which counter, as the documentation of `DiskStatistics` lists it.
struct DiskStatisticsTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let counter: String
    /// Does what the row says, on a cache that holds `key` and has a limit of 100 bytes.
    let event: @Sendable (DiskScene, DiskCache) throws -> Void
    /// The counter's value.
    let value: @Sendable (DiskStatistics) -> Int
    var expected = 1

    var testDescription: String { counter }
  }

  static let rows = [
    Row(counter: "hits", event: { _ = try $1.value(forKey: "key") }, value: { $0.hits }),
    Row(counter: "hits", event: { _ = try $1.read(forKey: "key") }, value: { $0.hits }),
    Row(
      counter: "hits", event: { _ = try $1.withFile(forKey: "key") { $0.byteCount } },
      value: { $0.hits }),
    Row(
      counter: "misses", event: { _ = try $1.value(forKey: "other") },
      value: { $0.misses[.absent, default: 0] }),
    Row(
      counter: "misses",
      event: {
        $0.clock.advance(by: .seconds(8 * 86_400))
        _ = try $1.value(forKey: "key")
      }, value: { $0.misses[.expired, default: 0] }),
    Row(
      counter: "stores", event: { try $1.store([1], forKey: "other") }, value: { $0.stores },
      expected: 2),
    Row(
      counter: "rejections",
      event: { try $1.store([UInt8](repeating: 0, count: 101), forKey: "other") },
      value: { $0.rejections[.tooLarge, default: 0] }),
    Row(
      counter: "rejections",
      event: { try $1.store([1], forKey: "other", expiration: .expired) },
      value: { $0.rejections[.expired, default: 0] }),
    Row(
      counter: "rejections", event: { try $1.storeIfAbsent([1], forKey: "key") },
      value: { $0.rejections[.alreadyPresent, default: 0] }),
    Row(
      counter: "removals", event: { try $1.remove(forKey: "key") },
      value: { $0.removals[.explicit, default: 0] }),
    Row(
      counter: "removals", event: { try $1.store([2], forKey: "key") },
      value: { $0.removals[.replaced, default: 0] }),
    Row(
      counter: "removals",
      event: {
        $0.clock.advance(by: .seconds(8 * 86_400))
        try $1.removeExpired()
      }, value: { $0.removals[.expired, default: 0] }),
    Row(
      counter: "removals", event: { try $1.trim(toCount: 0) },
      value: { $0.removals[.evicted, default: 0] }),
    Row(
      counter: "purges",
      event: {
        _ = try $1.count()
        try $1.store([UInt8](repeating: 0, count: 98), forKey: "other")
      }, value: { $0.purges }),
    Row(
      counter: "bytesRead", event: { _ = try $1.value(forKey: "key") }, value: { $0.bytesRead },
      expected: 3),
    Row(
      counter: "bytesWritten", event: { try $1.store([1, 2], forKey: "other") },
      value: { $0.bytesWritten }, expected: 5),
    Row(
      counter: "stampsWritten",
      event: {
        $0.clock.advance(by: .seconds(61))
        _ = try $1.value(forKey: "key")
        try $1.flush()
      }, value: { $0.stampsWritten }),
    Row(
      counter: "stampsDropped",
      event: { scene, cache in
        scene.clock.advance(by: .seconds(61))
        _ = try cache.value(forKey: "key")
        try FileManager.default.removeItem(atPath: scene.file("key"))
        try cache.flush()
      }, value: { $0.stampsDropped }),
    Row(
      counter: "lostStores",
      event: { scene, cache in
        scene.faults.plan(.errno(.ioError), for: .write, onwards: true)
        let value: [UInt8] = [1]
        _ = try cache.engine.storeBehind(value.span, cache.request("k", nil, []), limit: 10)
        #expect(throws: CacheError.self) { try cache.flush() }
      }, value: { $0.lostStores }),
    Row(
      counter: "upkeepFailures",
      event: {
        $0.faults.plan(.errno(.ioError), for: .unlinkat)
        try $1.trim(toCount: 0)
      }, value: { $0.upkeepFailures[.ioError, default: 0] }),
  ]

  @Test(arguments: rows)
  func `an event bumps the counter that the documentation names`(row: Row) throws {
    let scene = try DiskScene()
    let cache = try scene.open { $0.sizeLimit = 100 }
    try cache.store([1, 2, 3], forKey: "key")
    try row.event(scene, cache)
    #expect(row.value(cache.statistics) == row.expected)
  }

  @Test func `every counter of the documentation's list has an event here`() throws {
    let source = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent(
        "Sources/Larder/Disk/DiskStatistics.swift")
    let text = try String(contentsOf: source, encoding: .utf8)
    let names = text.split(separator: "\n").filter { $0.hasPrefix("/// | `") }
      .flatMap { line in
        line.split(separator: "|")[1].split(separator: "`").enumerated()
          .filter { $0.offset % 2 == 1 }.map { String($0.element) }
      }
    #expect(Set(names) == Set(Self.rows.map(\.counter)))
    #expect(names.count > 5)
  }
}
