package import LarderBasics
package import LarderSystem

extension DiskEngine {
  /// A store without its content: the key, the facts stored beside the content, and its conditions.
  package struct StoreRequest: Sendable {
    package let subject: Subject
    var expiration: Expiration
    var extendedData: [UInt8]
    /// Whether a value of a number of bytes may be stored; nil for any.
    var admits: (@Sendable (CacheKey, _ byteCount: Int) -> Bool)?
    /// Whether the store leaves a present value in place.
    var isExclusive = false
    /// Whether the value is that of a load, whose source was read before the store.
    package var isLoad = false
    /// Whether the value is still to be stored, asked when the store holds the name.
    package var isWanted: (@Sendable () -> Bool)?
    /// The memory tier of the object that stores. `onChange` tells it.
    package var origin: ObjectIdentifier?
    /// The facts of a value that was accepted earlier, of which the memory tiers were told then;
    /// nil for a store that the caller makes now.
    var accepted: EntryWriter.Seal?
    /// Runs when the value is visible, before any other change of the name. With nil, runs before
    /// and after the removal of the older value, because the store failed or was rejected.
    package var onChange: (@Sendable (Published?) -> Void)?
    /// Runs with the name held when its file was replaced or removed, before `onChange`.
    /// Returns whether a value that had the name goes as well.
    var onSettled: (@Sendable (Settlement) -> Bool)?
  }

  /// What has become of the file of a name that was changed.
  package enum Settlement: Sendable {
    /// The index has the file that was published.
    case indexed(FileStatus)
    /// The file was published, and was removed with everything else or is in another directory.
    case passed
    case removed
  }

  /// A value that has just become visible.
  package struct Published: Sendable {
    package let byteCount: Int
    package let expiry: Timestamp
    package let lifetime: Lifetime
    /// The number of removals of everything that had begun.
    let clearCount: Int
  }

  /// The largest extended data. With a key of 2,000 bytes and the attribute's other fields it fits
  /// into ext4's block of 4 KiB.
  package static let maximumExtendedDataCount = 1024

  /// Stores a value that is in memory.
  func store(
    _ content: Span<UInt8>, _ request: StoreRequest
  ) throws(CacheError) -> StoreOutcome {
    if request.accepted == nil,
      let outcome = try refusal(of: request, byteCount: content.count)
    {
      return outcome
    }
    let evictions = fullDiskCount
    return try keepingPromise(request) { () throws(CacheError) in
      do throws(CacheError) {
        return try storeOnce(content, request)
      } catch  where error.code == .noSpace && makeRoom(for: content.count, since: evictions) {
        return try storeAgain(content, request)
      } catch  where hasRecovered(from: error) || error.errno == .noSuchFile {
        // tmpfs makes unnamed files in a removed directory and refuses only to link them. Without
        // /proc some kernels never link one. See: man 2 linkat, AT_EMPTY_PATH.
        return try storeOnce(content, request, mayBeUnnamed: false)
      }
    }
  }

  /// Stores a value for which room was made.
  private func storeAgain(
    _ content: Span<UInt8>, _ request: StoreRequest
  ) throws(CacheError) -> StoreOutcome {
    do throws(CacheError) {
      let outcome = try storeOnce(content, request)
      judgeRoom(hasHelped: true)
      return outcome
    } catch {
      if error.code == .noSpace { judgeRoom(hasHelped: false) }
      throw error
    }
  }

  private func storeOnce(
    _ content: Span<UInt8>, _ request: StoreRequest, mayBeUnnamed: Bool = true
  ) throws(CacheError) -> StoreOutcome {
    var file = try stage(
      request.subject.name, toHold: content.count, mayBeUnnamed: mayBeUnnamed)
    try attempt("store", at: location.path, file.write(content))
    return try finish(&file, request)
  }

  /// Stores a value that comes in pieces.
  func store(
    _ request: StoreRequest,
    _ body: (inout EntryStream) throws -> Void
  ) throws(CacheError) -> StoreOutcome {
    if let outcome = try refusal(of: request) { return outcome }
    return try keepingPromise(request) { () throws(CacheError) in
      var stream = try openStream(request)
      return try complete(&stream, request, body)
    }
  }

