package import LarderBasics
package import LarderSystem

extension DiskEngine {
  /// The purpose of a read.
  package enum ReadPurpose: Sendable {
    /// The value's bytes.
    case value
    /// The value's bytes and the extended data.
    case valueAndData
    /// The open file, for a caller that reads it itself.
    case file
  }

  /// A key and the name it has in this cache.
  package struct Subject: Sendable {
    package let key: CacheKey
    package let name: EntryName
  }

  /// The result of a read, with the file still open.
  package struct Found: ~Copyable {
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
  }

  /// Opens the file of a key, the first part of a read. The first of these that applies ends it:
  ///
  /// 1. A value that waits to be written is served by `WriteBehind`, before this is called.
  /// 2. A name that an exclusive cache does not know is `.absent`. So is, during a removal of
  ///    everything, any that the index does not hold.
  /// 3. The file cannot be opened: `.absent`, `.foreign` or `.unreadable` (`EntryReader.open`).
  /// 4. Its status objects: `.foreign`, `.otherOwner`, `.oversized` or `.expired`
  ///    (`EntryTrust.objection`).
  /// 5. Its attributes object: `.otherVersion`, `.damaged`, `.otherKey` or `.unproven`
  ///    (`EntryReader.examine`). A file that this process has checked (the index has its inode,
  ///    change time and key tag as verified) skips this and the next.
  /// 6. The content does not match its hash: `.damaged`.
  /// 7. The value is served, and the use counted (`countHit`).
  ///
  /// Before all that, the caller notes the name's generation. A change of the name moves it, and
  /// then neither memory nor the index keeps what this read found. Once a second the path is
  /// checked, and another directory there is followed (`followReplacement`).
  ///
  /// - Returns: Nil for a miss that is counted.
  // Inlined, because handing an opened file on costs a fortieth of a miss.
  @inline(__always)
  func open(
    _ subject: Subject, _ generation: EntryGenerations.Snapshot?
  ) throws(CacheError) -> EntryReader.Opening? {
    followReplacement()
    // Not while the name is being changed: a read may have found a new file that the index lacks.
    if configuration.mode == .exclusive, let generation,
      missesKnownAbsent(subject.name, generation)
    {
      return nil
    }
    return try openFile(of: subject.name)
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
  ) throws(CacheError) -> Found? {
    switch consume opening {
    case .missed(let reason, _): return miss(reason, subject.name, nil, generation)
    case .file(let descriptor, let status):
      // A value past its expiry is served but not extended.
      let context = ReadContext(
        generation: generation, extending: staleness > .zero ? .off : extending, now: now,
        staleness: staleness)
      do throws(Errno) {
        return try answer(descriptor, status, subject, purpose, context)
      } catch {
        // A failure that says what is wrong with the file is a miss.
        guard let reason = EntryReader.missReason(for: error) else {
          throw CacheError(readFailure: error, name: subject.name.description)
        }
        return miss(reason)
      }
    }
  }

  /// The circumstances of one read.
  struct ReadContext: Sendable {
    let generation: EntryGenerations.Snapshot?
    let extending: ExpirationExtending
    let now: Timestamp
    /// The time past its expiry for which a value is still found.
    let staleness: Duration
  }

  private func answer(
    _ descriptor: consuming FileDescriptor, _ status: FileStatus, _ subject: Subject,
    _ purpose: ReadPurpose, _ context: ReadContext
  ) throws(Errno) -> Found? {
    // The content is read before the lock is taken, so that a hit on a verified file takes the lock
    // once. If the file is unverified, `answerInFull` checks these bytes.
    let isQuick = purpose == .value && mayBeQuick(status, context)
    let bytes = isQuick ? try descriptor.read(upTo: Int(status.byteCount)) : nil
    let isWhole = bytes?.count == Int(status.byteCount)
    let recall = recall(subject, status, context, counts: isWhole)
    guard let expiry = recall.kept, let proof = recall.proof else {
      return try answerInFull(descriptor, status, subject, purpose, context, recall, bytes)
    }
    return Found(
      descriptor: descriptor, byteCount: Int(status.byteCount), lastAccess: status.lastAccess,
      bytes: bytes ?? [], extendedData: [], expiry: expiry, lifetime: proof.lifetime,
      generation: context.generation)
  }

  /// Whether a file is worth reading before the state is looked at: its status shows no reason for
  /// a miss, and it is short enough that little is lost if the read turns out to be a miss.
  private func mayBeQuick(_ status: FileStatus, _ context: ReadContext) -> Bool {
    status.byteCount <= 1 << 20 && context.staleness == .zero && !isOnNetwork
      && reader.trust.objection(to: status, pending: nil, now: context.now) == nil
  }

  /// - Parameter bytes: The content, if it has been read.
  private func answerInFull(
    _ descriptor: consuming FileDescriptor, _ status: FileStatus, _ subject: Subject,
    _ purpose: ReadPurpose, _ context: ReadContext, _ recall: Recall, _ bytes: [UInt8]?
  ) throws(Errno) -> Found? {
    let name = subject.name
    var time = context.now
    if isOnNetwork {
      time = withState { $0.serverClock.time(toJudge: status.modification.asExpiry, at: time) }
    }
    if context.staleness > .zero { time = time.adding(.zero - context.staleness) }
    if let reason = reader.trust.objection(to: status, pending: recall.pendingExpiry, now: time) {
      return miss(reason, name, status, context.generation)
    }
    let examination = try reader.read(
      descriptor, status, subject.key, purpose, proof: recall.proof, bytes)
    switch examination {
    case .rejected(let reason): return miss(reason, name, status, context.generation)
    case .accepted(let testimony):
      let proof =
        recall.proof
        ?? FileProof(
          lifetime: testimony.lifetime, keyTag: subject.key.tag, hasData: testimony.hasData)
      let expiry = countHit(name, descriptor, status, proof, context)
      return Found(
        descriptor: descriptor, byteCount: Int(status.byteCount), lastAccess: status.lastAccess,
        bytes: testimony.content, extendedData: testimony.extendedData ?? [], expiry: expiry,
        lifetime: proof.lifetime, generation: context.generation)
    }
  }

