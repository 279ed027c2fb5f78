import LarderBasics
import LarderSystem

extension DiskEngine {
  /// Counts a hit, moves the entry to the end of the order, and stamps the use or plans its stamp.
  ///
  /// - Returns: The expiry that the disk has, or will have when the pending stamp is written. A use
  ///   too soon after the one before extends nothing.
  func noteHit(
    _ name: EntryName, _ descriptor: borrowing FileDescriptor, _ status: FileStatus,
    lifetime: Lifetime, tag: UInt32, _ context: ReadContext
  ) -> Timestamp {
    let expiry = status.modification.asExpiry
    let extended = context.extending.extendedExpiry(of: expiry, lifetime: lifetime, at: context.now)
    let lag = recency.lag(for: lifetime)
    let isDue = isDue(status, lifetime, context.now)
    var hasChanged = false
    // Nil if the file gets no stamp, because it is to be removed or was replaced.
    let (access, promised) = withState { state -> (Timestamp?, Timestamp) in
      state.counters.countHit(of: status.byteCount)
      let access = state.catalog.uses.issueAccess(at: context.now)
      let standing = standing(of: name, status, context, in: &state)
      if standing == .outdated { state.catalog.index.touch(name, at: access) }
      guard let standing else { return (nil, expiry) }
      if standing == .outdated { return (access, expiry) }
      hasChanged = standing == .changed
      if hasChanged { state.untoldCount += 1 }
      if isDue && lag > .zero {
        state.catalog.uses.note(name, status, access: access, expiry: extended)
      }
      let entry = IndexedEntry(
        name: name, status: status, lastAccess: access, lifetime: lifetime, keyTag: tag)
      return (access, state.catalog.use(entry, status))
    }
    // From here on the file's event equals the index and is ignored, so the memory tiers are
    // notified here.
    if hasChanged { tellObservers(ofLearned: [name]) }
    guard isDue, let access else { return promised }
    if lag == .zero {
      return stampAtOnce(descriptor, name, status, access: access, expiry: extended, context)
        ?? promised
    }
    planDrain(within: lag)
    return promised
  }

  /// The relation of a file that was read to the present index entry of its name.
  private enum Standing {
    /// The file is the one in the index.
    case known
    /// A person or another process has made or changed the file.
    case changed
    /// Another thread has indexed a newer version after this read opened the file.
    case outdated
  }

  /// Compares a file that was read with the index; nil if it must stay out of the index.
  private func standing(
    of name: EntryName, _ status: FileStatus, _ context: ReadContext, in state: inout EngineState
  ) -> Standing? {
    // A file that was chosen for removal since it was opened stays out of the index.
    if state.hidesFile(named: name) { return nil }
    // Names share counters. If a change of another name moved this one's counter, the index tells
    // whether the file is still the entry's.
    let isCurrent = context.generation.map(generations.isCurrent) ?? false
    let known = state.catalog.index.entry(named: name)
    guard isCurrent || known?.inode == status.inode else { return nil }
    // A file without a name was removed or replaced after it was opened. One `rename` gives it and
    // the file that takes its name the same change time.
    let isGone = status.linkCount == 0
    // If there are events, another read may have indexed a newer file before the event of it came.
    let isOlder = known.map { $0.changeTime > status.change } ?? false
    if isGone || (!isCurrent || hasEvents) && isOlder {
      if isCurrent { outdateReaders(of: name) }
      return known == nil ? nil : .outdated
    }
    // Two files can have one change time, because it is rounded to the clock's tick.
    let isKnown = known?.changeTime == status.change && known?.inode == status.inode
    guard hasEvents, !isKnown else { return .known }
    if known != nil { outdateReaders(of: name) }
    return .changed
  }

  /// Counts a hit on a verified file in one hold of the lock.
  ///
  /// - Returns: Nil, with nothing counted, if more has to be done: the file is not known, is about
  ///   to be removed, or needs its stamp at once.
  func noteTrustedHit(
    _ subject: Subject, _ status: FileStatus, _ context: ReadContext
  ) -> (expiry: Timestamp, lifetime: Lifetime)? {
    let tag = subject.key.tag
    let (hit, lag) = withState { state -> ((expiry: Timestamp, lifetime: Lifetime)?, Int64) in
      guard !state.hidesFile(named: subject.name),
        let known = state.catalog.index.verified(
          subject.name, inode: status.inode, changeTime: status.change, keyTag: tag)
      else { return (nil, 0) }
      let isDue = isDue(status, known.lifetime, context.now)
      let lag = isDue ? recency.lagNanoseconds(for: known.lifetime) : 0
      if isDue && lag == 0 { return (nil, 0) }
      state.counters.countHit(of: status.byteCount)
      let expiry = state.catalog.use(known, of: subject.name, status, context, isDue: isDue)
      return ((expiry, known.lifetime), lag)
    }
    if lag > 0 { planDrain(within: .nanoseconds(lag)) }
    return hit
  }

