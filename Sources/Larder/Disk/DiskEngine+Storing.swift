extension DiskEngine {
  /// What is to be stored beside the content.
  struct StoreRequest: Sendable {
    let subject: Subject
    var expiration: Expiration
    var extendedData: [UInt8]
    /// Whether a value that is there stays.
    var isExclusive = false
    /// Whether the value is still to be stored when its turn among the changes of the name comes.
    var isWanted: (@Sendable () -> Bool)?
    /// The memory tier whose object stores, which needs not be told.
    var origin: ObjectIdentifier?
    /// Runs when the value is visible, before any other change of the name.
    var onPublish: (@Sendable (Published) -> Void)?
  }

  /// A value that has just become visible.
  struct Published: Sendable {
    let byteCount: Int
    let expiry: Timestamp
    let lifetime: Lifetime
  }

  /// The largest extended data.
  static let maximumExtendedDataCount = 1024

  /// Stores a value that is in memory.
  func store(
    _ content: Span<UInt8>, _ request: StoreRequest
  ) throws(CacheError) -> StoreOutcome {
    if let reason = rejection(of: request, byteCount: content.count) {
      return try reject(request, reason)
    }
    return try keepingPromise(request) { () throws(CacheError) in
      do throws(CacheError) {
        return try storeOnce(content, request)
      } catch  where error.code == .noSpace && makeRoom(for: content.count) {
        return try storeOnce(content, request)
      }
    }
  }

  private func storeOnce(
    _ content: Span<UInt8>, _ request: StoreRequest
  ) throws(CacheError) -> StoreOutcome {
    waitForRoom(content.count)
    var file = try stage(request.subject.name)
    do throws(Errno) {
      try file.write(content)
    } catch {
      throw CacheError(error, operation: "store", path: location.path)
    }
    return try finish(&file, request)
  }

  /// Stores a value that comes in pieces.
  func store(
    _ request: StoreRequest,
    _ body: (inout EntryStream) throws -> Void
  ) throws(CacheError) -> StoreOutcome {
    if let reason = rejection(of: request, byteCount: 0) { return try reject(request, reason) }
    return try keepingPromise(request) { () throws(CacheError) in
      waitForRoom(0)
      var stream = EntryStream(
        try stage(request.subject.name), limit: configuration.sizeLimit, path: location.path)
      do {
        try body(&stream)
      } catch let error as CacheError {
        throw error
      } catch {
        throw CacheError(.callerFailed, operation: "store", underlying: "\(error)")
      }
      if stream.isTooLarge { return try reject(request, .tooLarge) }
      if isDeclined(request, byteCount: stream.byteCount) {
        return try reject(request, .declined)
      }
      return try finish(&stream.file, request)
    }
  }

  /// Why a value is not stored, nil when it is.
  private func rejection(of request: StoreRequest, byteCount: Int) -> StoreOutcome.Reason? {
    if request.expiration.expiry(at: now) <= now { return .expired }
    if let limit = configuration.sizeLimit, limit == 0 || byteCount > limit { return .tooLarge }
    if configuration.countLimit == 0 { return .tooLarge }
    return byteCount > 0 && isDeclined(request, byteCount: byteCount) ? .declined : nil
  }

  private func isDeclined(_ request: StoreRequest, byteCount: Int) -> Bool {
    guard let shouldStore = configuration.shouldStore else { return false }
    return !shouldStore(request.subject.key, byteCount)
  }

  private func stage(_ name: EntryName) throws(CacheError) -> StagedFile {
    let isNew = withState { $0.index.entry(named: name) == nil && $0.doomed[name] == nil }
    do throws(Errno) {
      do throws(Errno) {
        if try location.revalidate(isUrgent: false) { directoryChanged() }
        return try writer.stage(in: location.handle, isNew: isNew)
      } catch .noSuchFile {
        // The directory is gone: it is made again, once. See: man 2 open, ENOENT with O_CREAT.
        if try location.revalidate(isUrgent: true) { directoryChanged() }
        return try writer.stage(in: location.handle, isNew: isNew)
      }
    } catch {
      throw CacheError(error, operation: "store", path: location.path)
    }
  }

  /// Seals and publishes a complete file and takes it into the index.
  private func finish(
    _ file: inout StagedFile, _ request: StoreRequest
  ) throws(CacheError) -> StoreOutcome {
    let now = self.now
    let seal = EntryWriter.Seal(
      key: request.subject.key, lifetime: request.expiration.lifetime,
      lastAccess: withState { $0.issueAccess(at: now) },
      expiry: request.expiration.expiry(at: now), extendedData: request.extendedData)
    try writer.seal(file, seal)
    let name = request.subject.name
    acquire(name)
    defer { release(name) }
    if let isWanted = request.isWanted, !isWanted() { return .rejected(.declined) }
    if request.isExclusive, try holdsValue(request.subject) { return .rejected(.alreadyPresent) }
    guard let status = try publish(&file, request) else { return .rejected(.alreadyPresent) }
    let tag = request.subject.key.tag
    let entry = IndexedEntry(
      name: name, status: status, lastAccess: seal.lastAccess, lifetime: seal.lifetime,
      keyTag: tag)
    withState { $0.noteStored(entry) }
    request.onPublish?(
      Published(
        byteCount: Int(status.byteCount), expiry: seal.expiry, lifetime: seal.lifetime))
    tellObservers(request.subject.key, except: request.origin)
    enforceLimits(after: name)
    return .stored
  }

  private func publish(
    _ file: inout StagedFile, _ request: StoreRequest
  ) throws(CacheError) -> FileStatus? {
    let name = request.subject.name.fileName
    // A file that is there although it holds no value is in nobody's way.
    let isExclusive = request.isExclusive && !isOccupied(name)
    do throws(Errno) {
      return try writer.publish(&file, as: name, isExclusive: isExclusive)
    } catch {
      throw CacheError(error, operation: "store", path: "\(location.path)/\(name.text)")
    }
  }

  private func isOccupied(_ name: FileName) -> Bool {
    do throws(Errno) {
      _ = try location.handle.status(of: name)
      return true
    } catch {
      return false
    }
  }

  /// Whether a value is there that a read would return.
  private func holdsValue(_ subject: Subject) throws(CacheError) -> Bool {
    try inspect(subject) != nil
  }

  /// Rejects a store and removes what it was to replace.
  private func reject(
    _ request: StoreRequest, _ reason: StoreOutcome.Reason
  ) throws(CacheError) -> StoreOutcome {
    if !request.isExclusive {
      _ = try remove(request.subject, cause: .replaced)
    }
    withState { $0.statistics.rejections[reason, default: 0] += 1 }
    return .rejected(reason)
  }

  /// Sees that a store that fails leaves no older value to be served, or says that it does.
  private func keepingPromise(
    _ request: StoreRequest, _ store: () throws(CacheError) -> StoreOutcome
  ) throws(CacheError) -> StoreOutcome {
    do throws(CacheError) {
      return try store()
    } catch {
      if request.isExclusive { throw error }
      var remains = false
      do throws(CacheError) {
        _ = try remove(request.subject, cause: .replaced)
      } catch {
        remains = true
      }
      throw error.settingOldValueRemains(remains)
    }
  }
}
