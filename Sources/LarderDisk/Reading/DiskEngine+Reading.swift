package import LarderBasics
package import LarderSystem

/// The result of a read, with the file still open.
package struct FoundValue: ~Copyable {
  /// Nil for the bytes of a value that waits to be written.
  let descriptor: FileDescriptor?
  let byteCount: Int
  /// The last access before this one.
  package let lastAccess: Timestamp
  package var bytes: [UInt8]
  package var extendedData: [UInt8]
  /// The expiry, with the extension by this read.
  package var expiry: Timestamp
  package let lifetime: Lifetime
  /// The name's generation from before the file was opened; nil if the name was being changed.
  package var generation: EntryGenerations.Snapshot?

  /// Moves the descriptor out of the result, which is consumed.
  package consuming func takeDescriptor() -> FileDescriptor? { descriptor }
}

/// The circumstances of one read.
package struct ReadContext: Sendable {
  let generation: EntryGenerations.Snapshot?
  let extending: ExpirationExtending
  let now: Timestamp
  /// The time past its expiry for which a value is still found.
  let staleness: Duration

  /// A staleness longer than any value has been expired for: a read finds every value with a file.
  package static let anyStaleness = Duration.seconds(1 << 34)
}

/// A read of a file, in two parts: `open` and `answer`. The first of these steps that applies ends
/// it:
///
/// 1. The index shows that there is no file to read: `.absent`. An exclusive cache can tell, and so
///    can every cache during a removal of everything.
/// 2. The file cannot be opened: `.absent`, `.foreign` or `.unreadable` (`EntryReader.open`).
/// 3. Its status objects: `.foreign`, `.otherOwner`, `.oversized` or `.expired`
///    (`EntryTrust.missReason`).
/// 4. This process has verified this state of the file (inode, change time) for this key. A short
///    file is served, and its use counted, in one hold of the lock (`countIfVerified`). A long one
///    skips the next two steps.
/// 5. Its attributes object: `.otherVersion`, `.damaged`, `.otherKey` or `.unproven`
///    (`EntryReader.examine`).
/// 6. Its content does not match its hash: `.damaged` (`EntryReader.matches`).
/// 7. The value is served, and the use counted (`countHit`).
///
/// The caller has asked `WriteBehind` for a value that waits, and noted the name's generation. A
/// change of the name moves it, and then neither memory nor the index keeps what was found.
extension DiskEngine {
  /// Opens the file of a key; returns nil for a miss that is counted.
  // Inlined, because handing an opened file on costs a fortieth of a miss.
  @inline(__always)
  func open(
    _ subject: Subject, _ generation: EntryGenerations.Snapshot?
  ) throws(CacheError) -> EntryReader.Opening? {
    // Once a second another directory at the path is followed.
    followReplacement()
    if missesByIndex(subject.name, generation) { return nil }
    return try openFile(of: subject.name)
  }

  /// Counts a miss and returns true if no look at the directory is needed for it.
  @inline(__always)
  func missesByIndex(_ name: EntryName, _ generation: EntryGenerations.Snapshot?) -> Bool {
    // Not while the name is being changed: a read may have found a new file that the index lacks.
    configuration.mode == .exclusive && generation != nil && missesKnownAbsent(name, generation)
  }

  /// Opens the file of a name, unless a removal of everything hides it.
  @inline(__always)
  func openFile(of name: EntryName) throws(CacheError) -> EntryReader.Opening {
    if hidesFile(named: name) { return .missed(.absent, nil) }
    return try reader.open(name.fileName, in: location.handle)
  }

  /// Checks and reads a file that was opened, and counts the use: the second part of a read.
  func answer(
    _ opening: consuming EntryReader.Opening, _ subject: Subject, for purpose: ReadPurpose,
    _ generation: EntryGenerations.Snapshot?, extending: ExpirationExtending, staleness: Duration
  ) throws(CacheError) -> FoundValue? {
    switch consume opening {
    case .missed(let reason, _): return miss(reason, subject.name, nil, generation)
    case .file(let descriptor, let status):
      let context = ReadContext(
        generation: generation, extending: extending, now: now, staleness: staleness)
      do throws(Errno) {
        return try answer(descriptor, status, subject, purpose, context)
      } catch {
        // A failure that says what is wrong with the file is a miss.
        return miss(try EntryReader.missReason(for: error, of: subject.name))
      }
    }
  }

  private func answer(
    _ descriptor: consuming FileDescriptor, _ status: FileStatus, _ subject: Subject,
    _ purpose: ReadPurpose, _ context: ReadContext
  ) throws(Errno) -> FoundValue? {
    // The content is read before the lock is taken, so that a hit on a verified file takes the lock
    // once. If the file is unverified, `answerInFull` checks these bytes.
    let isQuick = purpose == .value && mayBeQuick(status, context)
    let bytes = isQuick ? try descriptor.read(upTo: Int(status.byteCount)) : nil
    var isWhole = bytes?.count == Int(status.byteCount)
    // What was written to in place meanwhile is checked anew.
    if isWhole, try descriptor.status().change != status.change { isWhole = false }
    let known = countIfVerified(subject, status, context, mayCount: isWhole)
    guard let expiry = known.countedExpiry, let check = known.check else {
      return try answerInFull(descriptor, status, subject, purpose, context, known, bytes)
    }
    return FoundValue(
      descriptor: descriptor, byteCount: Int(status.byteCount), lastAccess: status.lastAccess,
      bytes: bytes ?? [], extendedData: [], expiry: expiry, lifetime: check.lifetime,
      generation: context.generation)
  }

