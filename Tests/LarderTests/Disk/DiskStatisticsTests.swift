import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// The events that increase each counter of `DiskStatistics`.
struct DiskStatisticsTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let counter: String
    /// Triggers the row's event, on a cache that holds `key` and has a limit of 100 bytes.
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
        let behind = WriteBehind(cache.engine, limit: 1000)
        _ = try behind.store(value.span, cache.request("k", nil, []))
        behind.writeAll()
        #expect(throws: CacheError.self) { try behind.throwLoss() }
      }, value: { $0.lostStores }),
    Row(
      counter: "vainEvictions",
      event: { scene, cache in
        _ = try cache.count()
        scene.faults.plan(.errno(.noSpace), for: .write, onwards: true)
        #expect(throws: CacheError.self) { try cache.store([1], forKey: "other") }
      }, value: { $0.vainEvictions }),
    Row(
      counter: "evictionTime", event: { try $1.trim(toCount: 0) },
      value: { $0.evictionTime > .zero ? 1 : 0 }),
    Row(
      counter: "evictionAge",
      event: {
        $0.clock.advance(by: .seconds(9))
        try $1.trim(toCount: 0)
      }, value: { Int($0.evictionAge?.components.seconds ?? 0) }, expected: 9),
    Row(
      counter: "moreHitsAtDoubleLimit",
      event: {
        _ = try $1.count()
        try $1.store([UInt8](repeating: 0, count: 98), forKey: "other")
        try $1.flush()
        _ = try $1.value(forKey: "key")
      }, value: { $0.moreHitsAtDoubleLimit }),
    Row(
      counter: "moreHitsAtFourfoldLimit",
      event: {
        _ = try $1.count()
        try $1.store([UInt8](repeating: 0, count: 98), forKey: "other")
        try $1.flush()
        _ = try $1.value(forKey: "key")
      }, value: { $0.moreHitsAtFourfoldLimit }),
    Row(
      counter: "errors",
      event: { scene, cache in
        scene.faults.plan(.errno(.ioError), for: .write)
        #expect(throws: CacheError.self) { try cache.store([1], forKey: "other") }
      }, value: { $0.errors[.ioError, default: 0] }),
    Row(
      counter: "errors",
      event: { scene, cache in
        // Waits for the scan that the store began, because it opens files too.
        _ = try cache.count()
        scene.faults.plan(.errno(.tooManyOpenFiles), for: .openat)
        #expect(throws: CacheError.self) { try cache.value(forKey: "key") }
      }, value: { $0.errors[.tooManyOpenFiles, default: 0] }),
    Row(
      counter: "errors",
      event: { scene, cache in
        scene.faults.plan(.errno(.permissionDenied), for: .unlinkat)
        #expect(throws: CacheError.self) { try cache.remove(forKey: "key") }
      }, value: { $0.errors[.permissionDenied, default: 0] }),
    // A failure whose second attempt succeeds is not an error.
    Row(
      counter: "errors",
      event: { scene, cache in
        _ = try cache.count()
        scene.faults.plan(.errno(.noSpace), for: .write)
        try cache.store([1], forKey: "other")
      }, value: { $0.errors.values.reduce(0, +) }, expected: 0),
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

  /// What is no count of events, or is of asynchronous reads, which other tests make.
  private static let others: Set = [
    "evictionOrder", "promptReads", "switchedReads", "scan", "foreignCount", "isDirectoryUnsafe",
  ]

  @Test func `every counter has an event here`() throws {
    let names = try DeclaredCounters.names(in: "LarderDisk/DiskStatistics.swift")
    #expect(Set(names) == Set(Self.rows.map(\.counter)).union(Self.others))
    #expect(names.count > 20)
  }

  @Test func `print shows every public counter`() throws {
    let counters = try DeclaredCounters.names(in: "LarderDisk/DiskStatistics.swift")
    let shown = Mirror(reflecting: DiskStatistics()).children.compactMap(\.label)
    #expect(shown.sorted() == counters.sorted())
  }
}
