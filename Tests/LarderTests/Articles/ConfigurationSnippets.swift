import Larder
import LarderFixtures

// The articles' examples of settings. `ArticleTests` compares them with the articles line by line.

func openWithLimits(directory: String) async throws -> Cache<[UInt8]> {
  var configuration = CacheConfiguration()
  configuration.memoryCostLimit = 64 << 20
  configuration.disk.sizeLimit = 2 << 30
  configuration.disk.freeSpaceLimit = 1 << 30
  let pages = try Cache(directory: directory, coder: .bytes, configuration: configuration)
  return pages
}

func decline(_ configuration: inout CacheConfiguration) async throws {
  configuration.disk.shouldStore = { _, byteCount in byteCount <= 8 << 20 }
}

func store(_ bytes: [UInt8], in pages: Cache<[UInt8]>, url: String) async throws {
  switch try await pages.store(bytes, forKey: url) {
  case .stored, .pending: break
  case .rejected(let reason): print("not kept: \(reason)")
  }
}

func storeForATime(
  _ html: String, in pages: Cache<String>, url: String, midnight: Timestamp
) async throws {
  try await pages.store(html, forKey: url, expiration: .seconds(90))
  try await pages.store(html, forKey: url, expiration: .date(midnight))
}

func readExtending(_ pages: Cache<String>, url: String) async throws -> String? {
  let hit = try await pages.value(forKey: url, options: .extending(.lifetime))
  return hit
}

func setExtending(_ configuration: inout CacheConfiguration) async throws {
  configuration.disk.extending = .lifetime
}

func setClock(_ configuration: inout CacheConfiguration) async throws -> ManualClock {
  let clock = ManualClock(Timestamp(seconds: 1_800_000_000))
  configuration.disk.clock = clock.wallClock
  return clock
}

func move(_ clock: ManualClock) async throws {
  clock.advance(by: .seconds(3600))
}

func shareLoads() async throws -> Cache<String> {
  var configuration = CacheConfiguration()
  configuration.singleFlight = .directory
  let pages = try Cache(named: "pages", coder: .string, configuration: configuration)
  return pages
}
