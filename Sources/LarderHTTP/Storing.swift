import Larder
import LarderSystem

extension Exchange {
  /// Finds what is stored for the request, with its body. A failure of the disk counts as nothing,
  /// but `.closed` and `.forked` are thrown, and `CancellationError`.
  mutating func lookUp() async throws {
    (usable, reason, variant) = (nil, .uriMiss, Variant(lines: []))
    do throws(CacheError) {
      var place = CacheKey(key)
      guard var stored = try await cache.entries.value(forKey: place) else { return }
      if stored.isMarker {
        variant = Variant(names: stored.variant.names, of: request)
        (place, reason) = (CacheKey(variant, of: stored), .varyMiss)
        guard let found = try await cache.entries.value(forKey: place) else { return }
        let isOutdated = stored.outdated.map { $0 >= found.received } ?? false
        stored = isOutdated ? found.with(outdated: stored.outdated) : found
      }
      guard stored.key == key, stored.variant == variant, !policy.excludes(stored),
        stored.received > cache.refusals.withLock({ $0[key.hashValue & 1023] })
      else { return }
      usable = try await body(of: stored).map { (stored, $0, place) }
      if usable != nil { reason = .stale }
    } catch {
      if error.code == .cancelled { throw CancellationError() }
      if error.code == .closed || error.code == .forked { throw error }
    }
  }

  /// Returns the body of a stored response; nil if its entry is gone.
  private func body(of stored: Stored) async throws(CacheError) -> Body? {
    if case .bytes(let bytes) = stored.content { return Body(bytes) }
    guard case .entry(_, let count) = stored.content, let key = stored.bodyKey else { return nil }
    let body =
      count <= Body.pieceSize
      ? try await cache.bodies.value(forKey: key).map { Body($0) }
      : try await cache.entries.disk.openFile(forKey: key, extending: .off).map { Body($0) }
    return body?.byteCount == count ? body : nil
  }

  /// Stores a response whose body is stored already, unless it was invalidated since its flight
  /// began, and ends that; or for nil removes the older response. What has come since stays.
  ///
  /// Returns whether the disk did what was asked of it. If it did not, requests do not wait for the
  /// URL for two minutes.
  @discardableResult func publish(_ stored: Stored?) async -> Bool {
    // The response whose body no head names in the end.
    var rest = stored?.content == usable?.stored.content ? nil : stored
    let isDone = await cache.countingFailure {
      rest = try await cache.flights.inTurn(key) { [rest] () async throws(CacheError) in
        guard let stored else { return try await removeUsable() }
        // An invalidation after this look comes in its turn, and removes the response.
        guard await cache.flights.isWanted(flight) else { return rest }
        let expiry = cache.expiry(of: stored, policy)
        guard let place = try await place(for: stored, expiry) else { return rest }
        // What is validated and gone does not come back, unless it varies by other fields now.
        let isSame = rest == nil && usable?.stored.variant.names == stored.variant.names
        let old = try await cache.entries.value(forKey: place) ?? (isSame ? nil : usable?.stored)
        // What was asked for later has come before, or what was validated has been replaced.
        let isReplaced = rest == nil && old?.content != stored.content
        if isReplaced || isLate(stored, behind: old) { return rest }
        try await cache.store(stored, place, expiry)
        guard old?.content == stored.content, let key = stored.bodyKey else { return old }
        do throws(CacheError) {
          try await cache.entries.touch(
            forKey: key, expiration: .date(expiry), allowingExpired: true)
        } catch  where error.code == .permissionDenied {
          // Another user's file in a shared group keeps its expiry, past the end of freshness.
        }
        return nil
      }
    }
    await cache.countingFailure { try await cache.removeBody(of: isDone ? rest : stored) }
    guard stored != nil else { return isDone }
    if !isDone { _ = await cache.flights.headCame(flight, nil, true) }
    await cache.flights.end(flight, .looks(mayWait: isDone))
    return isDone
  }

  /// Returns the key for a response. If it varies, stores the marker before, for as long as any;
  /// returns nil if what does not vary was asked for later.
  private func place(
    for stored: Stored, _ expiry: Timestamp
  ) async throws(CacheError) -> CacheKey? {
    let place = CacheKey(key)
    guard !stored.variant.lines.isEmpty else { return place }
    let current = try await cache.entries.read(forKey: place)
    if let old = current?.value, !old.isMarker, isLate(stored, behind: old) { return nil }
    let marker = stored.marker(besides: current?.value)
    let isKept = current?.value === marker && current?.expiry ?? expiry >= expiry
    if !isKept { try await cache.store(marker, place, expiry) }
    return CacheKey(stored.variant, of: marker)
  }

  private func isLate(_ stored: Stored, behind old: Stored?) -> Bool {
    old.map { $0.sent > stored.sent && $0.received <= cache.now } ?? false
  }

  private func removeUsable() async throws(CacheError) -> Stored? {
    guard let (old, _, place) = usable else { return nil }
    let isSame = try await cache.entries.value(forKey: place)?.sent == old.sent
    return isSame ? try await cache.entries.removeValue(forKey: place) : nil
  }

