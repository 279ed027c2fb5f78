import Larder
import LarderFixtures

@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory

// The articles' examples of use. `ArticleTests` compares them with the articles line by line.

typealias Fetch = @Sendable (String) async throws -> String

func getStarted() throws -> (Cache<String>, String?) {
  let pages = try Cache(named: "hello-pages", coder: .string)
  try pages.store("<h1>Hello</h1>", forKey: "https://example.org/", expiration: .days(1))
  let page = try pages.value(forKey: "https://example.org/")
  print(page ?? "nothing")
  return (pages, page)
}

func overview(html: String, url: String) throws -> String? {
  let pages = try Cache(named: "pages", coder: .string)
  try pages.store(html, forKey: url, expiration: .days(1))
  let hit = try pages.value(forKey: url)
  return hit
}

func loadOnce(_ pages: Cache<String>) async throws -> String {
  let news = try await pages.value(forKey: "https://example.org/news", expiration: .days(1)) {
    "<h1>News</h1>"  // or what a server answers
  }
  print(news)
  return news
}

func closeAtTheEnd(_ pages: Cache<String>) throws {
  try pages.close()
}

func serveStale(_ pages: Cache<String>, url: String, fetch: @escaping Fetch) async throws -> String
{
  let options = LoadOptions(staleWhileRevalidating: .seconds(600))
  let page = try await pages.value(forKey: url, options: options) { try await fetch(url) }
  return page
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

func countDamage(_ pages: Cache<String>, log: (String) -> Void) {
  let misses = pages.statistics.disk.misses
  if let damaged = misses[.damaged] { log("\(damaged) files were damaged") }
}

func lookInside(
  directory: String, configuration: DiskCache.Configuration, now: Timestamp
) throws {
  let cache = try DiskCache(directory: directory, configuration: configuration)
  for entry in try cache.entries() where entry.isExpired(at: now) {
    print(entry.name, entry.byteCount, entry.lastAccess.seconds)
  }
  let survey = try cache.survey()
  print("\(survey.entryCount) entries, \(survey.foreignCount) foreign files")
}

func measure(_ pages: Cache<String>) {
  let statistics = pages.statistics
  let hits = statistics.memory.hits + statistics.disk.hits
  let misses = statistics.disk.missCount
  print("\(hits) hits, \(misses) misses, \(statistics.loads.started) loads")
}

func measureADifference(_ pages: Cache<String>, workload: () async throws -> Void) async throws
  -> Int
{
  let before = pages.statistics
  try await workload()
  let after = pages.statistics
  let loads = after.loads.started - before.loads.started
  return loads
}

func openFixture() throws -> Cache<String> {
  // The tests have another type of that name, for golden directories.
  typealias Fixture = LarderFixtures.Fixture
  let fixture = try Fixture("Fixtures/forecast")  // beside the test's source file
  let cache = try Cache(fixture: fixture, coder: .string)
  fixture.clock.advance(by: .seconds(3600))  // and now it has expired
  return cache
}

func sayHello() throws {
  let cache = try Cache(named: "hello", coder: .string)
  if let greeting = try cache.value(forKey: "greeting") {
    print("found \(greeting)")
  } else {
    try cache.store("hello", forKey: "greeting", expiration: .days(1))
    print("stored")
  }
  try cache.close()
}

func observe(_ cache: Cache<String>) {
  let now = cache.statistics
  let hits = now.memory.hits + now.disk.hits
  let misses = now.disk.missCount
  print("\(hits) hits, \(misses) misses, \(now.loads.time / max(1, now.loads.started)) a load")
}

func listen(_ cache: Cache<String>, log: @escaping @Sendable (String) -> Void) {
  Task {
    for await removal in cache.removals(bufferingNewest: 1_000) {
      log("\(removal.name) \(removal.cause), \(removal.missedCount) not seen")
    }
  }
}

func watchMemory(
  _ cache: Cache<String>, log: @escaping @Sendable (String) -> Void
) -> MemoryPressureMonitor {
  var configuration = MemoryPressureMonitor.Configuration()
  configuration.stepListener = { step in log("memory: \(step)") }
  let monitor = MemoryPressureMonitor(configuration)
  monitor.attach(cache)
  return monitor
}

func touchValue(_ pages: Cache<String>, url: String) throws {
  try pages.touch(forKey: url, expiration: .hours(1))
  try pages.touch(forKey: url, expiration: .expired)
}
