@_exported public import Larder
import LarderSystem

/// A cache for HTTP by RFC 9111, for servers, proxies and clients.
///
/// ```swift
/// let cache = try HTTPCache(directory: "/var/cache/app/http")
/// let response = try await cache.respond(to: request) { try await send($0) }
/// ```
///
/// Responses are kept in memory and in files of one directory: see `Cache`. However many requests
/// come for a URL at once, one of them goes to the origin if its response can be stored. Bodies
/// pass as streams; one over 64 KiB is never in memory as a whole. Safe to use from any thread.
public final class HTTPCache: Sendable {
  /// The settings.
  public struct Configuration: Sendable {
    /// The rules. The default is those of a shared cache.
    public var policy = Policy()
    /// The settings of both tiers. Reads extend no expiry, whatever `disk.extending` says. Half of
    /// memory is for bodies of 16 to 64 KiB.
    public var storage = CacheConfiguration()
    /// How long a response is kept past its freshness, to be validated or served; a day by default.
    public var retention = Duration.seconds(86_400)
    /// How long a request waits for another one to the same URL. The default is 5 s.
    public var collapseLimit = Duration.seconds(5)
    /// The most bytes of a body that is stored; nil, the default, for all that the disk tier takes.
    public var bodyLimit: Int?
    /// The name of this cache in `Cache-Status` (RFC 9211); nil for no field. The default is nil.
    public var cacheStatusName: String?
    /// Gives requests rules of their own; `policy` rules where it returns nil. The default is nil.
    public var route: (@Sendable (Request) -> Route?)?

    /// Creates the default settings.
    public init() {}
  }

  /// The rules for a request.
  public enum Route: Sendable {
    /// The cache answers by these rules.
    case cached(Policy)
    /// The request goes to the origin, and its response is not stored.
    case bypassed
  }

  /// What became of the requests.
  public struct Statistics: Sendable, Hashable {
    /// Requests that were answered without the origin, from fresh responses.
    public internal(set) var hits = 0
    /// Requests answered with stale responses, by permission or because the origin failed.
    public internal(set) var stale = 0
    /// Requests to the origin that it answered with 304.
    public internal(set) var validated = 0
    /// Requests that waited for another one instead of going to the origin.
    public internal(set) var collapsed = 0
    /// Requests to the origin, by the reason for which they went there.
    public internal(set) var forwarded: [Reason: Int] = [:]
    /// Responses that the disk did not take.
    public internal(set) var notKept = 0
  }

