// The adapter of the guide InAServer that closes a cache.
import Larder
import ServiceLifecycle

struct CacheService<Value: Sendable>: Service {
  let cache: Cache<Value>

  func run() async throws {
    try? await gracefulShutdown()
    try await cache.close()
  }
}
