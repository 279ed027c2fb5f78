import Larder
import Synchronization

extension Exchange {
  /// Finds what is stored for the request, with its body. A failure of the disk counts as nothing.
  ///
  /// - Throws: `CacheError` with `.closed` and `.forked`; `CancellationError`.
  mutating func lookUp() async throws {
    (usable, reason) = (nil, .uriMiss)
    do throws(CacheError) {
      var (place, variant) = (CacheKey(key), Variant(lines: []))
      guard var stored = try await cache.entries.value(forKey: place) else { return }
      if stored.isMarker {
        variant = Variant(names: stored.variant.names, of: request)
        (place, reason) = (CacheKey(variant, of: stored), .varyMiss)
        guard let found = try await cache.entries.value(forKey: place) else { return }
        let isOutdated = stored.outdated.map { $0 >= found.received } ?? false
        stored = isOutdated ? found.with(outdated: stored.outdated) : found
      }
      guard stored.key == key, stored.variant == variant else { return }
      usable = try await body(of: stored).map { (stored, $0, place) }
    } catch {
      if error.code == .cancelled { throw CancellationError() }
      if error.code == .closed || error.code == .forked { throw error }
    }
  }

  /// Returns the body of a stored response; nil if its entry is gone.
  private func body(of stored: Stored) async throws(CacheError) -> Body? {
    if case .bytes(let bytes) = stored.content { return Body(bytes) }
    guard let key = stored.bodyKey else { return nil }
    let count = stored.content.byteCount
    let body =
      count <= Body.pieceSize
      ? try await cache.bodies.value(forKey: key).map { Body($0) }
      : try await cache.entries.disk.openFile(forKey: key, extending: .off)
        .map { Body($0, 0..<$0.byteCount) }
    return body?.byteCount == count ? body : nil
  }

  /// Stores a response whose body is stored already, in place of an older one, and ends the flight
  /// that brought it. If it was invalidated since the flight began, nothing is stored.
  func publish(_ stored: Stored) async {
    let isDone = await cache.countingFailure {
      guard await cache.flights.isWanted(flight) else { return }
      try await cache.store(stored, try await place(for: stored), policy)
      // An invalidation since the first look removes first and sees this response, or this look
      // sees the invalidation.
      if await !cache.flights.isWanted(flight) {
        try await cache.invalidate(request.url)
      } else if usable?.stored.content != stored.content {
        try await cache.removeBody(of: usable?.stored)
      } else if let key = stored.bodyKey {
        try await cache.entries.disk.touch(
          forKey: key, expiration: cache.expiration(of: stored, policy), allowingExpired: true)
      }
    }
    await cache.flights.end(flight, .looks(mayWait: isDone))
  }

  /// Returns the key for a response. Stores the marker before if the response varies.
  private func place(for stored: Stored) async throws(CacheError) -> CacheKey {
    let place = CacheKey(key)
    guard !stored.variant.lines.isEmpty else { return place }
    let current = try await cache.entries.value(forKey: place)
    let marker = await cache.flights.marker(for: stored, stored: current)
    if current?.content != marker.content { try await cache.store(marker, place, policy) }
    return CacheKey(stored.variant, of: marker)
  }

  /// Removes the stored response for the request.
  func removeUsable() async {
    guard let usable else { return }
    await cache.countingFailure {
      try await cache.entries.remove(forKey: usable.place)
      try await cache.removeBody(of: usable.stored)
    }
  }

  /// Removes what was written of a body, on one of the cache's threads, and lets those requests go
  /// that wait for it.
  func discard(_ writer: EntryFileWriter?) async {
    let disk = cache.entries.disk
    await cache.countingFailure {
      try await disk.executor.run("store", toEnd: true) { _ = writer?.takeStream() }
    }
    await cache.flights.end(flight, .looks(mayWait: false))
  }
}

extension HTTPCache {
  /// Runs a change of what is stored, and returns whether it succeeded. A failure counts as a
  /// response that is not kept.
  @discardableResult func countingFailure(_ change: () async throws -> Void) async -> Bool {
    if (try? await change()) != nil { return true }
    counters.withLock { $0.notKept += 1 }
    return false
  }

  func store(_ stored: Stored, _ place: CacheKey, _ policy: Policy) async throws(CacheError) {
    let outcome = try await entries.store(
      stored, forKey: place, expiration: expiration(of: stored, policy))
    guard outcome.isKept else { throw Self.notKept }
  }

  /// The disk tier has refused a value.
  static let notKept = CacheError(.notCached, operation: "store")

  /// Returns the expiry of a response's files: as long past its freshness as it is kept.
  func expiration(of stored: Stored, _ policy: Policy) -> Expiration {
    if stored.isMarker { return .never }
    let fresh = -min(0, stored.staleness(policy, at: stored.received))
    return .date(stored.received.adding(.seconds(fresh)).adding(configuration.retention))
  }

  /// Removes the entry that holds the body of a response, if one does.
  func removeBody(of stored: Stored?) async throws(CacheError) {
    if let key = stored?.bodyKey { try await entries.disk.remove(forKey: key) }
  }
}