  /// Lets a closure write to a stream, and publishes the value.
  private func complete(
    _ stream: inout EntryStream, _ request: StoreRequest,
    _ body: (inout EntryStream) throws -> Void
  ) throws(CacheError) -> StoreOutcome {
    do throws(CacheError) {
      try stream.fill(body)
      let outcome =
        if stream.isTooLarge {
          try reject(request, .tooLarge)
        } else if isDeclined(request, byteCount: stream.byteCount) {
          try reject(request, .declined)
        } else {
          try finish(&stream, request)
        }
      if stream.hasMadeRoom { judgeRoom(hasHelped: true) }
      return outcome
    } catch {
      if stream.hasMadeRoom && error.code == .noSpace { judgeRoom(hasHelped: false) }
      throw error
    }
  }

  /// Starts a value that comes in pieces.
  private func openStream(_ request: StoreRequest) throws(CacheError) -> EntryStream {
    let evictions = fullDiskCount
    return EntryStream(
      try stage(request.subject.name), limit: configuration.sizeLimit, path: location.path
    ) { self.makeRoom(for: $0, since: evictions) }
  }

  /// The start of a store whose content an asynchronous closure writes.
  package enum StreamStart: Sendable {
    /// The closure can write.
    case writer(EntryFileWriter)
    /// The value would not be stored whatever its content.
    case rejected(StoreOutcome)
  }

  /// Starts a store whose content an asynchronous closure writes. The caller takes the stream from
  /// the writer in the end.
  ///
  /// A store that fails here or in `finish` removes the older value, as every store does.
  package func startStream(
    _ request: StoreRequest, _ executor: IOExecutor
  ) throws(CacheError) -> StreamStart {
    try countingErrors { () throws(CacheError) in
      if let outcome = try refusal(of: request) { return .rejected(outcome) }
      return try keepingPromise(request) { () throws(CacheError) in
        .writer(EntryFileWriter(try openStream(request), executor))
      }
    }
  }

  /// Publishes what was written; or discards it, if the closure that wrote it has failed.
  ///
  /// - Throws: `CacheError`: the failure of the closure, or of the store.
  package func finish(
    _ writer: EntryFileWriter, _ request: StoreRequest, failure: (any Error)? = nil
  ) throws(CacheError) -> StoreOutcome {
    let request = writer.described(request)
    return try countingErrors { () throws(CacheError) in
      // Checked again, because the closure may have set expiration and extended data.
      if failure == nil, let outcome = try refusal(of: request) { return outcome }
      return try keepingPromise(request) { () throws(CacheError) in
        guard var stream = writer.takeStream() else { throw EntryFileWriter.ended }
        return try complete(&stream, request) { _ in
          if let failure { throw failure }
        }
      }
    }
  }

  /// Publishes a value that came in pieces. If its directory was removed meanwhile, the content is
  /// copied from the open file to a file in the directory that is there now.
  private func finish(
    _ stream: inout EntryStream, _ request: StoreRequest
  ) throws(CacheError) -> StoreOutcome {
    do throws(CacheError) {
      return try finish(&stream.file, request)
    } catch  where hasRecovered(from: error) || error.errno == .noSuchFile {
      var copy = try stage(request.subject.name, mayBeUnnamed: false)
      try attempt("store", at: location.path, copy.copyContent(of: stream.file.descriptor))
      return try finish(&copy, request)
    }
  }

  /// Returns the outcome of a store that is rejected before anything is written; nil if it may go
  /// on. Extended data that is too large is an error. Either way the older value is removed.
  ///
  /// - Parameter byteCount: The value's length, if it is known before it is written.
  func refusal(
    of request: StoreRequest, byteCount: Int? = nil
  ) throws(CacheError) -> StoreOutcome? {
    let count = request.extendedData.count
    if count > Self.maximumExtendedDataCount {
      try keepingPromise(request) { () throws(CacheError) in
        throw CacheError(
          .invalidArgument, operation: "store", path: location.path,
          underlying: "extended data of \(count) bytes; at most 1,024 are kept")
      }
    }
    let now = self.now
    if request.expiration.expiry(at: now).hasCome(at: now) { return try reject(request, .expired) }
    let isTooLarge = byteCount.map { $0 > configuration.sizeLimit ?? .max } ?? false
    if isTooLarge || configuration.sizeLimit == 0 || configuration.countLimit == 0 {
      return try reject(request, .tooLarge)
    }
    guard let byteCount, isDeclined(request, byteCount: byteCount) else { return nil }
    return try reject(request, .declined)
  }