  /// Returns what is known of an open file, counts a hit if it is verified, and plans the stamp.
  @inline(__always)
  func countIfVerified(
    _ subject: Subject, _ status: FileStatus, _ context: ReadContext, mayCount: Bool
  ) -> KnownFile {
    let keyTag = subject.key.tag
    let known = withState { [recency] state in
      state.countIfVerified(subject.name, keyTag, status, context, mayCount: mayCount, recency)
    }
    if let lag = known.lag { planDrain(within: .nanoseconds(lag)) }
    return known
  }

  /// Counts a miss and returns true if the index shows that there is no such entry.
  ///
  /// - Parameter hasLooked: Whether the name was found free, so the index need not be whole.
  @inline(__always)
  func missesKnownAbsent(
    _ name: EntryName, _ generation: EntryGenerations.Snapshot?, hasLooked: Bool = false
  ) -> Bool {
    withState { state in
      guard hasLooked || state.isScanned && generations.isCurrent(generation),
        hasLooked || !state.catalog.scans.hasLeftOut, !state.catalog.index.contains(name)
      else { return false }
      state.countAbsent(name)
      return true
    }
  }

  /// Whether a file is worth reading before the state is looked at: its status shows no reason for
  /// a miss, and it is short enough that little is lost if the read turns out to be a miss.
  private func mayBeQuick(_ status: FileStatus, _ context: ReadContext) -> Bool {
    status.byteCount <= 1 << 20 && context.staleness == .zero && !isOnNetwork
      && reader.trust.missReason(for: status, pending: nil, now: context.now) == nil
  }
}

/// What is known of a file that was opened.
struct KnownFile: Sendable {
  /// The check, if attributes and content were checked for this very file and key.
  var check: FileCheck?
  /// The expiry that the file will have when its pending use is written.
  var pendingExpiry: Timestamp?
  /// The expiry that a hit, which is counted, leaves to the file. Nil if nothing was counted,
  /// because the file is not known, or is to be stamped at once.
  var countedExpiry: Timestamp?
  /// The lag with which a counted use has to reach the disk; nil if it need not.
  var lag: Int64?
}

extension EngineState {
  /// Returns what is known of a file that was opened, and counts a hit on it if it is verified.
  ///
  /// - Parameter mayCount: Whether the file was read already, so that a hit is one.
  // Inlined, because nearly every read calls it.
  @inline(__always)
  mutating func countIfVerified(
    _ name: EntryName, _ keyTag: UInt32, _ status: FileStatus, _ context: ReadContext,
    mayCount: Bool, _ recency: Recency
  ) -> KnownFile {
    let known = catalog.index.verified(
      name, inode: status.inodeMark, changeTime: status.change, keyTag: keyTag)
    var file = KnownFile(check: known?.check)
    var extended: Timestamp?
    if mayCount, let lifetime = known?.check.lifetime {
      extended = context.extending.extendedExpiry(
        of: status.modification.asExpiry, lifetime: lifetime, at: context.now)
      file.lag = recency.dueLag(
        stored: status.lastAccess, now: context.now, lifetime: lifetime, context.extending,
        expiry: status.modification, extended: extended, owner: status.owner)
    }
    guard mayCount, let known, file.lag != 0 else {
      file.lag = nil
      file.pendingExpiry = catalog.uses.expiry(of: name, status)
      return file
    }
    counters.countHit(of: status.byteCount)
    let access = catalog.issueAccess(of: name, at: context.now)
    file.countedExpiry = catalog.use(
      known.slot, of: name, status, at: access, isDue: file.lag != nil, extended: extended)
    return file
  }
}

// If that file is not known to be good, and after a miss.
extension DiskEngine {
  /// - Parameter bytes: The content, if it has been read.
  private func answerInFull(
    _ descriptor: consuming FileDescriptor, _ status: FileStatus, _ subject: Subject,
    _ purpose: ReadPurpose, _ context: ReadContext, _ known: KnownFile, _ bytes: [UInt8]?
  ) throws(Errno) -> FoundValue? {
    let name = subject.name
    let time = timeToJudge(
      status.modification.asExpiry, at: context.now.adding(.zero - context.staleness))
    if let reason = reader.trust.missReason(for: status, pending: known.pendingExpiry, now: time) {
      return miss(reason, name, status, context.generation)
    }
    let examination = try reader.read(
      descriptor, status, subject.key, purpose, checkedBefore: known.check, bytes)
    switch examination {
    case .rejected(let reason): return miss(reason, name, status, context.generation)
    case .accepted(let testimony):
      let check =
        known.check
        ?? FileCheck(
          lifetime: testimony.lifetime, keyTag: subject.key.tag, hasData: testimony.hasData)
      let expiry = countHit(name, descriptor, status, check, context)
      return FoundValue(
        descriptor: descriptor, byteCount: Int(status.byteCount), lastAccess: status.lastAccess,
        bytes: testimony.content, extendedData: testimony.extendedData ?? [], expiry: expiry,
        lifetime: check.lifetime, generation: context.generation)
    }
  }

