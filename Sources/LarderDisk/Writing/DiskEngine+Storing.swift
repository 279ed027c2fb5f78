package import LarderBasics
package import LarderSystem

extension DiskEngine {
  /// A store without its content, or a touch: the key, the facts stored beside the content, and the
  /// conditions.
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
    /// Runs when the value is visible or was touched, before any other change of the name. With
    /// nil, runs before and after the removal of the older value, because the store failed or was
    /// rejected.
    package var onChange: (@Sendable (Published?) -> Void)?
    /// Runs with the name held when its file was replaced or removed, before `onChange`. Gets the
    /// status of the published file; nil if the index has none, because it was removed, went with
    /// everything else or is in another directory. Returns whether a value that had the name goes
    /// as well.
    package var onSettled: (@Sendable (FileStatus?) -> Bool)?
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
    try keepingPromise(request) { () throws(CacheError) in
      if request.accepted == nil,
        let outcome = try refusal(of: request, byteCount: content.count)
      {
        return outcome
      }
      var stream = try EntryStream(self, request.subject.name, toHold: content.count)
      try stream.write(content)
      return try finish(&stream, request, content)
    }
  }

  /// Stores a value that comes in pieces.
  func store(
    _ request: StoreRequest, _ body: (inout EntryStream) throws -> Void
  ) throws(CacheError) -> StoreOutcome {
    try keepingPromise(request) { () throws(CacheError) in
      if let outcome = try refusal(of: request) { return outcome }
      var stream = try EntryStream(self, request.subject.name)
      return try complete(&stream, request, body)
    }
  }

  /// Lets a closure write to a stream, and publishes the value.
  private func complete(
    _ stream: inout EntryStream, _ request: StoreRequest,
    _ body: (inout EntryStream) throws -> Void
  ) throws(CacheError) -> StoreOutcome {
    do {
      try body(&stream)
    } catch let error as CacheError {
      throw error
    } catch {
      throw CacheError(.callerFailed, operation: "store", underlying: "\(error)")
    }
    // A closure that goes on after a failed write has not written the whole value.
    if let failure = stream.failure { throw failure }
    // Asked again, because an asynchronous closure may have set expiration and extended data.
    let byteCount = stream.isTooLarge ? Int.max : stream.byteCount
    if let outcome = try refusal(of: request, byteCount: byteCount) { return outcome }
    return try finish(&stream, request)
  }

  /// Publishes what was written; or discards it, if the closure that wrote it has failed.
  ///
  /// - Throws: `CacheError`: the failure of the closure, or of the store.
  package func finish(
    _ writer: EntryFileWriter, failure: (any Error)? = nil
  ) throws(CacheError) -> StoreOutcome {
    let request = writer.request
    return try countingErrors { () throws(CacheError) in
      try keepingPromise(request) { () throws(CacheError) in
        guard var stream = writer.takeStream() else { throw EntryFileWriter.ended }
        return try complete(&stream, request) { _ in
          if let failure { throw failure }
        }
      }
    }
  }

  /// Publishes a value that was written. If its directory was removed meanwhile, the content is
  /// copied from the open file to a file in the directory that is there now.
  ///
  /// - Parameter content: The value, if it is in memory. If the disk is full, it is written once
  ///   more to another file, because what a flush could not write is lost.
  private func finish(
    _ stream: inout EntryStream, _ request: StoreRequest, _ content: Span<UInt8>? = nil
  ) throws(CacheError) -> StoreOutcome {
    do throws(CacheError) {
      let outcome: StoreOutcome
      if let content {
        var isRepeated = false
        outcome = try recovering(&stream.room, for: content.count) { () throws(CacheError) in
          if exchange(&isRepeated, with: true) {
            stream.file = try stage(request.subject.name, toHold: content.count)
            try attempt("store", at: location.path, stream.file.write(content))
          }
          return try finish(&stream.file, request)
        }
      } else {
        outcome = try finish(&stream.file, request)
      }
      if stream.room.isMade { judgeRoom(hasHelped: true) }
      return outcome
    } catch  where hasRecovered(from: error) || error.errno == .noSuchFile {
      // tmpfs makes unnamed files in a removed directory and refuses only to link them. Without
      // /proc some kernels never link one. See: man 2 linkat, AT_EMPTY_PATH.
      var copy = try stage(request.subject.name, mayBeUnnamed: false)
      try attempt("store", at: location.path, copy.copyContent(of: stream.file.descriptor))
      return try finish(&copy, request)
    }
  }

  /// Returns the outcome of a store that is rejected before anything is written; nil if it may go
  /// on. Extended data that is too large is an error.
  ///
  /// - Parameter byteCount: The value's length, if it is known.
  func refusal(
    of request: StoreRequest, byteCount: Int? = nil
  ) throws(CacheError) -> StoreOutcome? {
    let count = request.extendedData.count
    if count > Self.maximumExtendedDataCount {
      throw CacheError(
        .invalidArgument, operation: "store", path: location.path,
        underlying: "extended data of \(count) bytes; at most 1,024 are kept")
    }
    let now = self.now
    if request.expiration.expiry(at: now).hasCome(at: now) { return try reject(request, .expired) }
    let isTooLarge = byteCount ?? 0 > configuration.sizeLimit ?? .max
    if isTooLarge || configuration.sizeLimit == 0 || configuration.countLimit == 0 {
      return try reject(request, .tooLarge)
    }
    guard let byteCount, request.admits?(request.subject.key, byteCount) == false else {
      return nil
    }
    return try reject(request, .declined)
  }

  /// Starts a file, after a look at what other processes have stored, if this one has stored its
  /// share since the last, and after a removal of everything has made room.
  func stage(
    _ name: EntryName, toHold byteCount: Int = 0, mayBeUnnamed: Bool = true
  ) throws(CacheError) -> StagedFile {
    let (isNew, mustLook) = withState { state in
      let isNew = mayBeUnnamed && !state.catalog.index.contains(name)
      return (isNew, state.isScanned && state.evictions.mustLook)
    }
    if mustLook { lookAround() }
    waitForClearing(toHold: byteCount)
    try revalidate(isUrgent: false, mayMake: true, "store")
    do throws(CacheError) {
      return try attempt(
        "store", at: location.path, writer.stage(in: location.handle, isNew: isNew))
    } catch  where error.errno == .noSuchFile {
      // The directory is gone and is made again, once. See: man 2 open, ENOENT with O_CREAT.
      try revalidate(isUrgent: true, mayMake: true, "store")
      return try attempt(
        "store", at: location.path, writer.stage(in: location.handle, isNew: isNew))
    }
  }

  /// Takes a step of a store, and once more after an eviction if the disk was full.
  // Inlined, because a closure that is called copies the request and retains the engine.
  @inline(__always)
  func recovering<Result: ~Copyable>(
    _ room: inout StoreRoom, for byteCount: Int, _ step: () throws(CacheError) -> Result
  ) throws(CacheError) -> Result {
    while true {
      do throws(CacheError) {
        return try step()
      } catch  where error.code == .noSpace && room.isMade {
        judgeRoom(hasHelped: false)
        throw error
      } catch
        where error.code == .noSpace
        && makeRoom(for: byteCount, since: room.evictionCount)
      {
        room.isMade = true
      }
    }
  }

  /// Seals and publishes a complete file, takes it into the index, and keeps the limits.
  private func finish(
    _ file: inout StagedFile, _ request: StoreRequest
  ) throws(CacheError) -> StoreOutcome {
    let now = self.now
    var seal = request.accepted ?? seal(of: request, at: now)
    seal.begin = now
    try writer.seal(file, seal)
    if configuration.sizeMeasure == .allocatedBytes, let limit = configuration.sizeLimit {
      let status = try attempt("store", at: location.path, file.descriptor.status())
      if status.allocatedByteCount > UInt64(limit) { return try reject(request, .tooLarge) }
    }
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
      expiry: request.expiration.expiry(at: now),
      extendedData: request.extendedData, begin: now)
  }

  /// Rejects a store and removes the value that it was to replace.
  private func reject(
    _ request: StoreRequest, _ reason: StoreOutcome.Reason
  ) throws(CacheError) -> StoreOutcome {
    if !request.isExclusive { try removeOldValue(request) }
    return rejected(reason)
  }

  func rejected(_ reason: StoreOutcome.Reason) -> StoreOutcome {
    count { $0.rejections[reason, default: 0] += 1 }
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
      try removeOldValue(request)
      return false
    } catch {
      return true
    }
  }

  private func removeOldValue(_ request: StoreRequest) throws(CacheError) {
    // A value that waits is not dropped by the store that writes it.
    let onSettled = request.accepted == nil ? request.onSettled : nil
    _ = try remove(request.subject.name, request.subject, onSettled: onSettled, of: request)
  }
}

/// The room that a store makes if the disk is full: once for a value, because a disk that is full
/// for another reason must not empty the cache piece by piece.
struct StoreRoom: Sendable {
  /// The number of evictions for a full disk that were over when the store began.
  let evictionCount: Int
  var isMade = false
}
