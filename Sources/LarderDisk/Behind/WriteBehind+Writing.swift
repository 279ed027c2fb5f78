import LarderBasics
import LarderSystem

// Accepting values.
extension WriteBehind {
  /// Accepts a value to be written by another thread, or stores it at once if it cannot wait.
  ///
  /// From here on reads in this process return it until its file is in place. Waits while full.
  func store(_ content: Span<UInt8>, _ request: StoreRequest) throws(CacheError) -> StoreOutcome {
    if request.isExclusive { return try storeIfAbsent(content, request) }
    let cost = Backlog.cost(of: content.count, request.subject.key, request.extendedData)
    let isShared = request.isLoad && engine.sharesLoads
    if cost > limit || isShared { return try engine.store(content, request) }
    let refusal = try engine.keepingPromise(request) { () throws(CacheError) in
      try engine.refusal(of: request, byteCount: content.count)
    }
    if let refusal { return refusal }
    // Before the room is reserved, because a clock of the caller's may store as well.
    engine.readOwnClock()
    guard wait(for: { $0.reserve(cost, limit: limit) }) else {
      return try engine.store(content, request)
    }
    // There may be room for the next thread in the line too, which looked when this one was first.
    changed.signal()
    let isAccepted = accept([UInt8](copying: content), request)
    // The room was given back, or the value takes less of it than the one that it has replaced.
    changed.signal()
    guard isAccepted else {
      if withTable(\.isClosed) { throw engine.closedError("store").settingOldValueRemains(true) }
      return engine.rejected(.declined)
    }
    startWriterIfNeeded()
    return .pending
  }

  /// Adds a value for which room is reserved to the table. Gives the room back and returns false if
  /// the name was changed since the store was decided on, or the last object is being closed, so
  /// that no thread would write the value.
  private func accept(_ bytes: [UInt8], _ request: StoreRequest) -> Bool {
    let subject = request.subject
    engine.acquire(subject.name, readsClock: false)
    defer { engine.release(subject.name) }
    let now = engine.heldNow
    // Only for a load: its source was read before now, so a removal of everything that begins after
    // this line must discard the value.
    let earlierCount = request.isLoad ? engine.clearCount : nil
    let isWanted = request.isWanted?() != false
    // Memory forgets the old value before the new one is visible, as with any store.
    if isWanted { engine.tell(.entryWillChange(subject)) }
    let access = engine.issueAccess(of: subject.name, at: now)
    let seal = request.seal(lastAccess: access, at: now)
    let write = Backlog.Write(bytes, subject, seal)
    let clearCount = withTable { table -> Int? in
      table.giveBack(write.cost)
      let count = engine.clearCount
      guard isWanted, earlierCount ?? count == count, !table.isClosed else { return nil }
      table.add(write)
      return count
    }
    guard let clearCount else { return false }
    request.onChange?(
      PublishedValue(
        byteCount: bytes.count, expiry: write.seal.expiry, lifetime: write.seal.lifetime,
        clearCount: clearCount))
    engine.tell(.entryChanged(subject), except: request.origin)
    return true
  }
}

// Writing.
extension WriteBehind {
  /// The time that the first value of an idle table waits for further values, so that a burst wakes
  /// one thread once, and only the last of several values of a name is written.
  private static let gatheringTime = Duration.milliseconds(5)

  /// Has another thread write the waiting values, if there are any and none writes. If none can be
  /// started, the caller's thread writes them.
  func startWriterIfNeeded() {
    guard withTable({ $0.claimWriter() }) else { return }
    let caller = ThreadIdentity.current
    engine.waiting.submit { [self] in
      if caller != .current { pause(for: Self.gatheringTime) }
      while let write = withTable({ $0.nextOfWriter() }) { writeOut(write) }
      changed.signal()
    }
  }

