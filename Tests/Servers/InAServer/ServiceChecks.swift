import Foundation
import Larder
import Logging
import Metrics
import MetricsTestKit
import ServiceLifecycle
import Synchronization

/// Runs the services of a cache in a group, and looks at what each did when the group has ended.
func checkServices(_ checks: Checks, in directory: String) async throws {
  let metrics = TestMetrics()
  MetricsSystem.bootstrap(metrics)
  let lines = LogLines()
  var logger = Logger(label: "cache") { _ in lines }
  logger.logLevel = .debug
  let cache = try Cache(directory: directory, coder: .string)
  let group = ServiceGroup(
    services: [
      CacheService { try await cache.close() },
      CacheLog(disk: cache.disk, logger: logger, interval: .milliseconds(10)),
      CacheMetrics(cache: cache, name: "pages", interval: .milliseconds(10)),
    ], logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() })
  let running = Task { try await group.run() }

  let isListening = await eventually {
    _ = try? cache.store("", forKey: "mark")
    _ = try? cache.remove(forKey: "mark")
    return !lines.all.isEmpty
  }
  checks.expect("removals are logged", isListening)
  try await cache.store("page", forKey: "a", expiration: .days(1))
  _ = try await cache.value(forKey: "a")
  _ = try await cache.value(forKey: "b")
  try damage(cache.disk.path(forKey: "a"))
  let reopened = try await cache.disk.verify(repairs: true)
  checks.expect("the damaged file is found", reopened.damaged.count == 1, reopened)
  func last(_ label: String) -> Double? {
    try? metrics.expectGauge("larder_\(label)", [("cache", "pages")]).lastValue
  }
  let areThere = await eventually { last("misses") == 1 && last("disk_entries") == 0 }
  checks.expect("gauges follow the statistics", areThere, last("misses") as Any)
  checks.expect("gauges have their units", last("disk_written_bytes") == 4)
  let isLogged = await eventually { lines.all.contains { $0.hasPrefix("warning") } }
  checks.expect("a damaged file is a warning", isLogged, lines.all)
  try FileManager.default.createDirectory(
    atPath: cache.disk.path(forKey: "c"), withIntermediateDirectories: false)
  let loaded = try await cache.value(forKey: "c") { "page" }
  let isWarned = await eventually { lines.all.contains { $0.contains("the disk failed") } }
  checks.expect("a load that cannot be kept is a warning", loaded == "page" && isWarned, lines.all)

  await group.triggerGracefulShutdown()
  try await running.value
  checks.expect("the group's end closes the cache", isClosed(cache.disk))

  let other = try Cache(directory: directory, coder: .string)
  try await checkLastReport(checks, of: other, lines, metrics)
  let cancelled = Task { try await CacheService { try await other.close() }.run() }
  cancelled.cancel()
  _ = try? await cancelled.value
  checks.expect("so does a cancelled service", isClosed(other.disk))
}

/// Looks for what services have reported whose interval had not passed at the group's end.
private func checkLastReport(
  _ checks: Checks, of cache: Cache<String>, _ lines: LogLines, _ metrics: TestMetrics
) async throws {
  let group = ServiceGroup(
    services: [
      CacheLog(disk: cache.disk, logger: Logger(label: "last") { _ in lines }),
      CacheMetrics(cache: cache, name: "last"),
    ], logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() })
  let running = Task { try await group.run() }
  func stores() -> Double? {
    try? metrics.expectGauge("larder_disk_stores", [("cache", "last")]).lastValue
  }
  _ = await eventually { stores() == 0 }
  let count = lines.all.count
  try await cache.store("page", forKey: "d")
  _ = try await cache.value(forKey: "c") { "page" }
  await group.triggerGracefulShutdown()
  try await running.value
  checks.expect("gauges are set at the group's end", stores() == 1, stores() as Any)
  let isWarned = lines.all.dropFirst(count).contains { $0.contains("the disk failed") }
  checks.expect("failures are logged at the group's end", isWarned, lines.all)
}

/// Changes the content of a file, but not its times.
private func damage(_ path: String) throws {
  let times = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate]
  let file = try FileHandle(forUpdating: URL(filePath: path))
  try file.write(contentsOf: Data("x".utf8))
  try file.close()
  try FileManager.default.setAttributes([.modificationDate: times as Any], ofItemAtPath: path)
}

/// Waits until a condition holds, ten seconds at most.
private func eventually(_ condition: () -> Bool) async -> Bool {
  for _ in 0..<1_000 {
    if condition() { return true }
    try? await Task.sleep(for: .milliseconds(10))
  }
  return condition()
}

/// A log in memory.
private final class LogLines: LogHandler {
  private let lines = Mutex<[String]>([])
  var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }
  var logLevel: Logger.Level {
    get { .debug }
    set {}
  }
  var all: [String] { lines.withLock { $0 } }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }

  func log(event: LogEvent) {
    lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
  }
}
