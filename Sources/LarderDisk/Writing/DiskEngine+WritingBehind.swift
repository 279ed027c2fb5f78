import LarderBasics
import LarderSystem

extension DiskEngine {
  /// How long the first value of an idle backlog waits for others to follow, so that a burst wakes
  /// one thread once and the last of several values of a name is the one written.
  private static let gatheringTime = Duration.milliseconds(5)

  /// Accepts a value to be written by another thread.
  ///
  /// From here on this process answers with it, from memory, until its file is in place. Waits
  /// while the backlog is full.
  func storeBehind(
    _ content: Span<UInt8>, _ request: StoreRequest, limit: Int
  ) throws(CacheError) -> StoreOutcome {
    let count = content.count
    var place: UInt64?
    let isAwaited = wait { state in
      state.backlog.reserve(count, limit: limit, place: &place) ? state.backlog.isAwaited : nil
    }
    // The next in the line may find room as well, and has looked while this one was before it.
    if isAwaited { changed.signal() }
    switch accept([UInt8](copying: content), request) {
    case .accepted(let mustStart):
      if mustStart { startWriter() }
      return .pending
    case .unwanted:
      giveBackPlace(of: count)
      return rejected(.declined)
    case .closed:
      giveBackPlace(of: count)
      throw CacheError(
        .closed, operation: "store", path: location.path, oldValueRemains: true)
    }
  }

  private func giveBackPlace(of count: Int) {
    withState { $0.backlog.giveBack(count) }
    changed.signal()
  }

  private enum Acceptance: Sendable {
    /// The value waits; a thread has to be asked to write it, or one was before.
    case accepted(mustStart: Bool)
    /// The name was changed since the store was decided on.
    case unwanted
    /// The engine is ending, and nobody would write the value.
    case closed
  }

  /// Puts a value, whose place is reserved, into the backlog.
  private func accept(_ bytes: [UInt8], _ request: StoreRequest) -> Acceptance {
    let (subject, now) = (request.subject, now)
    acquire(subject.name)
    defer { release(subject.name) }
    if isOutdated(request) { return .unwanted }
    // Memory forgets the old value before the new one shows, as with any store.
    tellObservers(before: subject)
    let accepted = withState { state -> (EntryWriter.Seal, mustStart: Bool, clearCount: Int)? in
      if state.phase.isEnding { return nil }
      let seal = EntryWriter.Seal(
        key: subject.key, lifetime: request.expiration.lifetime,
        lastAccess: state.uses.issueAccess(at: now), expiry: request.expiration.expiry(at: now),
        extendedData: request.extendedData)
      state.backlog.add(bytes, subject, seal)
      return (seal, state.backlog.claimWriter(), state.clearing.count)
    }
    guard let (seal, mustStart, clearCount) = accepted else { return .closed }
    var origin = request.origin
    if let onPublish = request.onPublish {
      onPublish(Published(byteCount: bytes.count, expiry: seal.expiry, lifetime: seal.lifetime))
      // A clearing that has dropped the value told memory to forget everything before memory had it.
      if withState({ $0.clearing.count }) != clearCount { origin = nil }
    }
    tellObservers(subject, except: origin)
    return .accepted(mustStart: mustStart)
  }

  /// Has another thread write what waits; where none can be started, the caller's own does.
  func startWriter() {
    IOExecutor.writing.submit(after: Self.gatheringTime) { self.writeBacklog() }
    if !IOExecutor.writing.hasThreads { writeBacklog() }
  }

  /// Writes what waits until nothing does.
  private func writeBacklog() {
    while let write = nextWrite() { writeOut(write) }
    changed.signal()
  }

  private func nextWrite() -> Backlog.Write? {
    withState { state in
      let write = state.backlog.next()
      if write == nil { state.backlog.hasWriter = false }
      return write
    }
  }

  /// Writes a value whose turn has come, unless its name is dropped meanwhile.
  ///
  /// A failure removes the older value, as that of any store does, and is told by the next
  /// `flush()` or `close()`.
  private func writeOut(_ write: Backlog.Write) {
    var request = StoreRequest(
      subject: write.subject, expiration: .never, extendedData: write.seal.extendedData)
    request.write = write
    let bytes = write.bytes
    do throws(CacheError) {
      if case .rejected = try store(bytes.span, request) { noteLoss(of: write, nil) }
    } catch {
      noteLoss(of: write, error)
    }
    // A newer value of the name may have been passed over because this one was being written.
    if withState({ $0.backlog.claimWriter() }) { startWriter() }
    changed.signal()
  }

  /// Forgets a value that could not be written, or turned out to be too large.
  private func noteLoss(of write: Backlog.Write, _ error: CacheError?) {
    let name = write.subject.name
    acquire(name)
    defer { release(name) }
    let isLost = withState { state in
      // When a newer value waits, nothing that a reader could miss is lost.
      guard state.backlog.settle(write, isWritten: false) != nil, state.backlog[name] == nil
      else { return false }
      if let error {
        state.counters.countLostStore()
        if state.backlog.failure == nil { state.backlog.failure = error }
      }
      return true
    }
    // Memory tiers were told of a value that is not there.
    if isLost { tellObservers(write.subject, except: nil) }
  }

  /// Sees that the file of a name is no older than what was accepted before the call.
  func writePending(_ name: EntryName) {
    guard mayBe(.hasBacklog) else { return }
    let latest = withState { $0.backlog.latest }
    while case .write(let write) = wait(for: { $0.backlog.step(for: name, upTo: latest) }) {
      writeOut(write)
    }
  }

  /// Writes everything that was accepted before the call, and waits for what other threads are
  /// writing of it. What is accepted meanwhile is left to the writer: a thread that keeps storing
  /// would hold up this one for ever.
  func writePending() {
    guard mayBe(.hasBacklog) else { return }
    let latest = withState { $0.backlog.latest }
    while case .write(let write) = wait(for: { $0.backlog.step(upTo: latest) }) {
      writeOut(write)
    }
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
