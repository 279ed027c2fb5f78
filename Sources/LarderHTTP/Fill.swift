import Larder
import LarderBasics
import LarderDisk
import LarderSystem

/// The body of a response on its way to the first client, which is stored as it passes.
///
/// The last piece is handed out after the response is stored, so that a client which has seen the
/// end finds the response stored. A body of a wrong length throws and is not stored.
actor Fill {
  private let cache: HTTPCache
  private let stored: HTTPCache.Stored
  private let previous: HTTPCache.Stored?
  private let flight: UInt64
  private let announced: Int?
  private var iterator: HTTPCache.Body.AsyncIterator
  private var gathered: [UInt8] = []
  private var entry: (id: UInt64, writer: EntryFileWriter, request: DiskEngine.StoreRequest)?
  private var count = 0
  private var isKept = true
  private var hasEnded = false

  init(
    _ source: HTTPCache.Body, _ announced: Int?, of stored: HTTPCache.Stored,
    replacing previous: HTTPCache.Stored?, _ flight: UInt64, _ cache: HTTPCache
  ) {
    (self.announced, self.stored, self.previous) = (announced, stored, previous)
    (self.flight, self.cache) = (flight, cache)
    iterator = source.makeAsyncIterator()
  }

  // The client has gone before the end: who waits asks on its own.
  deinit {
    guard !hasEnded else { return }
    Task { [cache, flight, entry] in await cache.discard(entry?.writer, flight) }
  }

  /// Returns the next piece, after it was stored; nil at the end.
  func next() async throws -> [UInt8]? {
    guard !hasEnded else { return nil }
    do {
      let piece = try await pull()
      count += piece?.count ?? 0
      var isWrong = count > announced ?? count || piece == nil && count < announced ?? count
      // Nothing may follow the last byte that was announced.
      while !isWrong, count == announced, piece != nil, let rest = try await pull() {
        isWrong = !rest.isEmpty
      }
      if isWrong { throw HTTPCache.BodyError.wrongLength }
      if let piece { await keep(piece) }
      if piece == nil || count == announced { await finish() }
      return piece
    } catch {
      hasEnded = true
      await cache.discard(entry?.writer, flight)
      throw error
    }
  }

  private func pull() async throws -> [UInt8]? {
    var taken = iterator
    defer { iterator = taken }
    return try await taken.next()
  }

  /// Runs a step of storing. From the first that fails on, the response goes on and is not stored.
  private func trying(_ step: () async throws(CacheError) -> Bool) async {
    guard isKept else { return }
    do throws(CacheError) {
      isKept = try await step()
    } catch {
      isKept = false
    }
    guard !isKept else { return }
    gathered = []
    cache.count { $0.notKept += 1 }
    await cache.discard(entry?.writer, flight)
  }

  /// Writes a piece.
  private func keep(_ piece: [UInt8]) async {
    await trying { () async throws(CacheError) in
      guard count <= cache.configuration.bodyLimit ?? .max else { return false }
      if let entry {
        try await entry.writer.write(piece)
        return true
      }
      gathered += piece
      return count <= Entry.largestInlineBody ? true : try await openEntry()
    }
  }

  /// Begins an entry for a body that is too large for the file of its head.
  private func openEntry() async throws(CacheError) -> Bool {
    let disk = cache.entries.disk
    let id = UInt64.random(in: .min ... .max)
    let request = disk.request(
      CacheKey(bodyOf: stored.url, id: id), cache.expiration(of: stored), [])
    let start = try await disk.runBlocking("store") { () throws(CacheError) in
      try disk.checkStorable()
      return try disk.engine.startStream(request, disk.executor)
    }
    guard case .writer(let writer) = start else { return false }
    entry = (id, writer, request)
    try await writer.write(gathered)
    gathered = []
    return true
  }

  /// Publishes the body, then the head that names it.
  private func finish() async {
    hasEnded = true
    await trying { [cache] () async throws(CacheError) in
      var content = HTTPCache.Stored.Content.bytes(gathered)
      if let entry {
        content = .entry(id: entry.id, byteCount: count)
        let outcome = try await cache.entries.disk.executor.runToEnd { () throws(CacheError) in
          try cache.entries.disk.engine.finish(entry.writer, entry.request)
        }
        guard outcome.isKept else { return false }
      }
      await cache.publish(stored.with(content), replacing: previous, flight)
      return true
    }
  }
}

extension HTTPCache {
  /// Removes what was written of a body, on one of the cache's threads, and lets those go who wait
  /// for it.
  fileprivate func discard(_ writer: EntryFileWriter?, _ flight: UInt64) async {
    if let writer {
      await countingFailure { () async throws(CacheError) in
        try await entries.disk.executor.runToEnd { () throws(CacheError) in
          _ = writer.takeStream()
          return true
        }
      }
    }
    await flights.end(flight, .flies)
  }
}
