import Larder
import LarderFixtures

// The code of the other guides, and of doc comments. `ArticleTests` compares them line by line.

func storeAndRead() async throws -> (Cache<String>, String?) {
  let pages = try Cache(named: "hello-pages", coder: .string)
  try await pages.store("<h1>Hello</h1>", forKey: "https://example.org/", expiration: .days(1))
  let page = try await pages.value(forKey: "https://example.org/")
  print(page ?? "nothing")
  return (pages, page)
}

func overview(html: String, url: String) async throws -> String? {
  let pages = try Cache(named: "pages", coder: .string)
  try await pages.store(html, forKey: url, expiration: .days(1))
  let hit = try await pages.value(forKey: url)
  return hit
}

func loadOnce(_ pages: Cache<String>) async throws -> String {
  let news = try await pages.value(forKey: "https://example.org/news", expiration: .days(1)) {
    "<h1>News</h1>"  // or what a server answers
  }
  print(news)
  return news
}

func closeAtTheEnd(_ pages: Cache<String>) async throws {
  try await pages.close()
}

func doWithout(
  _ pages: Cache<String>, url: String, fetch: @escaping Fetch, log: (String) -> Void
) async throws -> String {
  do {
    return try await pages.value(forKey: url) { try await fetch(url) }
  } catch let error as CacheError {
    log("cache: \(error)")
    return try await fetch(url)
  }
}

func countDamage(_ pages: Cache<String>, log: (String) -> Void) async throws {
  let misses = pages.statistics.disk.misses
  if let damaged = misses[.damaged] { log("\(damaged) files were damaged") }
}

func lookInside(directory: String, now: Timestamp) async throws {
  var configuration = DiskCache.Configuration()
  configuration.mode = .readOnly
  let cache = try DiskCache(directory: directory, configuration: configuration)
  for entry in try await cache.entries() where entry.isExpired(at: now) {
    print(entry.name, entry.byteCount, entry.lastAccess.seconds)
  }
  let survey = try await cache.survey()
  print("\(survey.entryCount) entries, \(survey.foreignCount) foreign files")
}

func measureADifference(
  _ pages: Cache<String>, workload: () async throws -> Void
) async throws -> Int {
  let before = pages.statistics
  try await workload()
  let after = pages.statistics
  let loads = after.loads.started - before.loads.started
  return loads
}

func openFixture() async throws -> Cache<String> {
  // The tests have another type of that name, for golden directories.
  typealias Fixture = LarderFixtures.Fixture
  let fixture = try Fixture("Fixtures/forecast")  // beside the test's source file
  let cache = try Cache(fixture: fixture, coder: .string)
  fixture.clock.advance(by: .seconds(3600))  // and now it has expired
  return cache
}

func observe(_ cache: Cache<String>) async throws {
  let now = cache.statistics
  let rate = now.hitRate ?? 0  // of calls, between 0 and 1
  print("\(rate), \(now.loads.time / max(1, now.loads.succeeded + now.loads.failed)) a load")
}

func listen(_ cache: Cache<String>, log: @escaping @Sendable (String) -> Void) async throws {
  Task {
    for await removal in cache.removals(bufferingNewest: 1_000) {
      log("\(removal.name) \(removal.cause), \(removal.missedCount) not seen")
    }
  }
}

func listenToMemory(_ cache: MemoryCache<String, Int>) async throws {
  for await removal in cache.removals(bufferingNewest: 100) {
    print(removal.key, removal.cause, removal.missedCount)
  }
}

func attach(_ cache: Cache<String>) async throws -> MemoryPressureMonitor {
  let monitor = MemoryPressureMonitor()
  monitor.attach(cache)
  return monitor
}

func watchMemory(
  _ cache: Cache<String>, log: @escaping @Sendable (String) -> Void
) async throws -> MemoryPressureMonitor {
  var configuration = MemoryPressureMonitor.Configuration()
  configuration.stepListener = { step in log("memory: \(step)") }
  let monitor = MemoryPressureMonitor(configuration)
  monitor.attach(cache)
  return monitor
}

func askWhetherALargerLimitHelps(_ pages: Cache<String>) async throws {
  let now = pages.statistics
  print("\(now.missCount) misses, \(now.disk.moreHitsAtDoubleLimit) less with twice the limits")
  if let age = now.disk.evictionAge { print("gone after \(age) without a use") }
}

func touchValue(_ pages: Cache<String>, url: String) async throws {
  try await pages.touch(forKey: url, expiration: .hours(1))
  try await pages.touch(forKey: url, expiration: .expired)
}
