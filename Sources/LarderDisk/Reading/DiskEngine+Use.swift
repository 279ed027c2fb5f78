import LarderBasics
import LarderSystem

extension DiskEngine {
  /// Counts a hit, moves the entry to the end of the order, and stamps the use or plans its stamp.
  ///
  /// - Returns: The expiry that the disk has, or will have when the pending stamp is written. A use
  ///   too soon after the one before extends nothing.
  func countHit(
    _ name: EntryName, _ descriptor: borrowing FileDescriptor, _ status: FileStatus,
    _ proof: FileProof, _ context: ReadContext
  ) -> Timestamp {
    let expiry = status.modification.asExpiry
    let extended = context.extending.extendedExpiry(
      of: expiry, lifetime: proof.lifetime, at: context.now)
    let lag = recency.lag(for: proof.lifetime, context.extending)
    let isDue = isDue(status, proof.lifetime, context.extending, context.now)
    let (effects, (access, kept)) = learn(name) { state in
      state.counters.countHit(of: status.byteCount)
      let access = state.catalog.uses.issueAccess(at: context.now)
      let (effects, kept) = state.use(
        IndexedEntry(name: name, status: status, lastAccess: access, proof: proof), status,
        isDue: isDue && lag > .zero, extended: extended,
        isCurrent: generations.isCurrent(context.generation), hasEvents: hasEvents)
      return (effects, (access, kept))
    }
    // A file that is to be removed, or was replaced, gets no stamp.
    guard isDue, !effects.contains(.isStray) else { return kept }
    // A pending use would not agree with the newer state of the file that the index has.
    if lag == .zero || effects.contains(.isOlder) {
      return stampAtOnce(descriptor, name, status, access: access, expiry: extended, context)
        ?? kept
    }
    planDrain(within: lag)
    return kept
  }

  /// The engine's knowledge of a file that was opened.
  struct Recall: Sendable {
    /// The entry, if attributes and content were checked for this very file and key.
    var verified: (slot: EntrySlot, proof: FileProof)?
    var proof: FileProof? { verified?.proof }
    /// The expiry that the file will have when its pending use is written.
    var pendingExpiry: Timestamp?
  }

  /// The result of looking at what is known of a file that was opened.
  enum Look: Sendable {
    /// The file is verified, and the hit is counted.
    case noted(expiry: Timestamp, lifetime: Lifetime)
    /// Nothing is counted, because more has to be done: the file is not known, or is to be stamped
    /// at once.
    case recalled(Recall)
  }

  /// Recalls what is known of a file that was opened.
  ///
  /// - Parameter counts: Whether a hit on a verified file is counted in the same hold of the lock.
  func recall(
    _ subject: Subject, _ status: FileStatus, _ context: ReadContext, counts: Bool
  ) -> Look {
    let tag = subject.key.tag
    let (look, lag) = withState { state -> (Look, Int64) in
      var recall = Recall(
        verified: state.catalog.index.verified(
          subject.name, inode: status.inode, changeTime: status.change, keyTag: tag))
      var (isDue, lag) = (false, Int64(0))
      if counts, let proof = recall.proof {
        isDue = self.isDue(status, proof.lifetime, context.extending, context.now)
        if isDue { lag = recency.lagNanoseconds(for: proof.lifetime, context.extending) }
      }
      guard counts, let known = recall.verified, !isDue || lag > 0 else {
        recall.pendingExpiry = state.catalog.uses.expiry(of: subject.name, status)
        return (.recalled(recall), 0)
      }
      state.counters.countHit(of: status.byteCount)
      let access = state.catalog.uses.issueAccess(at: context.now)
      let expiry = state.catalog.use(
        known.slot, of: subject.name, status, at: access, isDue: isDue,
        extended: context.extending.extendedExpiry(
          of: status.modification.asExpiry, lifetime: known.proof.lifetime, at: context.now))
      return (.noted(expiry: expiry, lifetime: known.proof.lifetime), lag)
    }
    if lag > 0 { planDrain(within: .nanoseconds(lag)) }
    return look
  }

