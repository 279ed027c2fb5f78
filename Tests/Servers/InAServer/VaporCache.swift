// The adapter of the guide InAServer for Vapor.
import Foundation
import LarderFoundation
import NIOCore
import Vapor

struct DiskVaporCache: Vapor.Cache {
  let disk: DiskCache
  let eventLoop: any EventLoop

  func `for`(_ request: Request) -> DiskVaporCache {
    DiskVaporCache(disk: disk, eventLoop: request.eventLoop)
  }

  func get<T: Decodable & Sendable>(_ key: String, as type: T.Type) -> EventLoopFuture<T?> {
    eventLoop.makeFutureWithTask {
      guard let data = try await disk.data(forKey: key) else { return nil }
      return try JSONDecoder().decode(type, from: data)
    }
  }

  func set<T: Encodable & Sendable>(_ key: String, to value: T?) -> EventLoopFuture<Void> {
    set(key, to: value, expiresIn: nil)
  }

  func set<T: Encodable & Sendable>(
    _ key: String, to value: T?, expiresIn time: CacheExpirationTime?
  ) -> EventLoopFuture<Void> {
    eventLoop.makeFutureWithTask {
      guard let value else {
        try await disk.remove(forKey: key)
        return
      }
      let expiration = time.map { Expiration.seconds($0.seconds) } ?? .never
      try await disk.store(JSONEncoder().encode(value), forKey: key, expiration: expiration)
    }
  }
}
