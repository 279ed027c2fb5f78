import Larder
import LarderBasics
import LarderDisk
import LarderSystem

/// What is stored for a request.
struct Found: Sendable {
  var stored: HTTPCache.Stored?
  /// Whether responses are stored for the URL, but for other values of the fields in `Vary`.
  var isOtherVariant = false
}

extension HTTPCache {
  /// Returns what is stored for a request. A failure of the disk counts as nothing.
  ///
  /// - Throws: `CacheError` with `.closed` and `.forked`; `CancellationError`.
  func lookUp(_ request: Request, _ url: String) async throws -> Found {
    do throws(CacheError) {
      switch try await entries.value(forKey: CacheKey(url: url)) {
      case nil: return Found()
      case .response(let stored):
        let isFor = stored.url == url && stored.variant == .only
        return Found(stored: isFor ? stored : nil)
      case .marker(let marker):
        let variant = Variant(names: marker.names, of: request)
        guard
          case .response(var stored) = try await entries.value(
            forKey: CacheKey(variant, of: marker)),
          stored.url == url, stored.variant == variant
        else { return Found(isOtherVariant: true) }
        stored.outdated = [stored.outdated, marker.outdated].compactMap { $0 }.max()
        return Found(stored: stored)
      }
    } catch {
      switch error.code {
      case .closed, .forked: throw error
      case .cancelled: throw CancellationError()
      default: return Found()
      }
    }
  }

  /// Returns the body of a stored response; nil if its entry is gone.
  func body(of stored: Stored) async throws -> Body? {
    switch stored.content {
    case .bytes(let bytes): return Body(bytes)
    case .entry(let id, let byteCount):
      do throws(CacheError) {
        let key = CacheKey(bodyOf: stored.url, id: id)
        guard let file = try await entries.disk.openFile(forKey: key, extending: .off),
          file.byteCount == byteCount
        else { return nil }
        return Body(file, 0..<byteCount)
      } catch {
        if error.code == .cancelled { throw CancellationError() }
        return nil
      }
    }
  }

  /// Runs a change of what is stored. A failure counts as a response that is not kept.
  @discardableResult
  func countingFailure(_ change: () async throws(CacheError) -> Bool) async -> Bool {
    do throws(CacheError) {
      return try await change()
    } catch {
      count { $0.notKept += 1 }
      return false
    }
  }

  /// Stores a response whose body is stored already, in place of an older one.
  ///
  /// - Parameter flight: The request that brought it. If it was invalidated, nothing is stored.
  /// - Returns: Whether the response is kept.
  func publish(_ stored: Stored, replacing previous: Stored?, _ flight: UInt64) async -> Bool {
    guard await flights.isWanted(flight) else { return false }
    return await countingFailure { () async throws(CacheError) in
      let key = try await key(for: stored)
      let outcome = try await entries.store(
        .response(stored), forKey: key, expiration: expiration(of: stored))
      // An invalidation since the first look removes first and sees this response, or this look
      // sees the invalidation.
      guard await flights.isWanted(flight) else {
        _ = try await invalidate(stored.url)
        return false
      }
      if let previous, previous.content != stored.content { try await removeBody(of: previous) }
      if !outcome.isKept { count { $0.notKept += 1 } }
      return outcome.isKept
    }
  }

  /// Returns the key for a response. Stores the marker before if the response varies.
  private func key(for stored: Stored) async throws(CacheError) -> CacheKey {
    let key = CacheKey(url: stored.url)
    guard !stored.variant.names.isEmpty else { return key }
    var current: Marker?
    if case .marker(let marker) = try await entries.value(forKey: key) { current = marker }
    let marker = await flights.marker(stored.url, stored.variant.names, stored: current)
    if current?.generation != marker.generation {
      try await entries.store(.marker(marker), forKey: key, expiration: .never)
    }
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
      let key = CacheKey(url: stored.url)
      if stored.variant == .only {
        try await entries.remove(forKey: key)
      } else if case .marker(let marker) = try await entries.value(forKey: key) {
        try await entries.remove(forKey: CacheKey(stored.variant, of: marker))
      }
      try await removeBody(of: stored)
      return true
    }
  }
}