  /// The reason for which a request went to the origin, named as in RFC 9211, 2.2.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// Nothing was stored for the URL.
    case uriMiss = "uri-miss"
    /// What was stored for the URL answers other values of the fields that `Vary` names.
    case varyMiss = "vary-miss"
    /// What was stored is not fresh.
    case stale
    /// The request asks for it, as by `no-cache`.
    case request
    /// The method is not GET or HEAD.
    case method
    /// The cache does not answer such requests.
    case bypass
  }

  let configuration: Configuration
  let entries: Cache<Stored>
  /// The bodies that are entries of their own, as far as memory takes them.
  let bodies: Cache<[UInt8]>
  /// The name in `Cache-Status`, as a token of RFC 9651 or else as a string.
  let statusName: String?
  /// The most bytes of a body that can be stored, so that none is written in vain.
  let bodyLimit: Int
  let flights = Flights()
  let counters = ForkSafeMutex(Statistics())
  /// When the disk last refused to let go of URLs, by their hash: what came before is not used.
  let refusals = ForkSafeMutex([Timestamp](repeating: Timestamp(seconds: 0), count: 1024))
  private let lastTime = ForkSafeMutex((time: Timestamp(seconds: 0), at: ContinuousClock.now))

  /// Opens a cache in a directory, and makes the directory if it does not exist.
  ///
  /// - Throws: `CacheError`, as `DiskCache.init(directory:configuration:)` does.
  public init(directory: String, configuration: Configuration = .init()) throws(CacheError) {
    var storage = configuration.storage
    storage.disk.extending = .off
    storage.memoryCostLimit = storage.memoryCostLimit.map { $0 / 2 }
    self.configuration = configuration
    let diskLimit = max(storage.disk.sizeLimit ?? .max, Stored.Content.largestInline)
    bodyLimit = min(configuration.bodyLimit ?? .max, diskLimit)
    statusName = configuration.cacheStatusName.map { name in
      if name.isToken, (97...122).contains(name.utf8.first?.lowered ?? 0) { return name }
      return "\"\(name.filter { $0.isASCII && (" "..."~").contains($0) && !"\"\\".contains($0) })\""
    }
    entries = try Cache(directory: directory, coder: .entry, configuration: storage)
    storage.memoryEntryCostLimit = .bytes(Body.pieceSize)
    bodies = try Cache(directory: directory, coder: .bytes, configuration: storage)
  }

  /// Returns the response to a request, from the cache or from the origin.
  ///
  /// - Parameters:
  ///   - request: The request of a client.
  ///   - forwarding: Sends a request to the origin, follows no redirect and decodes no content.
  ///     It is called once or never; after the response too, to refresh what was served stale.
  /// - Throws: The error of `forwarding`, unless something stored may answer instead;
  ///   `CancellationError`; `CacheError` with `.closed` and `.forked`.
  public func respond(
    to request: Request, forwarding: @escaping @Sendable (Request) async throws -> Response
  ) async throws -> Response {
    let isRead = request.method == "GET" || request.method == "HEAD"
    let route = configuration.route?(request) ?? .cached(configuration.policy)
    var exchange = Exchange(cache: self, request: request, forwarding: forwarding, key: request.key)
    if !isRead { exchange.reason = .method }
    guard case .cached(let policy) = route else { return try await exchange.passBy() }
    exchange.policy = policy
    return try await isRead && !request.isForOrigin ? exchange.answer() : exchange.passBy()
  }

  /// Removes every stored response of a URL, and lets this process store none that is under way.
  ///
  /// - Parameter url: An absolute URL, such as ``Request/url``.
  /// - Returns: Whether there was something.
  /// - Throws: `CacheError`, as `Cache.remove(forKey:)` does. This object then serves none of it.
  @discardableResult public func invalidate(_ url: String) async throws(CacheError) -> Bool {
    let text = "GET \(URLReference(url)?.text ?? url)"
    var isRefused = true
    defer { if isRefused { refusals.withLock { $0[text.hashValue & 1023] = now } } }
    let old = try await flights.inTurn(text, true) { [entries] () async throws(CacheError) in
      try await entries.removeValue(forKey: CacheKey(text))
    }
    isRefused = false
    try await removeBody(of: old)
    return old != nil
  }

  /// Makes every stored response of a URL stale, so that its next use asks the origin whether it is
  /// still good, and lets this process store none that is under way.
  ///
  /// - Returns: Whether there was something.
  /// - Throws: `CacheError`, as `Cache.store(_:forKey:expiration:extendedData:)` does.
  @discardableResult public func expire(_ url: String) async throws(CacheError) -> Bool {
    let text = "GET \(URLReference(url)?.text ?? url)"
    return try await flights.inTurn(text, true) { () async throws(CacheError) in
      let (place, time) = (CacheKey(text), self.now)
      guard let stored = try await self.entries.read(forKey: place) else { return nil }
      // It is kept for no shorter time than before, whatever rules have stored it.
      let expiry = max(stored.expiry ?? time, time.adding(self.configuration.retention))
      try await self.store(stored.value.with(outdated: time), place, expiry)
      return stored.value
    } != nil
  }

  /// Waits until everything stored is on disk, and detaches from the directory.
  ///
  /// - Throws: `CacheError`, as `Cache.close()` does.
  public func close() async throws(CacheError) {
    var failure: CacheError?
    do throws(CacheError) { try await bodies.close() } catch { failure = error }
    try await entries.close()
    if let failure { throw failure }
  }

  /// The time by the cache's clock. If that is set back, it goes on, so that nothing becomes fresh.
  var now: Timestamp {
    let time = entries.configuration.disk.clock.now()
    return lastTime.withLock { last in
      let instant = ContinuousClock.now
      last = (time < last.time ? last.time.adding(last.at.duration(to: instant)) : time, instant)
      return last.time
    }
  }

  /// Runs a change of what is stored. A failure returns false and counts, but not a cancellation.
  @discardableResult func countingFailure(_ change: () async throws -> Void) async -> Bool {
    do { try await change() } catch {
      if (error as? CacheError)?.code != .cancelled { counters.withLock { $0.notKept += 1 } }
      return false
    }
    return true
  }

  /// The counters of answered requests.
  public var statistics: Statistics { counters.withLock { $0 } }
}

typealias Body = HTTPCache.Body
typealias Fields = HTTPCache.Fields
typealias Request = HTTPCache.Request
typealias Response = HTTPCache.Response
typealias Stored = HTTPCache.Stored
