// The adapter of the guide InAServer that closes a cache.
import ServiceLifecycle

struct CacheService: Service {
  let close: @Sendable () async throws -> Void

  func run() async throws {
    try? await gracefulShutdown()
    try await close()
  }
}