  /// Writes a value whose turn has come, unless its name is dropped meanwhile.
  ///
  /// A failure removes the older value, as with any store. The next `flush()` or `close()` throws.
  private func writeOut(_ write: Backlog.Write) {
    var seal = write.seal
    let value = withTable { table in
      let value = table[write]
      table.writers.append((.current, value?.round ?? 0))
      return value
    }
    if let value { (seal.lastAccess, seal.expiry) = (value.lastAccess, value.expiry) }
    var request = StoreRequest(
      subject: write.subject, expiration: .never, extendedData: seal.extendedData)
    request.accepted = seal
    request.isWanted = { [self] in withTable { $0[write] != nil } }
    request.onSettled = { [self, seal] status in
      endWritten(write, seal, status)
      return false
    }
    let bytes = write.bytes
    do throws(CacheError) {
      if case .rejected(let reason) = try engine.store(bytes.span, request) {
        let isLost = reason == .tooLarge
        endLost(write, isLost ? CacheError(.notCached, operation: "store") : nil)
      }
    } catch {
      endLost(write, error)
    }
    withTable { $0.writers.removeAll { $0.thread == .current } }
    // A newer value of the name may have been passed over while this one was being written.
    startWriterIfNeeded()
    changed.signal()
    engine.observers.letGoElsewhere()
  }

  /// Ends the turn of a value whose file was published. Called with the name held.
  ///
  /// - Parameter status: The file; nil if it is in another directory.
  private func endWritten(_ write: Backlog.Write, _ seal: Seal, _ status: FileStatus?) {
    let value = withTable { $0.finishTurn(of: write, isWritten: true) }
    // Uses that came after the file was sealed.
    guard let status, let value, value.lastAccess > seal.lastAccess else { return }
    let (name, access) = (write.subject.name, value.lastAccess)
    let extended = value.expiry > seal.expiry ? value.expiry : nil
    let lag = engine.recency.dueLag(
      stored: status.lastAccess, now: access, lifetime: seal.lifetime,
      extended == nil ? .off : .lifetime, expiry: status.modification, extended: extended,
      owner: status.owner)
    engine.withState { state in
      guard let slot = state.catalog.index.slot(of: name) else { return }
      // A read of the file may have been counted already.
      let access = max(access, state.catalog.index.table.records[slot].lastAccess.timestamp)
      _ = state.catalog.use(
        slot, of: name, status, at: access, isDue: lag != nil, extended: extended)
    }
    if let lag { engine.planDrain(within: .nanoseconds(lag)) }
  }

  /// Ends the turn of a value that could not be written or turned out to be too large. The next
  /// `flush()` throws the first error, or the first after which an older value remains.
  private func endLost(_ write: Backlog.Write, _ error: CacheError?) {
    engine.changing(write.subject.name) { _ in
      let isLost = withTable { table in
        // If a newer value waits, readers miss nothing.
        let (value, name) = (table.finishTurn(of: write, isWritten: false), write.subject.name)
        guard let value, value.isSubstitute || table[name] == nil else { return false }
        let isWorse = error?.oldValueRemains == true && table.failure?.oldValueRemains == false
        if table.failure == nil || isWorse { table.failure = error }
        return table[name] == nil
      }
      guard isLost else { return }
      if error != nil { engine.count { $0.lostStores += 1 } }
      // The memory tiers were told of a value that is lost. A load that has begun since is newer.
      engine.tell(.filesChanged([write.subject.name]))
    }
  }

  /// Writes everything that was accepted before the call, or the values of one name, and waits for
  /// other threads that write parts of it and keep the limits. Later rounds are left to the writer,
  /// because a thread that keeps storing would hold up this one for ever.
  func writeAll(of name: EntryName? = nil) {
    guard mayHoldValues else { return }
    let last = withTable(\.latestRound)
    while let write = wait(for: { $0.step(for: name, upTo: last) }) { writeOut(write) }
  }

  /// Throws the first failure to write a value since the last call that threw one.
  func throwLoss() throws(CacheError) {
    if let failure = withTable({ exchange(&$0.failure, with: nil) }) { throw failure }
  }

  /// Accepts no more values, and writes those that were accepted. Those that a removal of
  /// everything has hidden may come back at its end.
  func end() {
    withTable { $0.isClosed = true }
    changed.signal()
    wait { $0.hidden.isEmpty ? () : nil }
    writeAll()
  }
}
