import Larder
import LarderBasics
import LarderDisk

/// The body of a response on its way to the first client, which is stored as it passes.
///
/// The last piece is handed out after the response is stored, so that a client which has seen the
/// end finds the response stored. A body of a wrong length throws and is not stored.
actor Fill {
  private let exchange: Exchange
  private let stored: Stored
  private let announced: Int?
  private var iterator: Body.AsyncIterator
  private var gathered: [UInt8] = []
  private var entry: (id: UInt64, writer: EntryFileWriter, request: DiskEngine.StoreRequest)?
  private var count = 0
  private var isKept = true
  private var hasEnded = false

  init(_ source: Body, _ announced: Int?, of stored: Stored, _ exchange: Exchange) {
    (self.announced, self.stored, self.exchange) = (announced, stored, exchange)
    iterator = source.makeAsyncIterator()
  }

  // The client has gone before the end: who waits asks on its own.
  deinit {
    guard !hasEnded else { return }
    Task { [exchange, entry] in await exchange.discard(entry?.writer) }
  }

  /// Returns the next piece, after it was stored; nil at the end.
  func next() async throws -> [UInt8]? {
    guard !hasEnded else { return nil }
    do {
      let piece = try await pull()
      count += piece?.count ?? 0
      hasEnded = piece == nil || count == announced
      // Nothing may follow the last byte that was announced.
      while hasEnded, piece != nil, let rest = try await pull() { count += rest.count }
      let isWrong = hasEnded ? count != announced ?? count : count > announced ?? count
      if isWrong { throw HTTPCache.BodyError.wrongLength }
      await store(piece ?? [])
      return piece
    } catch {
      hasEnded = true
      await exchange.discard(entry?.writer)
      throw error
    }
  }

  private func pull() async throws -> [UInt8]? {
    var taken = iterator
    defer { iterator = taken }
    return try await taken.next()
  }

  /// Stores a piece; after the last one, the response. From the first failure on, the response goes
  /// on and is not stored.
  private func store(_ piece: [UInt8]) async {
    guard isKept else { return }
    isKept = await exchange.cache.countingFailure { () async throws(CacheError) in
      guard count <= exchange.cache.configuration.bodyLimit ?? .max else { throw .notKept }
      gathered = gathered.isEmpty ? piece : gathered + piece
      if count > Entry.largestInlineBody, !gathered.isEmpty { try await write() }
      if hasEnded { try await finish() }
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
      let start = try await disk.runBlocking("store") { () throws(CacheError) in
        try disk.checkStorable()
        return try disk.engine.startStream(request, disk.executor)
      }
      guard case .writer(let writer) = start else { throw .notKept }
      entry = (id, writer, request)
    }
    try await entry?.writer.write(gathered)
    gathered = []
  }

  /// Publishes the body, then the head that names it.
  private func finish() async throws(CacheError) {
    var content = Stored.Content.bytes(gathered)
    if let entry {
      content = .entry(id: entry.id, byteCount: count)
      let disk = exchange.cache.entries.disk
      let outcome = try await disk.executor.runToEnd { () throws(CacheError) in
        try disk.engine.finish(entry.writer, entry.request)
      }
      guard outcome.isKept else { throw .notKept }
    }
    await exchange.publish(stored.with(content))
  }
}

extension Exchange {
  /// Removes what was written of a body, on one of the cache's threads, and lets those go who wait
  /// for it.
  fileprivate func discard(_ writer: EntryFileWriter?) async {
    if let writer {
      await cache.countingFailure { () async throws(CacheError) in
        try await cache.entries.disk.executor.runToEnd { () throws(CacheError) in
          _ = writer.takeStream()
        }
      }
    }
    await cache.flights.end(flight, .flies)
  }
}
