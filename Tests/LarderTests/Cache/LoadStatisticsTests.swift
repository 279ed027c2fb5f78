import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// The events that increase each counter of `LoadStatistics`.
@Suite(.watched)
struct LoadStatisticsTests {}

extension LoadStatisticsTests {
  struct Failure: Error {}

  struct Row: Sendable, CustomTestStringConvertible {
    let counter: String
    /// Triggers the row's event, on a cache whose only value is `expired`, which expired 5 s ago.
    let event: @Sendable (Cache<String>) async throws -> Void
    let value: @Sendable (LoadStatistics) -> Int
    var expected = 1

    var testDescription: String { counter }
  }

  static let rows = [
    Row(
      counter: "started", event: { _ = try await $0.value(forKey: "key") { "value" } },
      value: { $0.started }),
    Row(
      counter: "started", event: { _ = try await $0.value(forKey: "key") { throw Failure() } },
      value: { $0.started }),
    Row(
      counter: "started",
      event: { cache in
        for _ in 0..<3 { _ = try await cache.value(forKey: "key") { "value" } }
      }, value: { $0.started }),
    Row(
      counter: "succeeded", event: { _ = try await $0.value(forKey: "key") { "value" } },
      value: { $0.succeeded }),
    Row(
      counter: "failed", event: { _ = try await $0.value(forKey: "key") { throw Failure() } },
      value: { $0.failed }),
    Row(
      counter: "unstored",
      event: { cache in
        let value = try await cache.value(forKey: "key") {
          try await cache.close()
          return "value"
        }
        #expect(value == "value")
        #expect(cache.statistics.disk.upkeepFailures == [:])
      }, value: { $0.unstored }),
    Row(
      counter: "renewed",
      event: { cache in
        let value = try await cache.value(forKey: "expired") { _ in .notModified() }
        #expect(value == "old")
      }, value: { $0.renewed }),
    Row(
      counter: "joined",
      event: { cache in
        let gate = AsyncGate()
        let first = Task {
          try await cache.value(forKey: "key") {
            await gate.wait()
            return "value"
          }
        }
        try await eventually("a waiter") { () async in cache.flights.waiterCount >= 1 }
        let second = Task { try await cache.value(forKey: "key") { "another" } }
        try await eventually("two waiters") { () async in cache.flights.waiterCount >= 2 }
        gate.open()
        let values = [try await first.value, try await second.value]
        #expect(values == ["value", "value"])
      }, value: { $0.joined }),
    Row(
      counter: "servedStale",
      event: { cache in
        let options = LoadOptions.staleWhileRevalidating(.seconds(30))
        let value = try await cache.value(forKey: "expired", options: options) { "new" }
        #expect(value == "old")
      }, value: { $0.servedStale }),
    Row(
      counter: "servedFailures",
      event: { cache in
        let options = LoadOptions.keepingFailures(for: .seconds(30))
        for _ in 0..<2 {
          await #expect(throws: Failure.self) {
            try await cache.value(forKey: "key", options: options) { throw Failure() }
          }
        }
      }, value: { $0.servedFailures }),
    Row(
      counter: "time", event: { _ = try await $0.value(forKey: "key") { "value" } },
      value: { $0.time > .zero ? 1 : 0 }),
  ]

  @Test(arguments: rows)
  func `an event bumps the counter that the documentation names`(row: Row) async throws {
    let scene = try DiskScene()
    var configuration = CacheConfiguration()
    configuration.disk.clock = scene.clock.wallClock
    configuration.disk.expiredGrace = .seconds(60)
    let cache = try Cache(directory: scene.path, coder: .string, configuration: configuration)
    try await cache.store("old", forKey: "expired", expiration: .seconds(10))
    scene.clock.advance(by: .seconds(15))
    do { try await row.event(cache) } catch is Failure {}
    #expect(row.value(cache.statistics.loads) == row.expected)
  }

  @Test func `every counter has an event here, or where loads are shared`() throws {
    let names = try DeclaredCounters.names(in: "Larder/LoadOptions.swift")
    #expect(Set(names) == Set(Self.rows.map(\.counter)).union(["awaited", "unshared"]))
    #expect(names.count > 10)
  }
}
