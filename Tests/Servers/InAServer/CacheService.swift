// The adapter of the guide InAServer that closes a cache.
import Larder
import ServiceLifecycle

struct CacheService<Value: Sendable>: Service {
  let cache: Cache<Value>

  func run() async throws {
    try? await gracefulShutdown()
    // In a task of its own, because a cancelled one closes nothing.
    try await Task { try await cache.close() }.value
  }
}