  /// Whether a use must reach the disk: the stored last access is older than the lag allowed.
  func isDue(
    _ status: FileStatus, _ lifetime: Lifetime, _ extending: ExpirationExtending, _ now: Timestamp
  ) -> Bool {
    !isReadOnly
      && recency.isDue(stored: min(status.lastAccess, now), now: now, lifetime: lifetime, extending)
  }

  /// Writes a use through the file that was read. Keeps an earlier expiry that a person or another
  /// process has set since the file was read. A later one may be the extension by another use.
  ///
  /// - Returns: The expiry that the file has now; nil if it could not be read.
  private func stampAtOnce(
    _ descriptor: borrowing FileDescriptor, _ name: EntryName, _ status: FileStatus,
    access: Timestamp, expiry: Timestamp?, _ context: ReadContext
  ) -> Timestamp? {
    do throws(Errno) {
      let present = try descriptor.status()
      let mayExtend = present.modification >= status.modification
      let extended = expiry.flatMap { mayExtend && $0 > present.modification.asExpiry ? $0 : nil }
      return stamp(
        descriptor, name, present, access: access, expiry: extended, now: context.now)
    } catch {
      noteUpkeepFailure(error)
      return nil
    }
  }

  /// Writes a use through an open file.
  ///
  /// - Returns: The expiry that the file has now; nil if the stamp could not be written.
  @discardableResult
  func stamp(
    _ descriptor: borrowing FileDescriptor, _ name: EntryName, _ status: FileStatus,
    access: Timestamp, expiry: Timestamp?, now: Timestamp
  ) -> Timestamp? {
    do throws(Errno) {
      let written = Recency.access(used: access, stored: status.lastAccess, now: now)
      // On a network both stamps are given, because a program behind FUSE may set one that is left
      // out to now, as sshfs does, which would end the entry.
      let modification = isOnNetwork ? stamp(for: expiry, stored: status.modification) : expiry
      try descriptor.setTimes(access: written, modification: modification)
      let fresh = try descriptor.status()
      guard fresh.linkCount > 0 else {
        withState { $0.counters.countDroppedStamp() }
        return nil
      }
      let meant = expiry ?? status.modification.asExpiry
      // Another process or a person has shortened the expiry while it was stamped. The two seconds
      // allow for file systems that hold less of a stamp.
      let isShortened = fresh.modification.asExpiry.adding(seconds: 2) < meant
      // The index knows the file as it is now, so the event of the change is ignored. The tiers are
      // notified here instead.
      _ = learn(name) { state in
        state.counters.countStamp()
        let isChanged = state.catalog.restamp(name, from: status, to: fresh)
        return (isChanged || isShortened ? .isLearned : [], ())
      }
      return fresh.modification.asExpiry
    } catch {
      // Another user's file, or a disk that no longer accepts writes. The value is still good.
      noteUpkeepFailure(error)
      return nil
    }
  }

  /// Returns the modification time that a use sets: the stored one unless the expiry is another.
  private func stamp(for expiry: Timestamp?, stored: Timestamp) -> Timestamp {
    guard let expiry, expiry != stored.asExpiry else { return stored }
    return writer.holdable(expiry, in: location.handle)
  }

  /// The number of slots whose names a drain takes under one lock.
  private static let drainCount = 1024

  /// Writes the pending uses of all names.
  func drainStamps() {
    let slotCount = withState { $0.catalog.uses.beginDrain() }
    for start in stride(from: 0, to: slotCount, by: Self.drainCount) {
      let end = min(start + Self.drainCount, slotCount)
      for name in withState({ $0.catalog.uses.names(in: start..<end) }) {
        changing(name) { _ in drainStamp(of: name) }
      }
    }
    _ = withState { $0.catalog.uses.endDrain() }
    changed.signal()
  }

  /// Drains the pending uses and waits for drains of other threads, so that every use counted
  /// before is on the disk.
  func waitForStamps() {
    drainStamps()
    wait { $0.catalog.uses.isDraining ? nil : () }
  }

