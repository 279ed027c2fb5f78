import Larder

/// The body of a response on its way to the first client, which is stored as it passes.
///
/// The last piece is handed out after the response is stored, so that a client which has seen the
/// end finds the response stored. A body of a wrong length throws and is not stored.
actor Fill {
  private let exchange: Exchange
  private let stored: Stored
  private let announced: Int?
  private let source: Puller<Body>
  private var gathered: [UInt8] = []
  private var entry: (id: UInt64, writer: EntryFileWriter)?
  private var (count, isKept, hasEnded) = (0, true, false)

  init(_ body: Body, _ announced: Int?, of stored: Stored, _ exchange: Exchange) {
    (source, self.announced) = (Puller(body), announced)
    (self.stored, self.exchange) = (stored, exchange)
  }

  // The client has gone before the end: requests that wait for it ask on their own.
  deinit {
    if !hasEnded { Task { [exchange, entry] in await exchange.discard(entry?.writer) } }
  }

  /// Returns the next piece, after it was stored; nil at the end.
  func next() async throws -> [UInt8]? {
    guard !hasEnded else { return nil }
    do {
      let piece = try await source.next()
      count += piece?.count ?? 0
      hasEnded = piece == nil || count == announced
      // Nothing may follow the last byte that was announced.
      while hasEnded, piece != nil, let rest = try await source.next() { count += rest.count }
      let isWrong = announced.map { hasEnded ? count != $0 : count > $0 } ?? false
      if isWrong { throw HTTPCache.BodyError.wrongLength }
      await store(piece ?? [])
      return piece
    } catch {
      hasEnded = true
      await exchange.discard(entry?.writer)
      throw error
    }
  }

  /// Stores a piece; after the last one, the response. From the first failure on, the response goes
  /// on and is not stored.
  private func store(_ piece: [UInt8]) async {
    guard isKept else { return }
    isKept = await exchange.cache.countingFailure {
      if count > exchange.cache.configuration.bodyLimit ?? .max { throw HTTPCache.notKept }
      gathered = gathered.isEmpty ? piece : gathered + piece
      if count > Stored.Content.largestInline, !gathered.isEmpty { try await write() }
      if hasEnded { await exchange.publish(stored.with(try await content())) }
    }
    guard !isKept else { return }
    gathered = []
    await exchange.discard(entry?.writer)
  }

  /// Writes what has gathered to an entry of the body's own.
  private func write() async throws(CacheError) {
    if entry == nil {
      let (disk, id) = (exchange.cache.entries.disk, UInt64.random(in: .min ... .max))
      let expiration = exchange.cache.expiration(of: stored, exchange.policy)
      let request = disk.request(CacheKey(bodyOf: stored.key, id: id), expiration, [])
      let start = try await disk.executor.run("store", disk.startStream, request)
      guard let writer = start.writer else { throw HTTPCache.notKept }
      entry = (id, writer)
    }
    try await entry?.writer.write(gathered)
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