  private func isDeclined(_ request: StoreRequest, byteCount: Int) -> Bool {
    guard let admits = request.admits else { return false }
    return !admits(request.subject.key, byteCount)
  }

  /// Starts a file, after a look at what other processes have stored, if this one has stored its
  /// share since the last, and after a removal of everything has made room.
  private func stage(
    _ name: EntryName, toHold byteCount: Int = 0, mayBeUnnamed: Bool = true
  ) throws(CacheError) -> StagedFile {
    if mayBe(.mustLook) { lookAround() }
    waitForClearing(toHold: byteCount)
    let isNew = mayBeUnnamed && withState { !$0.catalog.index.contains(name) }
    try revalidate(isUrgent: false, mayMake: true, "store")
    do throws(Errno) {
      return try writer.stage(in: location.handle, isNew: isNew)
    } catch {
      guard error == .noSuchFile else {
        throw CacheError(errno: error, operation: "store", path: location.path)
      }
    }
    // The directory is gone and is made again, once. See: man 2 open, ENOENT with O_CREAT.
    try revalidate(isUrgent: true, mayMake: true, "store")
    return try attempt(
      "store", at: location.path, writer.stage(in: location.handle, isNew: isNew))
  }

  /// Seals and publishes a complete file, takes it into the index, and keeps the limits.
  private func finish(
    _ file: inout StagedFile, _ request: StoreRequest
  ) throws(CacheError) -> StoreOutcome {
    let now = self.now
    var seal = request.accepted ?? seal(of: request, at: now)
    seal.begin = now
    try writer.seal(file, seal)
    if try isTooLarge(file) { return try reject(request, .tooLarge) }
    let outcome = try publish(&file, request, seal)
    // With no name held, because an eviction holds other names.
    if outcome == .stored { keepLimits(after: request.subject.name) }
    return outcome
  }

  /// Returns the facts of a value that is stored or accepted now.
  func seal(of request: StoreRequest, at now: Timestamp) -> EntryWriter.Seal {
    EntryWriter.Seal(
      key: request.subject.key, lifetime: request.expiration.lifetime,
      lastAccess: withState { $0.catalog.uses.issueAccess(at: now) },
      expiry: request.expiration.expiry(at: now), extendedData: request.extendedData, begin: now)
  }

  /// Whether a sealed file's blocks exceed the size limit, if the limit counts blocks.
  private func isTooLarge(_ file: borrowing StagedFile) throws(CacheError) -> Bool {
    guard configuration.sizeMeasure == .allocatedBytes, let limit = configuration.sizeLimit
    else { return false }
    let status = try attempt("store", at: location.path, file.descriptor.status())
    return status.allocatedByteCount > UInt64(limit)
  }

  /// Rejects a store and removes the value that it was to replace.
  func reject(
    _ request: StoreRequest, _ reason: StoreOutcome.Reason
  ) throws(CacheError) -> StoreOutcome {
    if !request.isExclusive {
      do throws(CacheError) {
        _ = try remove(
          request.subject.name, request.subject, cause: .replaced, of: request)
      } catch {
        throw error.settingOldValueRemains(true)
      }
    }
    return rejected(reason)
  }

  func rejected(_ reason: StoreOutcome.Reason) -> StoreOutcome {
    withState { $0.counters.rejections[reason, default: 0] += 1 }
    return .rejected(reason)
  }

  /// Removes the older value if a store fails, or reports that it remains.
  // Inlined, because a closure that is called copies the request and retains the engine.
  @inline(__always)
  package func keepingPromise<Result>(
    _ request: StoreRequest, _ step: () throws(CacheError) -> Result
  ) throws(CacheError) -> Result {
    do throws(CacheError) {
      return try step()
    } catch {
      throw error.settingOldValueRemains(oldValueRemains(request, after: error))
    }
  }

  /// Removes the older value after a store has failed, and returns whether it remains.
  private func oldValueRemains(_ request: StoreRequest, after failure: CacheError) -> Bool {
    // Replaces a missing directory, so that the next store finds one.
    _ = hasRecovered(from: failure)
    if request.isExclusive { return true }
    do throws(CacheError) {
      _ = try remove(
        request.subject.name, request.subject, cause: .replaced, of: request)
      return false
    } catch {
      return true
    }
  }
}