  /// Whether a use must reach the disk: the stored last access is older than the granularity, or
  /// than 1/16 of the lifetime if that is shorter.
  func isDue(_ status: FileStatus, _ lifetime: Lifetime, _ now: Timestamp) -> Bool {
    // If stamps go by path, a stamp could reach the file that has replaced this one and extend its
    // life past its expiry.
    !isReadOnly && !isPathBound
      && recency.isDue(stored: min(status.lastAccess, now), now: now, lifetime: lifetime)
  }

  /// Notes that a file has expired in a way that the index does not know, because a person's
  /// `touch` or a neighbour has set its expiry. The next sweep removes it.
  func noteExpired(_ name: EntryName, _ status: FileStatus, _ context: ReadContext) {
    let hasChanged = withState { state in
      guard let generation = context.generation, generations.isCurrent(generation),
        let known = state.catalog.index.entry(named: name),
        known.inode != status.inode || known.changeTime != status.change
      else { return false }
      outdateReaders(of: name)
      state.catalog.scans.noteChange(of: name)
      state.catalog.index.upsert(IndexedEntry(name: name, status: status), order: .byLastAccess)
      state.untoldCount += 1
      return true
    }
    if hasChanged { tellObservers(ofLearned: [name]) }
  }

  /// Writes a use through the file that was read. Keeps an expiry that a person or another process
  /// has set since the file was read.
  ///
  /// - Returns: The expiry that the file has now; nil if it could not be read.
  private func stampAtOnce(
    _ descriptor: borrowing FileDescriptor, _ name: EntryName, _ status: FileStatus,
    access: Timestamp, expiry: Timestamp?, _ context: ReadContext
  ) -> Timestamp? {
    do throws(Errno) {
      let present = try descriptor.status()
      let isUnchanged = present.modification == status.modification
      return stamp(
        descriptor, name, present, access: access, expiry: isUnchanged ? expiry : nil,
        now: context.now)
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
      if isOnNetwork {
        // Both stamps are given, because sshfs sets one that is left out to now, which would end
        // the entry.
        try descriptor.setTimes(
          access: written, modification: stamp(for: expiry, stored: status.modification))
      } else {
        try descriptor.setTimes(access: written, modification: expiry)
      }
      let fresh = try descriptor.status()
      let meant = expiry ?? status.modification.asExpiry
      // Another process or a person has shortened the expiry while it was stamped. The two seconds
      // allow for file systems that hold less of a stamp.
      let isShortened = fresh.modification.asExpiry.adding(seconds: 2) < meant
      let hasChanged = withState { state in
        state.counters.countStamp()
        let isChanged = state.noteRestamped(name, from: status, to: fresh)
        guard isChanged || isShortened else { return false }
        outdateReaders(of: name)
        state.untoldCount += 1
        return true
      }
      // The index knows the file as it is now, so the event of the change is ignored. The tiers are
      // notified here instead.
      if hasChanged { tellObservers(ofLearned: [name]) }
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
        changing(name) { drainStamp(of: name) }
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
        expiry: isUnchanged ? pending.expiry : nil, now: now)
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
    IOExecutor.upkeep.submit(after: lag) { [weak self] in self?.drainStamps() }
  }
}

extension Catalog {
  /// Notes a use of a file in the state that the index has.
  ///
  /// - Parameter isDue: Whether the use has to reach the disk.
  /// - Returns: The expiry that the disk has, or will have when the pending stamp is written.
  mutating func use(
    _ known: EntryIndex.Verified, of name: EntryName, _ status: FileStatus,
    _ context: DiskEngine.ReadContext,
    isDue: Bool
  ) -> Timestamp {
    let access = uses.issueAccess(at: context.now)
    scans.noteChange(of: name)
    let stored = status.modification.asExpiry
    index.use(known.slot, at: access)
    // Most uses extend nothing, and extensions by earlier uses are in the index already.
    guard isDue || !uses.isEmpty else { return stored }
    if isDue {
      let extended = context.extending.extendedExpiry(
        of: stored, lifetime: known.lifetime, at: context.now)
      uses.note(name, status, access: access, expiry: extended)
    }
    let expiry = max(stored, uses.expiry(of: name, status) ?? stored)
    index.setExpiry(expiry, of: known.slot)
    return expiry
  }

  /// Makes a file that was used, and checked for the use, the entry of its name.
  ///
  /// - Returns: The expiry that the disk has, or will have when the pending stamp is written.
  mutating func use(_ entry: IndexedEntry, _ status: FileStatus) -> Timestamp {
    scans.noteChange(of: entry.name)
    var entry = entry
    entry.expiry = max(entry.expiry, uses.expiry(of: entry.name, status) ?? entry.expiry)
    index.upsert(entry, order: .mostRecent)
    return entry.expiry
  }
}
