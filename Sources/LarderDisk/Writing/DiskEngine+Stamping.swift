package import LarderBasics
import LarderDigest
package import LarderSystem

/// The identity of a value that was read, to distinguish it from a later one of its name.
package struct EntryIdentity: Sendable {
  /// XXH64 of the content and the extended data.
  let contentHash: UInt64
  /// The file that was read; nil for a value that waited to be written.
  let status: FileStatus?

  /// Makes the identity of a value that a read has found.
  package init(_ content: Span<UInt8>, _ extendedData: [UInt8], _ status: FileStatus?) {
    contentHash = ContentHash(content).finalize(with: extendedData)
    self.status = status
  }

  /// Whether a file holds this value.
  ///
  /// Compares the recorded hash. An inode number alone proves nothing, because ext4 gives that of a
  /// removed file to the next one. If a file has no attribute, its length and expiry stand for the
  /// hash.
  func matches(_ attribute: EntryAttribute?, _ present: FileStatus) -> Bool {
    if let attribute { return attribute.contentHash == contentHash }
    guard let status else { return false }
    return status.identity == present.identity && status.byteCount == present.byteCount
      && status.modification == present.modification
  }
}

extension DiskEngine {
  /// A change of an entry's expiry that leaves its content as it is.
  package struct TouchRequest: Sendable {
    let subject: Subject
    var expiration: Expiration
    /// Whether an expired value is made valid again.
    var revives = false
    /// The value that the caller means; nil for any value of the name.
    var identity: EntryIdentity?
    /// Whether the touch is still wanted, asked when it holds the name.
    package var isWanted: (@Sendable () -> Bool)?
    /// Runs after the touch, before any other change of the name.
    package var onTouch: (@Sendable (Published) -> Void)?

    package init(
      subject: Subject, expiration: Expiration, revives: Bool = false,
      identity: EntryIdentity? = nil
    ) {
      self.subject = subject
      self.expiration = expiration
      self.revives = revives
      self.identity = identity
    }
  }

  /// Sets an entry's expiry, lifetime and last access without writing its content.
  ///
  /// The attribute is set first. If the stamps cannot be set after it, the entry keeps its older
  /// expiry, and the new lifetime cannot extend it beyond what was asked for.
  ///
  /// - Returns: Whether the entry was there, and is the one that the caller means.
  package func touch(_ request: TouchRequest) throws(CacheError) -> Bool {
    let name = request.subject.name
    try revalidate(isUrgent: false, mayMake: false, "touch")
    let held = acquire(name)
    defer { release(name) }
    if held.turn.isEnding { throw closedError("touch") }
    if request.isWanted?() == false { return false }
    return try touchHeld(request, since: held.turn.epoch)
  }

  /// Touches an entry whose name is held.
  ///
  /// - Parameter epoch: That of the moment at which the name was taken. The file may go with all
  ///   others, or with the directory, from then on.
  private func touchHeld(
    _ request: TouchRequest, since epoch: NameLocks.Epoch
  ) throws(CacheError) -> Bool {
    let name = request.subject.name
    guard case .file(let descriptor, let status) = try openFile(of: name) else { return false }
    do throws(Errno) {
      guard let testimony = try touchable(descriptor, status, request) else { return false }
      return try touch(descriptor, status, testimony, request, since: epoch)
    } catch .staleHandle {
      // Another machine has removed or replaced the file since it was opened.
      return false
    } catch {
      throw CacheError(errno: error, operation: "touch", path: "\(location.path)/\(name)")
    }
  }

  /// Reads a file's attributes if it holds the value that is meant; nil if it does not.
  private func touchable(
    _ descriptor: borrowing FileDescriptor, _ status: FileStatus, _ request: TouchRequest
  ) throws(Errno) -> EntryReader.Testimony? {
    let name = request.subject.name
    let staleness = request.revives ? Self.anyStaleness : .zero
    let pending = withState { $0.catalog.uses.expiry(of: name, status) }
    guard
      reader.trust.objection(to: status, pending: pending, now: heldNow.adding(.zero - staleness))
        == nil,
      case .accepted(let testimony) = try reader.examine(
        descriptor, status, request.subject.key)
    else { return nil }
    if let identity = request.identity, !identity.matches(testimony.attribute, status) {
      return nil
    }
    return testimony
  }