  /// Removes what was written of a body, on one of the cache's threads, and lets those requests go
  /// that wait for it: all at once, unless it is the client that is `gone`.
  func discard(_ writer: EntryFileWriter?, gone: Bool) async {
    await cache.countingFailure {
      try await cache.entries.disk.executor.run("store", toEnd: true) { _ = writer?.takeStream() }
    }
    await cache.flights.end(flight, .looks(mayWait: gone))
  }
}

extension HTTPCache {
  func store(_ stored: Stored, _ place: CacheKey, _ expiry: Timestamp) async throws(CacheError) {
    let outcome = try await entries.store(stored, forKey: place, expiration: .date(expiry))
    guard outcome.isKept else { throw Self.notKept }
  }

  static let notKept = CacheError(.notCached, operation: "store")

  /// Returns the expiry of a response's files: as long past its freshness as it is kept.
  func expiry(of stored: Stored, _ policy: Policy) -> Timestamp {
    let fresh = -min(0, stored.staleness(policy, at: stored.received))
    return stored.received.adding(.seconds(fresh)).adding(configuration.retention)
  }

  /// Removes the entry that holds the body of a response, if one does, also in a cancelled task.
  func removeBody(of stored: Stored?) async throws(CacheError) {
    guard let key = stored?.bodyKey else { return }
    _ = try await entries.disk.executor.run("remove", toEnd: true, entries.disk.remove, key)
  }
}

/// The body of a response on its way to the first client, which is stored as it passes.
///
/// The last piece is handed out after the response is stored, so that a client which has seen the
/// end finds the response stored. A body of a wrong length throws and is not stored, nor is one
/// without an announced length that ends in a cancelled task, because it may be a part.
actor Fill {
  private let exchange: Exchange
  private let stored: Stored
  private let announced: Int?
  private let source: @Sendable () async throws -> [UInt8]?
  private var gathered: [UInt8] = []
  private var entry: (id: UInt64, writer: EntryFileWriter)?
  private(set) var isKept = true
  private var (count, hasEnded, isReading) = (0, false, false)

  init(_ body: Body, _ stored: Stored, _ exchange: Exchange) {
    source = body.stream ?? Puller(body, nil).next
    (announced, self.stored, self.exchange) = (body.byteCount, stored, exchange)
  }

  // The client has gone before the end: of those that wait for it one asks for all.
  deinit {
    if !hasEnded { Task { [exchange, entry] in await exchange.discard(entry?.writer, gone: true) } }
  }

  /// Returns the next piece, after it was stored; nil at the end.
  func next() async throws -> [UInt8]? {
    if isReading { throw HTTPCache.BodyError.readAtOnce }
    guard !hasEnded else { return nil }
    isReading = true
    defer { isReading = false }
    do {
      let piece = try await source()
      // Many sequences end in a task that is cancelled, as at their end.
      if piece == nil, announced == nil, isKept { try Task.checkCancellation() }
      count += piece?.count ?? 0
      hasEnded = piece == nil || count == announced
      // Nothing may follow the last byte that was announced.
      while hasEnded, piece != nil, try await source() != nil {}
      // What has come whole is stored, also if its client is gone.
      let part = piece ?? []
      if hasEnded { await Task { await store(part) }.value } else { await store(part) }
      return piece
    } catch {
      hasEnded = true
      await exchange.discard(entry?.writer, gone: Task.isCancelled)
      throw error
    }
  }

  /// Stores a piece; after the last, the response. After a failure it goes on and is not stored.
  private func store(_ piece: [UInt8]) async {
    guard isKept else { return }
    isKept = await exchange.cache.countingFailure {
      if count > exchange.cache.bodyLimit { throw HTTPCache.notKept }
      gathered = gathered.isEmpty ? piece : gathered + piece
      if count > Stored.Content.largestInline, !gathered.isEmpty { try await write() }
      if hasEnded { await exchange.publish(stored.with(try await content())) }
    }
    guard !isKept else { return }
    gathered = []
    // A client that goes says nothing of what was stored before, nor of later responses.
    if !Task.isCancelled {
      await exchange.publish(nil)
      _ = await exchange.cache.flights.headCame(exchange.flight, nil, true)
    }
    await exchange.discard(entry?.writer, gone: Task.isCancelled)
  }

  /// Writes what has gathered to an entry of the body's own.
  private func write() async throws(CacheError) {
    let disk = exchange.cache.entries.disk
    if entry == nil {
      let id = UInt64.random(in: .min ... .max)
      let expiry = exchange.cache.expiry(of: stored, exchange.policy)
      let request = disk.request(CacheKey(bodyOf: stored.key, id: id), .date(expiry), [])
      let start = try await disk.executor.run("store", disk.startStream, request)
      guard let writer = start.writer else { throw HTTPCache.notKept }
      entry = (id, writer)
    }
    do { try await entry?.writer.write(gathered) } catch { throw disk.engine.counted(error) }
    gathered = []
  }

  /// Returns the place of the whole body, whose entry it publishes if there is one.
  private func content() async throws(CacheError) -> Stored.Content {
    guard let (id, writer) = entry else { return .bytes(gathered) }
    let disk = exchange.cache.entries.disk
    let outcome = try await disk.executor.run("store", toEnd: true, disk.engine.finish, writer, nil)
    guard outcome.isKept else { throw HTTPCache.notKept }
    return .entry(id: id, byteCount: count)
  }
}
