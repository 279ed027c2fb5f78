import Hummingbird
import Larder
import Synchronization

/// A server that answers with values of 1 KiB in four ways: a constant, an awaited read of the disk
/// tier, the synchronous one in the handler, and an awaited read of both tiers.
@main
struct Server {
  static func main() async throws {
    let directory = CommandLine.arguments[1]
    let port = Int(CommandLine.arguments[2]) ?? 8080
    let cache = try Cache(directory: directory, coder: .bytes)
    let value = [UInt8](repeating: 7, count: 1024)
    let count = 500
    for number in 0..<count {
      try await cache.store(value, forKey: "\(number)")
      _ = try await cache.disk.value(forKey: "\(number)")
    }
    let turn = Atomic<Int>(0)
    let next: @Sendable () -> String = {
      "\(turn.wrappingAdd(1, ordering: .relaxed).oldValue % count)"
    }
    let disk = cache.disk
    let router = Router()
    router.get("/constant") { _, _ in ByteBuffer(bytes: value) }
    router.get("/await") { _, _ in ByteBuffer(bytes: try await disk.value(forKey: next()) ?? []) }
    router.get("/sync") { _, _ in ByteBuffer(bytes: try read(disk, next())) }
    router.get("/memory") { _, _ in ByteBuffer(bytes: try await cache.value(forKey: next()) ?? []) }
    let application = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
      onServerRunning: { _ in print("listening") })
    try await application.runService()
    let statistics = disk.statistics
    print("reads here \(statistics.promptReads), on other threads \(statistics.switchedReads)")
    try await cache.close()
  }

  private static func read(_ disk: DiskCache, _ key: String) throws -> [UInt8] {
    try disk.value(forKey: key) ?? []
  }
}