  /// A staleness longer than any value has been expired for. A read with it finds every value whose
  /// file is there.
  package static let anyStaleness = Duration.seconds(1 << 34)

  /// Whether an expiry counts as past.
  package func hasExpired(_ expiry: Timestamp, at now: Timestamp) -> Bool {
    reader.trust.enforcesExpiry && expiry.hasCome(at: now)
  }

  /// Counts a miss and returns true if the index alone shows that there is no such entry.
  private func missesKnownAbsent(
    _ name: EntryName, _ generation: EntryGenerations.Snapshot
  ) -> Bool {
    withState { state in
      guard state.isScanned, generations.isCurrent(generation), !state.catalog.index.contains(name)
      else { return false }
      state.counters.countMiss(.absent)
      return true
    }
  }

  /// Counts a miss, and does what follows from it:
  ///
  /// | reason | what follows |
  /// |---|---|
  /// | absent, of an entry | another process has removed the file, or has stored it since: a look |
  /// | expired | the index learns the expiry, which others have set; a sweep takes the file |
  /// | damaged | the file is removed, unless it may be this machine's view of a server's file |
  @discardableResult
  package func miss(
    _ reason: MissReason, _ name: EntryName? = nil, _ status: FileStatus? = nil,
    _ generation: EntryGenerations.Snapshot? = nil
  ) -> Found? {
    let isKnown = withState { state in
      state.counters.countMiss(reason)
      guard reason == .absent, let name else { return false }
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
}

// Uses.
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
    let lag = dueLag(status, proof.lifetime, context.extending, context.now)
    let (effects, (access, kept)) = learn(name) { state in
      state.counters.countHit(of: status.byteCount)
      let access = state.catalog.uses.issueAccess(at: context.now)
      let (effects, kept) = state.use(
        IndexedEntry(name: name, status: status, lastAccess: access, proof: proof), status,
        isDue: lag ?? 0 > 0, extended: extended,
        isCurrent: generations.isCurrent(context.generation), hasEvents: hasEvents)
      return (effects, (access, kept))
    }
    // A file that is to be removed, or was replaced, gets no stamp.
    guard let lag, !effects.contains(.isStray) else { return kept }
    // A pending use would not agree with the newer state of the file that the index has.
    if lag == 0 || effects.contains(.isOlder) {
      return stampAtOnce(descriptor, name, status, access: access, expiry: extended, context)
        ?? kept
    }
    planDrain(within: .nanoseconds(lag))
    return kept
  }

  /// The engine's knowledge of a file that was opened.
  private struct Recall: Sendable {
    /// The proof, if attributes and content were checked for this very file and key.
    var proof: FileProof?
    /// The expiry that the file will have when its pending use is written.
    var pendingExpiry: Timestamp?
    /// The expiry that a hit, which is counted, leaves to the file. Nil if nothing was counted,
    /// because the file is not known, or is to be stamped at once.
    var kept: Timestamp?
  }

  /// Recalls what is known of a file that was opened.
  ///
  /// - Parameter counts: Whether a hit on a verified file is counted in the same hold of the lock.
  private func recall(
    _ subject: Subject, _ status: FileStatus, _ context: ReadContext, counts: Bool
  ) -> Recall {
    let tag = subject.key.tag
    let (recall, lag) = withState { state -> (Recall, Int64?) in
      let known = state.catalog.index.verified(
        subject.name, inode: status.inode, changeTime: status.change, keyTag: tag)
      var (recall, lag) = (Recall(proof: known?.proof), Int64?.none)
      if counts, let known {
        lag = dueLag(status, known.proof.lifetime, context.extending, context.now)
      }
      guard counts, let known, lag != 0 else {
        recall.pendingExpiry = state.catalog.uses.expiry(of: subject.name, status)
        return (recall, nil)
      }
      state.counters.countHit(of: status.byteCount)
      let access = state.catalog.uses.issueAccess(at: context.now)
      recall.kept = state.catalog.use(
        known.slot, of: subject.name, status, at: access, isDue: lag != nil,
        extended: context.extending.extendedExpiry(
          of: status.modification.asExpiry, lifetime: known.proof.lifetime, at: context.now))
      return (recall, lag)
    }
    if let lag { planDrain(within: .nanoseconds(lag)) }
    return recall
  }

  /// Returns the lag, in nanoseconds, with which a use must reach the disk; nil if it need not.
  func dueLag(
    _ status: FileStatus, _ lifetime: Lifetime, _ extending: ExpirationExtending, _ now: Timestamp
  ) -> Int64? {
    if isReadOnly { return nil }
    return recency.dueLag(
      stored: min(status.lastAccess, now), now: now, lifetime: lifetime, extending)
  }
}