  private func touch(
    _ descriptor: borrowing FileDescriptor, _ status: FileStatus,
    _ testimony: EntryReader.Testimony, _ request: TouchRequest, since epoch: NameLocks.Epoch
  ) throws(Errno) -> Bool {
    let (name, now) = (request.subject.name, heldNow)
    // Told before the stamp, because memory may serve its value for longer than the new expiry
    // allows. Nothing is promoted while the name is held.
    tell(.filesChanged([name]))
    var lifetime = Lifetime.unknown
    if var attribute = testimony.attribute {
      lifetime = request.expiration.lifetime
      let isNew = attribute.lifetime != lifetime
      attribute.lifetime = lifetime
      if isNew { try descriptor.setAttribute(.entry, to: attribute.fitted.bytes) }
    }
    let access = withState { $0.catalog.uses.issueAccess(at: now) }
    let expiry = writer.holdable(request.expiration.expiry(at: now), in: location.handle)
    try descriptor.setTimes(access: access, modification: expiry)
    if configuration.durability == .durable { try descriptor.synchronize() }
    let fresh = try descriptor.status()
    // Another process has removed or replaced the file since it was opened.
    guard fresh.linkCount > 0 else { return false }
    var entry = IndexedEntry(name: name, status: fresh)
    entry.lastAccess = access
    let isThere = withState { [entry] state in
      guard state.epoch == epoch, !state.hidesFile(named: name) else { return false }
      state.counters.stampsWritten += 1
      // Extensions by earlier uses are void. The next read checks the content again, because the
      // file may have been edited between the look at it and the touch.
      _ = state.catalog.adopt(entry, order: .mostRecent)
      return true
    }
    guard isThere else { return false }
    followEvents(ofHeld: name, fresh)
    request.onTouch?(
      Published(
        byteCount: Int(fresh.byteCount), expiry: fresh.modification.asExpiry, lifetime: lifetime,
        clearCount: epoch.clearCount))
    return true
  }
}

extension DiskEngine {
  /// Gives the file of a name its attribute and stamps anew.
  func stamp(_ name: EntryName, _ hand: HandStamp) throws(CacheError) -> StampOutcome {
    try revalidate(isUrgent: false, mayMake: false, "stamp")
    return try changing(name) { (_) throws(CacheError) in
      switch try openFile(of: name) {
      case .missed(let reason, let errno):
        if reason == .absent || reason == .foreign { return .absent }
        throw stampFailure(errno ?? .ioError, name)
      case .file(let descriptor, let status):
        guard status.isRegular, reader.trust.isTrusted(status) else { return .absent }
        do throws(Errno) {
          return try stamp(descriptor, name, hand)
        } catch {
          throw stampFailure(error, name)
        }
      }
    }
  }

  private func stampFailure(_ errno: Errno, _ name: EntryName) -> CacheError {
    CacheError(errno: errno, operation: "stamp", path: "\(location.path)/\(name)")
  }

  private func stamp(
    _ descriptor: borrowing FileDescriptor, _ name: EntryName, _ hand: HandStamp
  ) throws(Errno) -> StampOutcome {
    let reading = try reader.attributeReading(of: descriptor)
    if reading == .otherVersion { return .otherVersion }
    let recorded = reading?.attribute
    let (hash, status) = try settledHash(of: descriptor)
    let now = heldNow
    let (lifetime, expiry) = hand.lifetimeAndExpiry(
      recorded: recorded?.lifetime ?? .unknown, expiry: status.modification.asExpiry, now: now)
    let attribute = EntryAttribute(
      contentHash: hash, lifetime: lifetime, proof: HandStamp.proof(recorded?.proof, of: name))
    do throws(Errno) {
      try descriptor.setAttribute(.entry, to: attribute.fitted.bytes)
    } catch .notSupported {
      // A file system without attributes: name and stamps alone make the file an entry.
    }
    try descriptor.setTimes(
      access: now, modification: writer.holdable(expiry, in: location.handle))
    let fresh = try descriptor.status()
    let isThere = withState { state in
      // A removal of everything that has begun since takes the file.
      if state.hidesFile(named: name) { return false }
      _ = state.catalog.adopt(IndexedEntry(name: name, status: fresh), order: .byLastAccess)
      return true
    }
    guard isThere else { return .absent }
    tellObservers(of: name, attribute.proof)
    let kept = fresh.modification.asExpiry
    return .stamped(expiry: kept < .never ? kept : nil)
  }