  private func drainStamp(of name: EntryName) {
    guard let pending = withState({ $0.catalog.uses.take(name) }) else { return }
    do throws(Errno) {
      let descriptor = try location.handle.openForReading(name.fileName)
      let status = try descriptor.status()
      guard status.inode == pending.inode, status.isRegular else { throw .staleHandle }
      // An expiry other than the one seen was set by a person or a neighbour and is kept.
      let isUnchanged = status.modification == pending.expirySeen
      stamp(
        descriptor, name, status, access: pending.lastAccess,
        expiry: isUnchanged ? pending.expiry : nil, now: heldNow)
    } catch .noSuchFile, .staleHandle, .tooManyLinks, .noSuchDeviceOrAddress {
      // The file is gone, or the name is that of another file, a link or a socket.
      withState { $0.counters.countDroppedStamp() }
    } catch {
      noteUpkeepFailure(error)
    }
  }

  /// Plans a drain of the pending uses no later than a lag from now.
  func planDrain(within lag: Duration) {
    let deadline = MonotonicTime.now.advanced(by: lag)
    guard withState({ $0.catalog.uses.planDrain(by: deadline) }) else { return }
    runLater(after: lag) { engine in
      engine.drainStamps()
      if engine.withState({ $0.catalog.uses.endPlannedDrain() }) { engine.planDrain(within: lag) }
    }
  }
}

extension Catalog {
  /// Notes a use of a file in the state that the index has.
  ///
  /// - Parameters:
  ///   - isDue: Whether the use has to reach the disk and waits for a drain.
  ///   - extended: The expiry to which the use extends, if it is due.
  /// - Returns: The expiry that the disk has, or will have when the pending stamp is written.
  mutating func use(
    _ slot: EntrySlot, of name: EntryName, _ status: FileStatus, at access: Timestamp,
    isDue: Bool, extended: @autoclosure () -> Timestamp?
  ) -> Timestamp {
    scans.noteChange(of: name)
    let stored = status.modification.asExpiry
    index.use(slot, at: access)
    // Most uses extend nothing, and extensions by earlier uses are in the index already.
    guard isDue || !uses.isEmpty else { return stored }
    if isDue { uses.note(name, status, access: access, expiry: extended()) }
    let expiry = max(stored, uses.expiry(of: name, status) ?? stored)
    index.setExpiry(expiry, of: slot)
    return expiry
  }
}

extension EngineState {
  /// Notes a use of a file that was read, and makes the file the entry of its name if it is still
  /// that.
  ///
  /// - Parameters:
  ///   - isDue: Whether the use has to reach the disk and waits for a drain.
  ///   - extended: The expiry to which the use extends, if it is due.
  /// - Returns: What follows, and the expiry that the disk has, or will have when the pending stamp
  ///   is written.
  fileprivate mutating func use(
    _ entry: IndexedEntry, _ status: FileStatus, isDue: Bool, extended: Timestamp?,
    isCurrent: @autoclosure () -> Bool, hasEvents: @autoclosure () -> Bool
  ) -> (Effects, Timestamp) {
    let (name, access) = (entry.name, entry.lastAccess)
    var (slot, effects) = (EntrySlot?.none, Effects())
    if status.linkCount > 0 { slot = catalog.index.verify(entry) }
    if slot == nil {
      let hit = Evidence.hit(isUnlinked: status.linkCount == 0, hasEvents: hasEvents())
      effects = settle(
        Finding(name: name, met: entry, evidence: hit), isCurrent: isCurrent(), at: access)
      if effects.contains(.isOlder) { catalog.index.touch(name, at: access) }
      if effects.isDisjoint(with: [.isOlder, .isStray]) {
        catalog.index.upsert(entry, order: .mostRecent)
        slot = catalog.index.slot(of: name)
      }
    }
    guard let slot else { return (effects, status.modification.asExpiry) }
    let expiry = catalog.use(slot, of: name, status, at: access, isDue: isDue, extended: extended)
    return (effects, expiry)
  }
}
