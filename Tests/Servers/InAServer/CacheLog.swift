// The adapter of the guide InAServer for swift-log.
import Larder
import Logging
import ServiceLifecycle

struct CacheLog: Service {
  let disk: DiskCache
  let logger: Logger
  var interval = Duration.seconds(60)

  func run() async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { await logRemovals() }
      group.addTask { await cancelWhenGracefulShutdown { await logFailures() } }
      try await group.waitForAll()
    }
  }

  private func logFailures() async {
    var known: [Errno: Int] = [:]
    repeat { logFailures(since: &known) } while (try? await Task.sleep(for: interval)) != nil
    // Of the last interval, which the shutdown has cut short.
    logFailures(since: &known)
  }

  private func logFailures(since known: inout [Errno: Int]) {
    let now = disk.statistics
    let failures = now.errors.merging(now.upkeepFailures) { $0 + $1 }
    if failures != known {
      logger.warning(
        "the disk failed",
        metadata: ["directory": "\(disk.directory)", "failures": "\(failures)"])
    }
    known = failures
  }

  private func logRemovals() async {
    let removals = disk.removals(bufferingNewest: 1_000)
    for await removal in removals.cancelOnGracefulShutdown() {
      let level = removal.cause == .corrupt ? Logger.Level.warning : .debug
      logger.log(
        level: level, "a value left the cache",
        metadata: [
          "directory": "\(disk.directory)", "name": "\(removal.name)",
          "cause": "\(removal.cause)", "unseen": "\(removal.missedCount)",
        ])
    }
  }
}