  /// Tells the memory tiers that a file holds another value now. If it does not name its key, it
  /// may be any key's, so the tiers forget everything.
  private func tellObservers(of name: EntryName, _ proof: KeyProof) {
    if case .key(let key) = proof {
      tell(.entryChanged(Subject(key: CacheKey(key), name: name)))
    } else {
      tell(.cleared)
    }
  }

  /// Returns the hash of a file's content and extended data, and its status. Hashes again until the
  /// file did not change during the reading.
  private func settledHash(
    of descriptor: borrowing FileDescriptor
  ) throws(Errno) -> (UInt64, FileStatus) {
    var before = try descriptor.status()
    while true {
      let hash = try EntryReader.hash(of: descriptor, try EntryReader.extendedData(of: descriptor))
      let after = try descriptor.status()
      if after.change == before.change { return (hash, after) }
      before = after
      try descriptor.seek(to: 0)
    }
  }
}

// Uses.
extension DiskEngine {
  /// Writes a use through the file that was read. Keeps an earlier expiry that a person or another
  /// process has set since the file was read. A later one may be the extension by another use.
  ///
  /// - Returns: The expiry that the file has now; nil if it could not be read.
  func stampAtOnce(
    _ descriptor: borrowing FileDescriptor, _ name: EntryName, _ status: FileStatus,
    access: Timestamp, expiry: Timestamp?, _ context: ReadContext
  ) -> Timestamp? {
    guard let present = upkeep(try descriptor.status()) else { return nil }
    let mayExtend = present.modification >= status.modification
    let extended = expiry.flatMap { mayExtend && $0 > present.modification.asExpiry ? $0 : nil }
    return stamp(descriptor, name, present, access: access, expiry: extended, now: context.now)
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
      let meant = expiry ?? status.modification.asExpiry
      // Another process or a person has shortened the expiry while it was stamped. The two seconds
      // allow for file systems that hold less of a stamp.
      let isShortened = fresh.modification.asExpiry.adding(seconds: 2) < meant
      // The index knows the file as it is now, so the event of the change is ignored. The tiers are
      // notified here instead.
      let isThere = learn(name) { state -> (Effects, Bool) in
        if fresh.linkCount == 0 {
          state.counters.stampsDropped += 1
          return ([], false)
        }
        state.counters.stampsWritten += 1
        let isChanged = state.catalog.restamp(name, from: status, to: fresh)
        return (isChanged || isShortened ? .isLearned : [], true)
      }.1
      return isThere ? fresh.modification.asExpiry : nil
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
      withState { $0.counters.stampsDropped += 1 }
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

/// The decision on the lifetime and expiry of a file that is stamped anew.
struct HandStamp: Sendable {
  /// The expiration that the caller asks for.
  var given: Expiration?
  /// The expiration if neither the caller nor the file gives one.
  var otherwise: Expiration

  /// Returns the lifetime to record and the expiry to set.
  func lifetimeAndExpiry(
    recorded: Lifetime, expiry: Timestamp, now: Timestamp
  ) -> (lifetime: Lifetime, expiry: Timestamp) {
    // A fixed date is kept until it is past. After that the file records no lifetime that could
    // start anew.
    if recorded == .fixed, given == nil, expiry > now { return (.fixed, expiry) }
    let expiration = given ?? Self.expiration(of: recorded) ?? otherwise
    return (expiration.lifetime, expiration.expiry(at: now))
  }

  /// Returns the expiration of a recorded lifetime; nil if none could start anew.
  private static func expiration(of lifetime: Lifetime) -> Expiration? {
    switch lifetime {
    case .seconds(let count): .seconds(Int(count))
    case .never: .never
    case .fixed, .unknown: nil
    }
  }

  /// Returns the proof to record: the one in the file, unless it names a key of another name.
  static func proof(_ recorded: KeyProof?, of name: EntryName) -> KeyProof {
    if case .key(let key)? = recorded, MD5.digest(of: key.span) != name.digest { return .none }
    return recorded ?? .none
  }
}
