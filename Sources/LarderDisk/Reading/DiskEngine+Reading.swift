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

  /// Finds, checks and reads an entry and counts the use. Counts an error that it throws.
  package func read(
    _ subject: Subject, for purpose: ReadPurpose, extending: ExpirationExtending,
    staleness: Duration = .zero
  ) throws(CacheError) -> Found? {
    do throws(CacheError) {
      let generation = generations.snapshot(of: subject.name)
      guard let opening = try open(subject, generation) else { return nil }
      return try answer(
        opening, subject, for: purpose, generation, extending: extending, staleness: staleness)
    } catch {
      throw counted(error)
    }
  }

  /// Opens the file of a key, the first part of a read. The first of these that applies ends it:
  ///
  /// 1. A value that waits to be written is served by `WriteBehind`, which calls this otherwise.
  /// 2. A name that an exclusive cache does not know is `.absent`. So is, during a removal of
  ///    everything, any that the index does not hold.
  /// 3. The file cannot be opened: `.absent`, `.foreign` or `.unreadable` (`EntryReader.open`).
  /// 4. Its status objects: `.foreign`, `.otherOwner`, `.oversized` or `.expired`
  ///    (`EntryTrust.objection`).
  /// 5. Its attributes object: `.otherVersion`, `.damaged`, `.otherKey` or `.unproven`
  ///    (`EntryReader.examine`). A file that this process has checked (the index has its inode,
  ///    change time and key tag as verified) skips this and the next.
  /// 6. The content does not match its hash: `.damaged`.
  /// 7. The value is served, and the use noted (`DiskEngine+Use.swift`).
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
    if hidesFile(named: subject.name) { return .missed(.absent, nil) }
    return try reader.open(subject.name.fileName, in: location.handle)
  }

  /// Checks and reads a file that was opened, and counts the use: the second part of a read.
  func answer(
    _ opening: consuming EntryReader.Opening, _ subject: Subject, for purpose: ReadPurpose,
    _ generation: EntryGenerations.Snapshot?, extending: ExpirationExtending, staleness: Duration
  ) throws(CacheError) -> Found? {
    switch consume opening {
    case .missed(.absent, _):
      missAbsent(subject.name, generation)
      return nil
    case .missed(let reason, _): return miss(reason)
    case .file(let descriptor, let status):
      do throws(Errno) {
        return try answer(
          descriptor, status, subject, purpose,
          ReadContext(generation: generation, extending: extending, now: now, staleness: staleness))
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
    var extending: ExpirationExtending
    let now: Timestamp
    /// The time past its expiry for which a value is still found.
    let staleness: Duration
  }

  private func answer(
    _ descriptor: consuming FileDescriptor, _ status: FileStatus, _ subject: Subject,
    _ purpose: ReadPurpose, _ context: ReadContext
  ) throws(Errno) -> Found? {
    // The content is read before the lock is taken, so that a hit on a verified file takes the lock
    // once. If the file is unverified, `checkInFull` reuses these bytes.
    let isQuick = purpose == .value && mayBeQuick(status, context)
    let bytes = isQuick ? try descriptor.read(upTo: Int(status.byteCount)) : nil
    let isWhole = bytes?.count == Int(status.byteCount)
    switch recall(subject, status, context, counts: isWhole) {
    case .noted(let expiry, let lifetime):
      return Found(
        descriptor: descriptor, byteCount: Int(status.byteCount), lastAccess: status.lastAccess,
        bytes: bytes ?? [], extendedData: [], expiry: expiry, lifetime: lifetime,
        generation: context.generation)
    case .recalled(let recall):
      return try checkInFull(descriptor, status, subject, purpose, context, recall, bytes)
    }
  }

  /// Whether a file is worth reading before the state is looked at: its status shows no reason for
  /// a miss, and it is short enough that little is lost if the read turns out to be a miss.
  private func mayBeQuick(_ status: FileStatus, _ context: ReadContext) -> Bool {
    status.byteCount <= 1 << 20 && context.staleness == .zero && !isOnNetwork
      && reader.trust.objection(to: status, pending: nil, now: context.now) == nil
  }

  /// - Parameter bytes: The content, if it has been read.
  private func checkInFull(
    _ descriptor: consuming FileDescriptor, _ status: FileStatus, _ subject: Subject,
    _ purpose: ReadPurpose, _ context: ReadContext, _ recall: Recall, _ bytes: [UInt8]?
  ) throws(Errno) -> Found? {
    if let reason = objection(to: status, subject.name, recall, context) { return miss(reason) }
    var context = context
    // An expired value is served but not extended.
    if context.staleness > .zero { context.extending = .off }
    var testimony = EntryReader.Testimony()
    if recall.proof == nil {
      switch try reader.examine(descriptor, status, subject.key) {
      case .accepted(let accepted): testimony = accepted
      case .rejected(let reason): return missAfterCheck(reason, subject.name, status, context)
      }
    }
    if purpose != .value && recall.proof?.hasData != false {
      testimony.extendedData = try EntryReader.extendedData(of: descriptor)
    }
    var content = bytes
    let isIntact = try readContent(
      descriptor, status, purpose, &testimony, isTrusted: recall.proof != nil, &content)
    guard isIntact else { return missAfterCheck(.damaged, subject.name, status, context) }
    let proof =
      recall.proof
      ?? FileProof(
        lifetime: testimony.lifetime, keyTag: subject.key.tag, hasData: testimony.hasData)
    let expiry = countHit(subject.name, descriptor, status, proof, context)
    return Found(
      descriptor: descriptor, byteCount: Int(status.byteCount), lastAccess: status.lastAccess,
      bytes: content ?? [], extendedData: testimony.extendedData ?? [], expiry: expiry,
      lifetime: proof.lifetime, generation: context.generation)
  }

  /// Returns why a file's status makes it a miss.
  private func objection(
    to status: FileStatus, _ name: EntryName, _ recall: Recall, _ context: ReadContext
  ) -> MissReason? {
    let now = judgingTime(of: status, context)
    let reason = reader.trust.objection(to: status, pending: recall.pendingExpiry, now: now)
    if reason == .expired {
      // A person or a neighbour has set the expiry, which the index learns. A sweep takes the file.
      let (met, generation) = (IndexedEntry(name: name, status: status), context.generation)
      let finding = Finding(name: name, met: met, evidence: .expired, generation: generation)
      learn(finding, at: context.now)
    }
    return reason
  }

  /// A staleness longer than any value has been expired for. A read with it finds every value whose
  /// file is there.
  package static let anyStaleness = Duration.seconds(1 << 34)

  /// Whether an expiry counts as past.
  package func hasExpired(_ expiry: Timestamp, at now: Timestamp) -> Bool {
    reader.trust.enforcesExpiry && expiry.hasCome(at: now)
  }

  /// Returns the time with which a file's expiry is compared.
  private func judgingTime(of status: FileStatus, _ context: ReadContext) -> Timestamp {
    var time = context.now
    if isOnNetwork {
      time = withState {
        $0.serverClock.time(toJudge: status.modification.asExpiry, at: context.now)
      }
    }
    return context.staleness == .zero ? time : time.adding(.zero - context.staleness)
  }

  /// Reads the content if the purpose needs it and it has not been read, and checks it unless the
  /// file is trusted already.
  private func readContent(
    _ descriptor: borrowing FileDescriptor, _ status: FileStatus, _ purpose: ReadPurpose,
    _ testimony: inout EntryReader.Testimony, isTrusted: Bool, _ content: inout [UInt8]?
  ) throws(Errno) -> Bool {
    let mustCheck = !isTrusted && reader.checksContent
    if purpose == .file {
      return try mustCheck ? EntryReader.matches(descriptor, testimony) : true
    }
    // A sparse file can have any length, and asking for more memory than there is would end the
    // process.
    guard SystemEnvironment.mayHold(status.byteCount) else { throw .noMemory }
    if content == nil { content = try descriptor.read(upTo: Int(status.byteCount)) }
    guard let content, content.count == Int(status.byteCount) else { return false }
    return mustCheck ? try EntryReader.matches(content.span, of: descriptor, &testimony) : true
  }

  /// Counts a miss and returns true if the index alone shows that there is no such entry.
  private func missesKnownAbsent(
    _ name: EntryName, _ generation: EntryGenerations.Snapshot
  ) -> Bool {
    withState { state in
      guard state.isScanned, generations.isCurrent(generation), state.catalog.index.isComplete,
        !state.catalog.index.contains(name)
      else { return false }
      state.counters.countMiss(.absent)
      return true
    }
  }

  /// Counts a miss because there is no file. If there is an entry, another process has removed its
  /// file, or has stored it since this read found none, so the name is looked at again.
  private func missAbsent(_ name: EntryName, _ generation: EntryGenerations.Snapshot?) {
    let isKnown = withState { state in
      state.counters.countMiss(.absent)
      return state.catalog.index.contains(name)
    }
    guard isKnown else { return }
    learn(Finding(name: name, evidence: .absent, generation: generation), at: .never)
  }

  /// Counts a miss.
  @discardableResult
  package func miss(_ reason: MissReason) -> Found? {
    withState { $0.counters.countMiss(reason) }
    return nil
  }

  /// Counts a miss for a file that was examined, and removes the file if it is damaged.
  ///
  /// Removes nothing on a network file system, because this machine's cached view of the file may
  /// be at fault and the file intact.
  private func missAfterCheck(
    _ reason: MissReason, _ name: EntryName, _ status: FileStatus, _ context: ReadContext
  ) -> Found? {
    if reason == .damaged && !isReadOnly && !isOnNetwork {
      removeInBackground(damaged: name, status)
    }
    return miss(reason)
  }
}

extension CacheKey {
  /// A tag that distinguishes the key of a verified entry from another with the same MD5: the 64
  /// bits of the process's own seeded hash, which cannot be computed outside of the process.
  var tag: UInt64 { UInt64(truncatingIfNeeded: hashValue) }
}
