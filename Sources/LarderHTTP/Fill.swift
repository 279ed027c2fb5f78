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

  deinit {
    // The client has gone before the end: who waits asks on its own.
    guard !hasEnded else { return }
    Task { [cache, flight, entry] in
      await cache.discard(entry?.writer)
      await cache.flights.end(flight, .flies)
    }
  }

  /// Returns the next piece, after it was stored; nil at the end.
  func next() async throws -> [UInt8]? {
    guard !hasEnded else { return nil }
    do {
      let piece = try await pull()
      count += piece?.count ?? 0
      guard count <= announced ?? count, piece != nil || count == announced ?? count else {
        throw HTTPCache.BodyError.wrongLength
      }
      if let piece { await keep(piece) }
      // Nothing may follow the last byte that was announced.
      while count == announced, piece != nil, let rest = try await pull() {
        guard rest.isEmpty else { throw HTTPCache.BodyError.wrongLength }
      }
      if piece == nil || count == announced { await finish() }
      return piece
    } catch {
      hasEnded = true
      await cache.discard(entry?.writer)
      await cache.flights.end(flight, .flies)
      throw error
    }
  }

  private func pull() async throws -> [UInt8]? {
    var taken = iterator
    defer { iterator = taken }
    return try await taken.next()
  }

  /// Writes a piece. From the first failure on, the response goes on and is not stored.
  private func keep(_ piece: [UInt8]) async {
    guard isKept else { return }
    let limit = cache.configuration.bodyLimit ?? .max
    do throws(CacheError) {
      if count > limit {
        isKept = false
      } else if let entry {
        try await entry.writer.write(piece)
      } else {
        gathered += piece
        if count > Entry.largestInlineBody { try await openEntry() }
      }
    } catch {
      isKept = false
    }
    guard !isKept else { return }
    gathered = []
    await cache.discard(entry?.writer)
    cache.count { $0.notKept += 1 }
    await cache.flights.end(flight, .flies)
  }

  /// Begins an entry for a body that is too large for the file of its head.
  private func openEntry() async throws(CacheError) {
    let disk = cache.entries.disk
    let id = UInt64.random(in: .min ... .max)
    let request = disk.request(
      CacheKey(bodyOf: stored.url, id: id), cache.expiration(of: stored), [])
    let start = try await disk.runBlocking("store") { () throws(CacheError) in
      try disk.checkStorable()
      return try disk.engine.startStream(request, disk.executor)
    }
    guard case .writer(let writer) = start else {
      isKept = false
      return
    }
    entry = (id, writer, request)
    try await writer.write(gathered)
    gathered = []
  }

  /// Publishes the body, then the head that names it.
  private func finish() async {
    hasEnded = true
    var content = HTTPCache.Stored.Content.bytes(gathered)
    if let entry, isKept {
      let disk = cache.entries.disk
      do throws(CacheError) {
        let outcome = try await disk.executor.runToEnd { () throws(CacheError) in
          try disk.engine.finish(entry.writer, entry.request)
        }
        isKept = outcome.isKept
      } catch {
        isKept = false
      }
      content = .entry(id: entry.id, byteCount: count)
    }
    let hasStored =
      isKept ? await cache.publish(stored.with(content), replacing: previous, flight) : false
    await cache.flights.end(flight, hasStored ? .looksAgain : .flies)
  }
}

extension HTTPCache {
  /// Removes what was written of a body, on one of the cache's threads.
  fileprivate func discard(_ writer: EntryFileWriter?) async {
    guard let writer else { return }
    do throws(CacheError) {
      try await entries.disk.executor.runToEnd { () throws(CacheError) in _ = writer.takeStream() }
    } catch {
      preconditionFailure("taking a stream throws nothing")
    }
  }
}
