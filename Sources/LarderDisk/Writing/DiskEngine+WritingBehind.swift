import LarderBasics
import LarderSystem

extension DiskEngine {
  /// The time that the first value of an idle backlog waits for further values, so that a burst
  /// wakes one thread once, and only the last of several values of a name is written.
  private static let gatheringTime = Duration.milliseconds(5)

  /// Accepts a value to be written by another thread.
  ///
  /// From here on reads in this process return it from memory until its file is in place. Waits
  /// while the backlog is full.
  func storeBehind(
    _ content: Span<UInt8>, _ request: StoreRequest, cost: Int, limit: Int
  ) throws(CacheError) -> StoreOutcome {
    // Before the room is reserved, because a clock of the caller's may store as well.
    let now = now
    var place: UInt64?
    let isAwaited = wait { state in
      state.backlog.reserve(cost, limit: limit, place: &place) ? state.backlog.isAwaited : nil
    }
    // There may be room for the next thread in the line as well. It has looked before, when this
    // thread was ahead of it.
    if isAwaited { changed.signal() }
    switch accept([UInt8](copying: content), request, at: now) {
    case .accepted(let mustStart):
      if mustStart { startWriter() }
      return .pending
    case .unwanted:
      giveBackPlace(of: cost)
      return rejected(.declined)
    case .closed:
      giveBackPlace(of: cost)
      throw CacheError(
        .closed, operation: "store", path: location.path, oldValueRemains: true)
    }
  }

  private func giveBackPlace(of count: Int) {
    withState { $0.backlog.giveBack(count) }
    changed.signal()
  }

  private enum Acceptance: Sendable {
    /// The value waits. `mustStart` is false if a thread has been asked to write already.
    case accepted(mustStart: Bool)
    /// The name was changed since the store was decided on.
    case unwanted
    /// The engine is ending, and no thread would write the value.
    case closed
  }

  /// Puts a value for which room is reserved into the backlog.
  private func accept(
    _ bytes: [UInt8], _ request: StoreRequest, at now: Timestamp
  ) -> Acceptance {
    let subject = request.subject
    acquire(subject.name, readsClock: false)
    defer { release(subject.name) }
    // Only for a load: its source was read before now, so a clearing that begins after this line
    // must discard the value.
    let earlierCount = request.isWanted == nil ? nil : withState { $0.clearing.count }
    if isOutdated(request) { return .unwanted }
    // Memory forgets the old value before the new one is visible, as with any store.
    tellObservers(before: subject)
    let accepted = withState { state -> (EntryWriter.Seal, mustStart: Bool, clearCount: Int)? in
      if state.phase.isEnding { return nil }
      if let earlierCount, state.clearing.count != earlierCount { return nil }
      let seal = EntryWriter.Seal(
        key: subject.key, lifetime: request.expiration.lifetime,
        lastAccess: state.catalog.uses.issueAccess(at: now),
        expiry: request.expiration.expiry(at: now),
        extendedData: request.extendedData, begin: now)
      state.backlog.add(bytes, subject, seal)
      return (seal, state.backlog.claimWriter(), state.clearing.count)
    }
    guard let (seal, mustStart, clearCount) = accepted else {
      return withState { $0.phase.isEnding } ? .closed : .unwanted
    }
    request.onChange?(
      Published(
        byteCount: bytes.count, expiry: seal.expiry, lifetime: seal.lifetime,
        clearCount: clearCount))
    tellObservers(subject, except: request.origin)
    return .accepted(mustStart: mustStart)
  }

  /// Has another thread write the waiting values. If none can be started, the caller's thread
  /// writes them.
  func startWriter() {
    IOExecutor.writing.submit(after: Self.gatheringTime) { self.writeBacklog() }
    if !IOExecutor.writing.hasThreads { writeBacklog() }
  }

  /// Writes waiting values until there are none.
  private func writeBacklog() {
    while let write = nextWrite() { writeOut(write) }
    changed.signal()
  }

  private func nextWrite() -> Backlog.Write? {
    withState { state -> (Backlog.Write?, Backlog.Remains?) in
      state.backlog.writer = .current
      if let write = state.backlog.next() { return (write, nil) }
      return (nil, state.backlog.endWriting())
    }.0
  }

  /// Writes a value whose turn has come, unless its name is dropped meanwhile.
  ///
  /// A failure removes the older value, as with any store, and is thrown by the next `flush()` or
  /// `close()`.
  private func writeOut(_ write: Backlog.Write) {
    var request = StoreRequest(
      subject: write.subject, expiration: .never, extendedData: write.seal.extendedData)
    request.write = write
    let bytes = write.bytes
    do throws(CacheError) {
      if case .rejected = try store(bytes.span, request) { noteLostWrite(write, nil) }
    } catch {
      noteLostWrite(write, error)
    }
    // A newer value of the name may have been passed over while this one was being written.
    if withState({ $0.backlog.claimWriter() }) { startWriter() }
    changed.signal()
    observers.letGoElsewhere()
  }

  /// Drops a value that could not be written or turned out to be too large.
  private func noteLostWrite(_ write: Backlog.Write, _ error: CacheError?) {
    let name = write.subject.name
    acquire(name)
    defer { release(name) }
    let isLost = withState { state in
      // If a newer value waits, readers miss nothing.
      guard state.backlog.finishTurn(of: write, isWritten: false) != nil, state.backlog[name] == nil
      else { return false }
      if let error {
        state.counters.countLostStore()
        if state.backlog.failure == nil { state.backlog.failure = error }
      }
      return true
    }
    // The memory tiers were told of a value that is lost.
    if isLost { tellObservers(write.subject, except: nil) }
  }

  /// Writes the values of a name that were accepted before the call, or waits until other threads
  /// have written them.
  func writePending(_ name: EntryName) {
    guard mayBe(.hasBacklog) else { return }
    let latest = withState { $0.backlog.latest }
    while case .write(let write) = wait(for: { $0.backlog.step(for: name, upTo: latest) }) {
      writeOut(write)
    }
  }

  /// Writes everything that was accepted before the call, and waits for other threads that are
  /// writing parts of it. Values that are accepted meanwhile are left to the writer, because a
  /// thread that keeps storing would hold up this one for ever.
  func writePending() {
    guard mayBe(.hasBacklog) else { return }
    let latest = withState { $0.backlog.latest }
    while case .write(let write) = wait(for: { $0.backlog.step(upTo: latest) }) {
      writeOut(write)
    }
  }

  /// Throws the first failure to write a value of the backlog since the last call that threw one.
  func throwLoss() throws(CacheError) {
    if let failure = withState({ exchange(&$0.backlog.failure, with: nil) }) { throw failure }
  }
}
