import NIOCore

// What an adapter of caches sees of Vapor 4, so that the one of the guide InAServer is built
// without Vapor.

/// Values by keys, for the requests of an application.
public protocol Cache: Sendable {
  func get<T: Decodable & Sendable>(_ key: String, as type: T.Type) -> EventLoopFuture<T?>
  func set<T: Encodable & Sendable>(_ key: String, to value: T?) -> EventLoopFuture<Void>
  func set<T: Encodable & Sendable>(
    _ key: String, to value: T?, expiresIn expirationTime: CacheExpirationTime?
  ) -> EventLoopFuture<Void>
  func `for`(_ request: Request) -> Self
}

extension Cache {
  /// Removes a value, which is to set none.
  public func delete(_ key: String) -> EventLoopFuture<Void> { set(key, to: String?.none) }
}

/// A time after which a value is gone.
public enum CacheExpirationTime: Sendable {
  case seconds(Int)
  case minutes(Int)
  case hours(Int)
  case days(Int)

  public var seconds: Int {
    switch self {
    case .seconds(let count): count
    case .minutes(let count): count * 60
    case .hours(let count): count * 3_600
    case .days(let count): count * 86_400
    }
  }
}

/// A request, of which a cache needs the event loop alone.
public struct Request: Sendable {
  public let eventLoop: any EventLoop

  public init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }
}
