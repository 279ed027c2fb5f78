import Larder

@testable import LarderBasics
@testable import LarderFixtures
@testable import LarderMemory

// The articles' examples of settings. `ArticleTests` compares them with the articles line by line.

func openWithLimits(directory: String) throws -> Cache<[UInt8]> {
  var configuration = CacheConfiguration()
  configuration.memoryCostLimit = 64 << 20
  configuration.disk.sizeLimit = 2 << 30
  configuration.disk.freeSpaceLimit = 1 << 30
  let pages = try Cache(directory: directory, coder: .bytes, configuration: configuration)
  return pages
}

func decline(_ configuration: inout CacheConfiguration) {
  configuration.disk.shouldStore = { _, byteCount in byteCount <= 8 << 20 }
}

func store(_ bytes: [UInt8], in pages: Cache<[UInt8]>, url: String) throws {
  switch try pages.store(bytes, forKey: url) {
  case .stored, .pending: break
  case .rejected(let reason): print("not kept: \(reason)")
  }
}

func storeForATime(_ html: String, in pages: Cache<String>, url: String, midnight: Timestamp) throws
{
  try pages.store(html, forKey: url, expiration: .seconds(90))
  try pages.store(html, forKey: url, expiration: .date(midnight))
}

func readWithoutExtending(_ pages: Cache<String>, url: String) throws -> [UInt8]? {
  let hit = try pages.disk.value(forKey: url, extending: .off)
  return hit
}

func spareExpired(_ configuration: inout CacheConfiguration) {
  configuration.disk.expiredGrace = .seconds(600)
}

func setClock(_ configuration: inout CacheConfiguration) -> ManualClock {
  let clock = ManualClock(Timestamp(seconds: 1_800_000_000))
  configuration.disk.clock = clock.wallClock
  return clock
}

func move(_ clock: ManualClock) {
  clock.advance(by: .seconds(3600))
}
