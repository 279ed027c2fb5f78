// The adapter of the guide InAServer for swift-log.
import Larder
import Logging
import ServiceLifecycle

struct CacheLog: Service {
  let disk: DiskCache
  let logger: Logger

  func run() async throws {
    let removals = disk.removals(bufferingNewest: 1_000)
    for await removal in removals.cancelOnGracefulShutdown() {
      let level = removal.cause == .corrupt ? Logger.Level.warning : .debug
      logger.log(
        level: level, "a value left the cache",
        metadata: [
          "name": "\(removal.name)", "cause": "\(removal.cause)",
          "unseen": "\(removal.missedCount)",
        ])
    }
  }
}
