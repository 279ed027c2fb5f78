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

/// A read of a file, in two parts: `open` and `answer`. The first of these that applies ends it:
///
/// 1. A value that waits to be written is served by `WriteBehind`, before `open`.
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
/// Before all that, the caller notes the name's generation. A change of the name moves it, and then
/// neither memory nor the index keeps what this read found. Once a second the path is checked, and
/// another directory there is followed (`followReplacement`).
extension DiskEngine {
  /// Opens the file of a key; returns nil for a miss that is counted.
  // Inlined, because handing an opened file on costs a fortieth of a miss.
  @inline(__always)
  func open(
    _ subject: Subject, _ generation: EntryGenerations.Snapshot?
  ) throws(CacheError) -> EntryReader.Opening? {
    followReplacement()
    // Not while the name is being changed: a read may have found a new file that the index lacks.
    if configuration.mode == .exclusive, let generation,
      withState({
        $0.missesKnownAbsent(subject.name, isCurrent: generations.isCurrent(generation))
      })
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
  ) throws(CacheError) -> FoundValue? {
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

  private func answer(
    _ descriptor: consuming FileDescriptor, _ status: FileStatus, _ subject: Subject,
    _ purpose: ReadPurpose, _ context: ReadContext
  ) throws(Errno) -> FoundValue? {
    // The content is read before the lock is taken, so that a hit on a verified file takes the lock
    // once. If the file is unverified, `answerInFull` checks these bytes.
    let isQuick = purpose == .value && mayBeQuick(status, context)
    let bytes = isQuick ? try descriptor.read(upTo: Int(status.byteCount)) : nil
    let isWhole = bytes?.count == Int(status.byteCount)
    let keyTag = subject.key.tag
    let known = withState { [recency] state in
      state.countIfKnown(subject.name, keyTag, status, context, mayCount: isWhole, recency)
    }
    if let lag = known.lag { planDrain(within: .nanoseconds(lag)) }
    guard let expiry = known.countedExpiry, let proof = known.proof else {
      return try answerInFull(descriptor, status, subject, purpose, context, known, bytes)
    }
    return FoundValue(
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
    _ purpose: ReadPurpose, _ context: ReadContext, _ known: KnownFile, _ bytes: [UInt8]?
  ) throws(Errno) -> FoundValue? {
    let name = subject.name
    var time = context.now
    if isOnNetwork {
      time = withState { $0.serverClock.time(toJudge: status.modification.asExpiry, at: time) }
    }
    if context.staleness > .zero { time = time.adding(.zero - context.staleness) }
    if let reason = reader.trust.objection(to: status, pending: known.pendingExpiry, now: time) {
      return miss(reason, name, status, context.generation)
    }
    let examination = try reader.read(
      descriptor, status, subject.key, purpose, proof: known.proof, bytes)
    switch examination {
    case .rejected(let reason): return miss(reason, name, status, context.generation)
    case .accepted(let testimony):
      let proof =
        known.proof
        ?? FileProof(
          lifetime: testimony.lifetime, keyTag: subject.key.tag, hasData: testimony.hasData)
      let expiry = countHit(name, descriptor, status, proof, context)
      return FoundValue(
        descriptor: descriptor, byteCount: Int(status.byteCount), lastAccess: status.lastAccess,
        bytes: testimony.content, extendedData: testimony.extendedData ?? [], expiry: expiry,
        lifetime: proof.lifetime, generation: context.generation)
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
  ) -> FoundValue? {
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
    let lag = recency.dueLag(
      stored: status.lastAccess, now: context.now, lifetime: proof.lifetime, context.extending)
    let (effects, (access, kept)) = learn(name) { state in
      state.use(
        name, status, proof, at: context.now, isDue: lag ?? 0 > 0, extended: extended,
        isCurrent: generations.isCurrent(context.generation), hasEvents: hasEvents)
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
}