  /// Counts a miss, and does what follows from it:
  ///
  /// | reason | what follows |
  /// |---|---|
  /// | absent, of an entry | another process has removed the file, or has stored it since: a look |
  /// | expired | the index learns the expiry, which others have set; a sweep takes the file |
  /// | damaged | the file is removed; not read-only, nor where this machine's view may be stale |
  @discardableResult
  package func miss(
    _ reason: MissReason, _ name: EntryName? = nil, _ status: FileStatus? = nil,
    _ generation: EntryGenerations.Snapshot? = nil
  ) -> FoundValue? {
    let isKnown = withState { state in
      guard reason == .absent, let name else {
        state.counters.countMiss(reason)
        return false
      }
      state.countAbsent(name)
      return state.catalog.index.contains(name)
    }
    guard let name else { return nil }
    switch (reason, status) {
    case (.absent, _) where isKnown:
      learn([Finding(name: name, evidence: .miss, generation: generation)])
    case (.expired, let status?):
      let met = IndexedEntry(name: name, status: status)
      learn([Finding(name: name, met: met, evidence: .miss, generation: generation)])
    case (.damaged, let status?) where !isReadOnly && !isOnNetwork:
      removeInBackground(damaged: name, status)
    default: break
    }
    return nil
  }

  /// Counts a hit, moves the entry to the end of the order, and stamps the use or plans its stamp.
  ///
  /// - Returns: The expiry that the disk has, or will have when the pending stamp is written. An
  ///   extension by less than the lag is left out.
  func countHit(
    _ name: EntryName, _ descriptor: borrowing FileDescriptor, _ status: FileStatus,
    _ check: FileCheck, _ context: ReadContext
  ) -> Timestamp {
    let expiry = status.modification.asExpiry
    let extended = context.extending.extendedExpiry(
      of: expiry, lifetime: check.lifetime, at: context.now)
    let lag = recency.dueLag(
      stored: status.lastAccess, now: context.now, lifetime: check.lifetime, context.extending,
      expiry: expiry, extended: extended, owner: status.owner)
    let (effects, (access, kept)) = learn(name) { state in
      state.use(
        name, status, check, at: context.now, isDue: lag ?? 0 > 0, extended: extended,
        isCurrent: generations.isCurrent(context.generation), hasEvents: hasEvents)
    }
    // A file that is to be removed, or was replaced, gets no stamp.
    guard let lag, !effects.contains(.isStray) else { return kept }
    // A pending use would not agree with the newer state of the file that the index has.
    if lag == 0 || effects.contains(.isOlder) {
      return stampAtOnce(
        descriptor, name, status, access: access, expiry: extended, check.lifetime, orWithin: lag)
        ?? kept
    }
    planDrain(within: .nanoseconds(lag))
    return kept
  }
}

// What a read leaves in the state.
extension EngineState {
  /// Counts a hit and notes the use, as `Catalog.use` does. Makes the file the entry of its name if
  /// it is still that.
  ///
  /// - Returns: What follows, the time of the use, and the expiry that `Catalog.use` returns.
  mutating func use(
    _ name: EntryName, _ status: FileStatus, _ check: FileCheck, at now: Timestamp, isDue: Bool,
    extended: Timestamp?, isCurrent: @autoclosure () -> Bool, hasEvents: @autoclosure () -> Bool
  ) -> (Effects, (Timestamp, Timestamp)) {
    counters.countHit(of: status.byteCount)
    let access = catalog.issueAccess(of: name, stored: status.lastAccess, at: now)
    let entry = IndexedEntry(name: name, status: status, lastAccess: access, check: check)
    var (slot, effects) = (EntrySlot?.none, Effects())
    if status.linkCount > 0 { slot = catalog.index.recordCheck(of: entry) }
    if slot == nil {
      let hit = Evidence.hit(isUnlinked: status.linkCount == 0, hasEvents: hasEvents())
      effects = settle(
        Finding(name: name, met: entry, evidence: hit), isCurrent: isCurrent(), at: access)
      if effects.contains(.isOlder), let newer = catalog.index.slot(of: name) {
        catalog.index.use(newer, at: access)
      }
      if effects.isDisjoint(with: [.isOlder, .isStray]) {
        catalog.index.upsert(entry, order: .mostRecent)
        slot = catalog.index.slot(of: name)
      }
    }
    guard let slot else { return (effects, (access, status.modification.asExpiry)) }
    let kept = catalog.use(slot, of: name, status, at: access, isDue: isDue, extended: extended)
    return (effects, (access, kept))
  }
}
