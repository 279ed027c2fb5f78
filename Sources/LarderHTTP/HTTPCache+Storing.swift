import Larder
import LarderBasics
import LarderDisk
import LarderSystem

extension HTTPCache {
  /// Finds what is stored for a request, with its body. A failure of the disk counts as nothing.
  ///
  /// - Throws: `CacheError` with `.closed` and `.forked`; `CancellationError`.
  func lookUp(_ exchange: inout Exchange) async throws {
    (exchange.usable, exchange.reason) = (nil, .uriMiss)
    do throws(CacheError) {
      var variant = Variant.only
      var stored = try await entries.value(forKey: CacheKey(url: exchange.url))
      let outdated = stored?.outdated
      if let marker = stored, marker.isMarker {
        exchange.reason = .varyMiss
        variant = Variant(names: marker.variant.names, of: exchange.request)
        stored = try await entries.value(forKey: CacheKey(variant, of: marker))
      }
      guard var stored, stored.url == exchange.url, stored.variant == variant else { return }
      if let outdated { stored.outdated = max(outdated, stored.outdated ?? outdated) }
      exchange.usable = try await body(of: stored).map { (stored, $0) }
    } catch {
      switch error.code {
      case .closed, .forked: throw error
      case .cancelled: throw CancellationError()
      default: return
      }
    }
  }

  /// Returns the body of a stored response; nil if its entry is gone.
  private func body(of stored: Stored) async throws(CacheError) -> Body? {
    switch stored.content {
    case .variants: return nil
    case .bytes(let bytes): return Body(bytes)
    case .entry(let id, let byteCount):
      let key = CacheKey(bodyOf: stored.url, id: id)
      let file = try await entries.disk.openFile(forKey: key, extending: .off)
      guard let file, file.byteCount == byteCount else { return nil }
      return Body(file, 0..<byteCount)
    }
  }

  /// Runs a change of what is stored. A failure counts as a response that is not kept.
  @discardableResult
  func countingFailure(_ change: () async throws(CacheError) -> Bool) async -> Bool {
    var isDone = false
    do throws(CacheError) { isDone = try await change() } catch { count { $0.notKept += 1 } }
    return isDone
  }

  func store(_ stored: Stored, _ key: CacheKey) async throws(CacheError) -> Bool {
    try await entries.store(stored, forKey: key, expiration: expiration(of: stored)).isKept
  }

  /// Returns the expiry of a response's files: as long past its freshness as it is kept.
  func expiration(of stored: Stored) -> Expiration {
    if stored.isMarker { return .never }
    let fresh = -min(0, stored.staleness(configuration.policy, at: stored.received))
    return .date(stored.received.adding(.seconds(fresh)).adding(configuration.retention))
  }

  /// Stores a response whose body is stored already, in place of an older one, and ends the flight
  /// that brought it. If it was invalidated since the flight began, nothing is stored.
  ///
  /// - Returns: Whether the response is kept.
  @discardableResult
  func publish(_ stored: Stored, replacing previous: Stored?, _ flight: UInt64) async -> Bool {
    let isKept = await countingFailure { () async throws(CacheError) in
      guard await flights.isWanted(flight) else { return false }
      let isKept = try await store(stored, key(for: stored))
      // An invalidation since the first look removes first and sees this response, or this look
      // sees the invalidation.
      guard await flights.isWanted(flight) else {
        _ = try await invalidate(stored.url)
        return false
      }
      if let previous, previous.content != stored.content { try await removeBody(of: previous) }
      if !isKept { count { $0.notKept += 1 } }
      return isKept
    }
    await flights.end(flight, isKept ? .looksAgain : .flies)
    return isKept
  }

  /// Returns the key for a response. Stores the marker before if the response varies.
  private func key(for stored: Stored) async throws(CacheError) -> CacheKey {
    let key = CacheKey(url: stored.url)
    guard !stored.variant.names.isEmpty else { return key }
    let current = try await entries.value(forKey: key)
    let marker = await flights.marker(for: stored, stored: current)
    if current?.content != marker.content { _ = try await store(marker, key) }
    return CacheKey(stored.variant, of: marker)
  }

  /// Stores a response with newer fields, and leaves its body as it is.
  func renew(_ stored: Stored, _ flight: UInt64) async {
    let isKept = await publish(stored, replacing: nil, flight)
    guard isKept, case .entry(let id, _) = stored.content else { return }
    await countingFailure { () async throws(CacheError) in
      try await entries.disk.touch(
        forKey: CacheKey(bodyOf: stored.url, id: id), expiration: expiration(of: stored),
        allowingExpired: true)
    }
  }

  /// Removes the response that a request would find.
  func remove(_ stored: Stored) async {
    await countingFailure { () async throws(CacheError) in
      var key = CacheKey(url: stored.url)
      if stored.variant != .only {
        guard let marker = try await entries.value(forKey: key), marker.isMarker else {
          return false
        }
        key = CacheKey(stored.variant, of: marker)
      }
      try await entries.remove(forKey: key)
      try await removeBody(of: stored)
      return true
    }
  }

  /// Removes the entry that holds the body of a response, if one does.
  func removeBody(of stored: Stored) async throws(CacheError) {
    guard case .entry(let id, _) = stored.content else { return }
    try await entries.disk.remove(forKey: CacheKey(bodyOf: stored.url, id: id))
  }
}
