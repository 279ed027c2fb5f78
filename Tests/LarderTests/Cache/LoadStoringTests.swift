import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// A loaded value whose store needs more than one attempt.
@Suite(.watched)
struct `A load whose first link fails` {
  private let directory: TemporaryDirectory
  private let faults = FaultInjector()
  private let cache: Cache<String>

  init() throws {
    directory = try TemporaryDirectory()
    var configuration = CacheConfiguration()
    configuration.disk.faults = faults
    configuration.disk.coherence = .none
    cache = try Cache(
      directory: directory.path + "/cache", coder: .string, configuration: configuration)
  }
}

extension `A load whose first link fails` {
  /// Stores values for the evictor to remove.
  private func fill() throws {
    for number in 0..<10 { try cache.store("old", forKey: "\(number)") }
    _ = try cache.disk.count()
  }

  @Test func `is stored after the eviction that made room for it`() async throws {
    try fill()
    faults.plan(.errno(.noSpace), for: .linkat, at: 1)
    #expect(try await cache.value(forKey: "k") { "loaded" } == "loaded")
    #expect(faults.struckCount == 1)
    #expect(cache.disk.statistics.rejections == [:])
    cache.memory.removeAll()
    #expect(try await cache.value(forKey: "k") == "loaded")
    try await cache.close()
  }

  @Test func `is stored through a temporary with a name`() async throws {
    faults.plan(.errno(.noSuchFile), for: .linkat, onwards: true)
    #expect(try await cache.value(forKey: "k") { "loaded" } == "loaded")
    cache.memory.removeAll()
    #expect(try await cache.value(forKey: "k") == "loaded")
    try await cache.close()
  }

  @Test func `gives way to what was stored between its attempts`() async throws {
    try fill()
    faults.plan(.errno(.noSpace), for: .linkat, at: 1)
    let store: @Sendable () -> Void = { [cache] in
      do {
        try cache.store("stored", forKey: "k")
      } catch {
        Issue.record(error)
      }
    }
    faults.plan(.before(store), for: .unlinkat, at: 1)
    #expect(try await cache.value(forKey: "k") { "loaded" } == "loaded")
    #expect(try await cache.value(forKey: "k") == "stored")
    try await cache.close()
  }
}
