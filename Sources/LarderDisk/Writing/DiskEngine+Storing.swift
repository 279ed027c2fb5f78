package import LarderBasics
import LarderSystem
import Synchronization

extension DiskEngine {
  /// Stores a value that is in memory.
  func store(_ content: Span<UInt8>, _ request: StoreRequest) throws(CacheError) -> StoreOutcome {
    try keepingPromise(request) { () throws(CacheError) in
      if request.accepted == nil,
        let outcome = try refusal(of: request, byteCount: content.count)
      {
        return outcome
      }
      // Asked again with the name held. A full disk would evict for bytes that are not stored.
      if request.isExclusive { try revalidate(isUrgent: false, mayMake: true, "store") }
      if request.isExclusive, try heldValue(of: request.subject, for: .file) != nil {
        return rejected(.alreadyPresent)
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
    } catch {
      throw error as? CacheError
        ?? CacheError(.callerFailed, operation: "store", underlying: "\(error)")
    }
    // A closure that goes on after a failed write has not written the whole value.
    if let failure = stream.failure { throw failure }
    try checkWritable("store")
    // Asked again, because an asynchronous closure may have set expiration and extended data.
    let byteCount = stream.isTooLarge ? Int.max : stream.byteCount
    if let outcome = try refusal(of: request, byteCount: byteCount) { return outcome }
    return try finish(&stream, request)
  }

  /// Publishes what was written; or discards it, if the closure that wrote it has failed.
  package func finish(
    _ writer: EntryFileWriter, failure: (any Error)? = nil
  ) throws(CacheError) -> StoreOutcome {
    let request = writer.request
    return try countingErrors { () throws(CacheError) in
      try keepingPromise(request) { () throws(CacheError) in
        guard var stream = writer.takeStream() else { throw EntryFileWriter.ended }
        return try complete(&stream, request) { _ in
          if let failure { throw failure }
          let isCut = writer.isCut.load(ordering: .relaxed)
          if isCut { throw CacheError(.cancelled, operation: "store") }
        }
      }
    }
  }

  /// Publishes a value that was written. If its directory was removed meanwhile, the content is
  /// copied from the open file to a file in the directory that is there now.
  ///
  /// - Parameter content: The value, if it is in memory. If the disk is full, it is written once
  ///   more to another file, because what a flush could not write is lost, as it is of a stream.
  private func finish(
    _ stream: inout EntryStream, _ request: StoreRequest, _ content: Span<UInt8>? = nil
  ) throws(CacheError) -> StoreOutcome {
    do throws(CacheError) {
      // The directory may have been moved away since the file was begun.
      try revalidate(isUrgent: false, mayMake: true, "store")
      guard stream.file.handle === location.handle else {
        throw CacheError(errno: .noSuchFile, operation: "store", path: location.path)
      }
      var isRepeated = false
      let outcome = try recovering(
        &stream.room, for: stream.byteCount, content != nil || !stream.file.isFlushed
      ) { () throws(CacheError) in
        if let content, exchange(&isRepeated, with: true) {
          stream.file = try stage(request.subject.name, toHold: content.count)
          try attempt("store", at: location.path, stream.file.write(content))
        }
        return try publishAndKeepLimits(&stream.file, request)
      }
      if stream.room.isMade { judgeRoom(hasHelped: true) }
      return outcome
    } catch  where hasRecovered(from: error) || error.errno == .noSuchFile {
      // tmpfs makes unnamed files in a removed directory and refuses only to link them. Without
      // /proc some kernels never link one. See: man 2 linkat, AT_EMPTY_PATH.
      var copy = try stage(request.subject.name, mayBeUnnamed: false)
      try attempt("store", at: location.path, copy.copyContent(of: stream.file.descriptor))
      return try publishAndKeepLimits(&copy, request)
    }
  }

  /// Returns the outcome of a store that is rejected before it writes; nil if it may go on.
  func refusal(
    of request: StoreRequest, byteCount: Int? = nil
  ) throws(CacheError) -> StoreOutcome? {
    let reason = try request.rejection(byteCount: byteCount, at: now, configuration, location.path)
    guard let reason else { return nil }
    return try reject(request, reason)
  }

  /// Starts a file, after a look at what other processes have stored, if this one has stored its
  /// share since the last, and after a removal of everything has made room.
  func stage(
    _ name: EntryName, toHold byteCount: Int = 0, mayBeUnnamed: Bool = true
  ) throws(CacheError) -> StagedFile {
    let (isNew, mustLook) = withState { [configuration] state in
      let isNew = mayBeUnnamed && !state.catalog.index.contains(name)
      // For a limit of the count each store looks, because it may be of few values.
      let isDue = configuration.sizeLimit != nil && state.evictions.mustLook
      return (isNew, state.isScanned && (isDue || configuration.countLimit != nil))
    }
    if mustLook { lookAround() }
    waitForClearing { [self] in $0.hasRoom(for: byteCount, configuration) }
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

  /// Takes a step of a store. If the disk is full and it may repeat, evicts and takes it again.
  // Inlined, because a closure that is called copies the request and retains the engine.
  @inline(__always)
  func recovering<Result: ~Copyable>(
    _ room: inout StoreRoom, for byteCount: Int, _ mayRepeat: @autoclosure () -> Bool = true,
    _ step: () throws(CacheError) -> Result
  ) throws(CacheError) -> Result {
    while true {
      do throws(CacheError) {
        return try step()
      } catch  where error.code == .noSpace && room.isMade {
        judgeRoom(hasHelped: false)
        throw error
      } catch
        where error.code == .noSpace && mayRepeat()
        && makeRoom(for: byteCount, since: room.evictionCount)
      {
        room.isMade = true
      }
    }
  }

  /// Seals and publishes a complete file, takes it into the index, and keeps the limits.
  private func publishAndKeepLimits(
    _ file: inout StagedFile, _ request: StoreRequest
  ) throws(CacheError) -> StoreOutcome {
    let now = self.now
    let name = request.subject.name
    var seal = request.accepted ?? request.seal(lastAccess: issueAccess(of: name, at: now), at: now)
    seal.begin = now
    // XFS has allocated up to three times as much as was written, and gives the rest back.
    if file.byteCount > 64 << 10, file.handle.fileSystem.name == "xfs" {
      try attempt("store", at: location.path, file.descriptor.truncate(to: file.byteCount))
    }
    try writer.seal(&file, seal)
    if configuration.sizeMeasure == .allocatedBytes, let limit = configuration.sizeLimit {
      let status = try attempt("store", at: location.path, file.descriptor.status())
      if status.allocatedByteCount > UInt64(limit) { return try reject(request, .tooLarge) }
    }
    let outcome = try publish(&file, request, seal)
    // With no name held, because an eviction holds other names.
    if outcome == .stored { keepLimits(after: name) }
    return outcome
  }

  /// Returns the time of a store or use, later than that of the use before. In an index with
  /// classes of value the entry moves to its new place at once if it is used.
  @discardableResult
  func issueAccess(of name: EntryName, isUse: Bool = false, at now: Timestamp) -> Timestamp {
    withState { state in
      let access = state.catalog.issueAccess(of: name, isUse: isUse, at: now)
      let hasClasses = state.catalog.index.measure != nil
      let slot = isUse && hasClasses ? state.catalog.index.slot(of: name) : nil
      if let slot { state.catalog.index.use(slot, at: access) }
      return access
    }
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

// Room on a full disk.
extension DiskEngine {
  /// Makes room on a full disk: evicts down to the trim target, or waits for a store that does.
  ///
  /// - Parameter count: The number of evictions that were over when the store began to write. A
  ///   later one counts for this store too.
  /// - Returns: Whether anything was freed, so that another try makes sense. The caller passes the
  ///   outcome of that try to `judgeRoom(hasHelped:)`.
  func makeRoom(for byteCount: Int, since count: Int) -> Bool {
    guard configuration.makesRoom else { return false }
    var start: IndexTotals?
    let hasCleared = waitForClearing { state in
      var gone = start ?? state.clearing.remaining
      start = gone
      gone -= state.clearing.remaining
      return gone.allocatedByteCount > UInt64(byteCount)
    }
    if hasCleared { return true }
    holdSweeps(1)
    defer {
      holdSweeps(-1)
      checkLimits()
    }
    // Not waited for as long as a large directory takes. A later store can evict then.
    let end = MonotonicTime.now.advanced(by: configuration.scanPatience)
    while case let ticket = changed.ticket(), case let progress = startScan(again: false),
      progress != .finished
    {
      if case .failed = progress { return false }
      guard .now < end else { return false }
      changed.wait(ticket, until: .now.advanced(by: .milliseconds(50)))
    }
    let now = self.now
    var plan: TrimPlan?
    let step = wait { [configuration] state -> FullDiskEvictions.Step? in
      let step = state.fullDisk.step(since: count, at: .now, pause: configuration.fullDiskPause)
      if step == .evict { plan = state.planRoom(for: byteCount, at: now, configuration) }
      return step
    }
    guard let plan else { return step == .retry }
    let hasFreed = evict(EvictionRun(plan)).removal.removed > 0
    withState { $0.fullDisk.end(hasFreed: hasFreed) }
    fullDiskMark.wrappingAdd(1, ordering: .relaxed)
    changed.signal()
    if !hasFreed { judgeRoom(hasHelped: false) }
    return hasFreed
  }

  /// Judges the last eviction for a full disk by a store that was tried again after it.
  func judgeRoom(hasHelped: Bool) {
    withState { state in
      if state.fullDisk.judge(hasHelped: hasHelped, at: .now) { state.counters.vainEvictions += 1 }
    }
  }
}

/// The room that a store makes if the disk is full: once for a value, because a disk that is full
/// for another reason must not empty the cache piece by piece.
struct StoreRoom: Sendable {
  /// The number of evictions for a full disk that were over when the store last wrote, or began.
  var evictionCount: Int
  var isMade = false
}
