extension DiskEngine {
  /// How long the first value of an idle backlog waits for others to follow, so that a burst wakes
  /// one thread once and the last of several values of a name is the one written.
  private static let gatheringTime = Duration.milliseconds(5)

  /// Accepts a value to be written by another thread.
  ///
  /// From here on this process answers with it: every operation that needs the file of a name
  /// writes what waits under it first. Waits while the backlog is full.
  func storeBehind(
    _ content: Span<UInt8>, _ request: StoreRequest, limit: Int
  ) throws(CacheError) -> StoreOutcome {
    let count = content.count
    wait { $0.backlog.reserve(count, limit: limit) ? () : nil }
    guard let mustStart = accept([UInt8](copying: content), request) else {
      withState { $0.backlog.giveBack(count) }
      return rejected(.declined)
    }
    if mustStart { startWriter() }
    return .pending
  }

  /// Puts a value, whose place is reserved, into the backlog.
  ///
  /// - Returns: Whether a thread has to be asked to write it; nil when it is not wanted any more.
  private func accept(_ bytes: [UInt8], _ request: StoreRequest) -> Bool? {
    let (subject, now) = (request.subject, now)
    acquire(subject.name)
    defer { release(subject.name) }
    if isOutdated(request) { return nil }
    let (seal, mustStart) = withState { state -> (EntryWriter.Seal, Bool) in
      let seal = EntryWriter.Seal(
        key: subject.key, lifetime: request.expiration.lifetime,
        lastAccess: state.issueAccess(at: now), expiry: request.expiration.expiry(at: now),
        extendedData: request.extendedData)
      state.backlog.add(bytes, subject, seal)
      defer { state.backlog.hasWriter = true }
      return (seal, !state.backlog.hasWriter)
    }
    request.onPublish?(
      Published(byteCount: bytes.count, expiry: seal.expiry, lifetime: seal.lifetime))
    tellObservers(subject, except: request.origin)
    return mustStart
  }

  /// Has another thread write what waits; where none can be started, the caller's own does.
  private func startWriter() {
    IOExecutor.writing.submit(after: Self.gatheringTime) { self.writeBacklog() }
    if !IOExecutor.writing.hasThreads { writeBacklog() }
  }

  /// Writes what waits until nothing does.
  private func writeBacklog() {
    while let write = nextWrite() { writeOut(write) }
  }

  private func nextWrite() -> Backlog.Write? {
    withState { state in
      let write = state.backlog.next()
      if write == nil { state.backlog.hasWriter = false }
      return write
    }
  }

  /// Writes a value unless a newer one of its name was accepted or stored meanwhile. Two threads
  /// may write the same one; the second finds it done.
  ///
  /// A failure removes the older value, as that of any store does, and is told by the next
  /// `flush()` or `close()`.
  private func writeOut(_ write: Backlog.Write) {
    var request = StoreRequest(
      subject: write.subject, expiration: .never, extendedData: write.seal.extendedData)
    request.write = write
    let bytes = write.bytes
    do throws(CacheError) {
      if case .rejected = try store(bytes.span, request) { drop(write) }
    } catch {
      noteLoss(of: write, error)
    }
    changed.signal()
  }

  /// Forgets a value that turned out to be too large.
  private func drop(_ write: Backlog.Write) {
    withState { state in
      if state.backlog.isCurrent(write) { state.backlog.drop(write.subject.name) }
    }
    tellObservers(write.subject, except: nil)
  }

  private func noteLoss(of write: Backlog.Write, _ error: CacheError) {
    let name = write.subject.name
    acquire(name)
    defer { release(name) }
    let isLost = withState { state in
      guard state.backlog.isCurrent(write) else { return false }
      state.backlog.drop(name)
      state.statistics.lostStores += 1
      if state.backlog.failure == nil { state.backlog.failure = error }
      return true
    }
    // Memory tiers were told of a value that is not there.
    if isLost { tellObservers(write.subject, except: nil) }
  }

  /// Sees that the file of a name is the latest value, whoever was to write it.
  ///
  /// - Returns: Whether there was one to be written.
  @discardableResult
  func writePending(_ name: EntryName) -> Bool {
    guard mayBe(.hasBacklog), let write = withState({ $0.backlog[name] }) else { return false }
    writeOut(write)
    return true
  }

  /// Writes everything that waits, and waits for what other threads are writing.
  func writePending() {
    guard mayBe(.hasBacklog) else { return }
    let latest = withState { $0.backlog.latest }
    while let write = nextWrite() { writeOut(write) }
    wait { $0.backlog.holdsAny(upTo: latest) ? nil : () }
  }

  /// Throws the first failure of a later write since this was asked last.
  func throwLoss() throws(CacheError) {
    let failure = withState { state in
      defer { state.backlog.failure = nil }
      return state.backlog.failure
    }
    if let failure { throw failure }
  }
}
