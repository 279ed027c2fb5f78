import LarderBasics
import LarderDigest
public import LarderSystem

// An entry's file that is stamped, by a touch or by hand. Its content stays.
extension DiskEngine {
  /// Sets an entry's expiry, lifetime and last access.
  ///
  /// - Parameters:
  ///   - revives: Whether an expired value is made valid again.
  ///   - identity: The value that the caller means; nil for any value of the name.
  /// - Returns: Whether the entry was there, and is the one that the caller means.
  func touch(
    _ request: StoreRequest, revives: Bool, _ identity: EntryIdentity?
  ) throws(CacheError) -> Bool {
    let outcome = try stamping("touch", request.subject.name) {
      (held, file, status) throws(Errno) -> Bool? in
      let now = heldNow
      let time = now.adding(.zero - (revives ? ReadContext.anyStaleness : .zero))
      guard request.isWanted?() != false, missReason(for: status, of: held.name, at: time) == nil,
        case .accepted(let testimony) = try reader.examine(file, status, request.subject.key),
        identity?.matches(testimony.attribute, status) ?? true
      else { return false }
      // Before the attribute, which the group may set, is changed in vain.
      guard recency.mayStamp(filesOf: status.owner) else { throw .notPermitted }
      // Told before the stamp, because memory may serve its value for longer than the new expiry
      // allows. Nothing is promoted while the name is held.
      // One that ends a value outdates the loads that have asked for it before, as a removal does.
      let isEnd = request.onChange == nil && request.expiration.expiry(at: now) <= now
      tell(isEnd ? .entryChanged(request.subject) : .filesChanged([held.name]))
      var attribute = testimony.attribute
      attribute?.lifetime = request.expiration.lifetime
      let isNew = attribute?.lifetime != testimony.attribute?.lifetime
      guard
        let fresh = try stamp(
          file, held, isNew ? attribute : nil,
          access: issueAccess(of: held.name, isUse: true, at: now),
          expiry: request.expiration.expiry(at: now), order: .mostRecent)
      else { return nil }
      followEvents(ofHeld: held.name, fresh)
      request.onChange?(
        PublishedValue(
          byteCount: Int(fresh.byteCount), expiry: fresh.modification.asExpiry,
          lifetime: attribute?.lifetime ?? .unknown, clearCount: held.epoch.clearCount))
      // The tiers may have forgotten everything of a replaced directory before this value.
      let epoch = held.epoch
      if withState({ $0.epoch != epoch }) { tell(.filesChanged([held.name])) }
      return true
    }
    return outcome ?? false
  }

  /// Gives the file of a name its attribute and stamps anew.
  func stamp(_ name: EntryName, _ hand: HandStamp) throws(CacheError) -> StampOutcome {
    let outcome = try stamping("stamp", name) {
      (held, file, status) throws(Errno) -> StampOutcome? in
      guard recency.mayStamp(filesOf: status.owner) else { throw .notPermitted }
      let reading = try reader.attributeReading(of: file)
      if reading == .otherVersion { return .otherVersion }
      let recorded = reading?.attribute
      let (hash, status) = try HandStamp.hash(of: file)
      let now = heldNow
      let expiration = hand.expiration(
        recorded: recorded?.lifetime ?? .unknown, expiry: status.modification.asExpiry, now: now)
      let known: KeyProof = recorded?.proof ?? .none
      let proof: KeyProof = known.fits(name) ? known : .none
      guard
        let fresh = try stamp(
          file, held,
          EntryAttribute(contentHash: hash, lifetime: expiration.lifetime, proof: proof),
          access: now, expiry: expiration.expiry(at: now), order: .byLastAccess)
      else { return nil }
      observers.tell(of: .chosen(proof.key), name)
      let kept = fresh.modification.asExpiry
      return .stamped(expiry: kept < .never ? kept : nil)
    }
    return outcome ?? .absent
  }

  /// Opens the file of a name to be stamped, while no other thread of this process changes it.
  ///
  /// - Returns: Nil if there is no file that can be an entry.
  private func stamping<Result>(
    _ operation: String, _ name: EntryName,
    _ stamp: (borrowing HeldName, borrowing FileDescriptor, FileStatus) throws(Errno) -> Result?
  ) throws(CacheError) -> Result? {
    try revalidate(isUrgent: false, mayMake: false, operation)
    let held = acquire(name)
    defer { release(name) }
    if held.phase.isEnding { throw closedError(operation) }
    let opening = try openFile(of: name)
    do throws(Errno) {
      switch consume opening {
      case .missed(.unreadable, let errno?): throw errno
      case .missed: return nil
      case .file(let file, let status):
        guard reader.trust.entry(name, status) != nil else { return nil }
        return try stamp(held, file, status)
      }
    } catch .staleHandle {
      // Another machine has removed or replaced the file since it was opened.
      return nil
    } catch {
      throw CacheError(errno: error, operation: operation, path: "\(location.path)/\(name)")
    }
  }

  /// Stamps the open file of a held name, and makes it the entry of the name.
  ///
  /// - Returns: The file's status; nil if it was removed or replaced, or goes with all others.
  private func stamp(
    _ file: borrowing FileDescriptor, _ held: borrowing HeldName, _ attribute: EntryAttribute?,
    access: Timestamp, expiry: Timestamp, order: EntryIndex.Placement
  ) throws(Errno) -> FileStatus? {
    let fresh = try writer.stamp(
      file, attribute, access: access, expiry: expiry, in: location.handle)
    guard fresh.linkCount > 0 else { return nil }
    let entry = IndexedEntry(name: held.name, status: fresh, lastAccess: access)
    let epoch = held.epoch
    return withState { $0.settle(stamped: entry, order: order, since: epoch) } ? fresh : nil
  }
}

// Uses.
extension DiskEngine {
  /// Writes a use through the file that was read, or leaves it to a drain if another thread changes
  /// the name. Keeps an expiry that a person or another process has set since the file was read. A
  /// later one with the same lifetime may be the extension by another use.
  ///
  /// - Returns: The expiry that the file has now; nil if it was not stamped.
  func stampAtOnce(
    _ descriptor: borrowing FileDescriptor, _ name: EntryName, _ status: FileStatus,
    access: Timestamp, expiry: Timestamp?, _ lifetime: Lifetime, orWithin lag: Int64
  ) -> Timestamp? {
    let (_, isFree) = learn(name) { ([], $0.take(name, orNote: status, expiry: expiry)) }
    guard isFree else {
      planDrain(within: .nanoseconds(lag))
      return nil
    }
    defer { giveBack(name) }
    do throws(Errno) {
      let present = try descriptor.status()
      var mayExtend = present.modification >= status.modification
      if expiry != nil, present.modification > status.modification {
        let attribute = try reader.attributeReading(of: descriptor)?.attribute
        mayExtend = attribute?.lifetime ?? .unknown == lifetime
      }
      let extended = expiry.flatMap { mayExtend && $0 > present.modification.asExpiry ? $0 : nil }
      return try stamp(descriptor, name, present, access: access, expiry: extended)
    } catch {
      // Another user's file, or a disk that no longer accepts writes. The value is still good.
      noteUpkeepFailure(error)
      return nil
    }
  }

  /// Writes a use through an open file.
  ///
  /// - Returns: The expiry that the file has now; nil if it has no name any more.
  @discardableResult
  private func stamp(
    _ descriptor: borrowing FileDescriptor, _ name: EntryName, _ status: FileStatus,
    access: Timestamp, expiry: Timestamp?
  ) throws(Errno) -> Timestamp? {
    let written = Recency.access(used: access, stored: status.lastAccess, now: heldNow)
    // On a network both stamps are given, because a program behind FUSE may set one that is left
    // out to now, as sshfs does, which would end the entry.
    let isKept = isOnNetwork && (expiry == nil || expiry == status.modification.asExpiry)
    let modification =
      isKept ? status.modification : expiry.map { writer.holdable($0, in: location.handle) }
    try descriptor.setTimes(access: written, modification: modification)
    let fresh = try descriptor.status()
    let meant = modification == nil ? nil : expiry ?? status.modification.asExpiry
    // The index knows the file now, so the event is ignored. The tiers are told here instead.
    _ = learn(name) { ($0.settle(useOf: name, from: status, to: fresh, meant: meant), ()) }
    return fresh.linkCount > 0 ? fresh.modification.asExpiry : nil
  }

  /// Writes the pending uses of all names.
  func drainStamps() {
    let slotCount = withState { $0.catalog.uses.beginDrain() }
    // The lock is held for a thousand slots at a time.
    for start in stride(from: 0, to: slotCount, by: 1024) {
      for name in withState({ $0.catalog.uses.pending.names(in: start..<start + 1024) }) {
        changing(name) { _ in drainStamp(of: name) }
      }
    }
    _ = withState { $0.catalog.uses.endDrain() }
    changed.signal()
  }

  private func drainStamp(of name: EntryName) {
    guard let (pending, access) = withState({ $0.catalog.takeUse(of: name) }) else { return }
    do throws(Errno) {
      let descriptor = try location.handle.openForReading(name.fileName)
      let status = try descriptor.status()
      guard status.inodeMark == pending.inode, status.isRegular else { throw .staleHandle }
      // An expiry other than the one seen stays, as does a longer extension by another use.
      let present = status.modification
      let expiry = pending.expiry.map { max($0, present.asExpiry) }
      try stamp(
        descriptor, name, status, access: access,
        expiry: present == pending.expirySeen ? expiry : nil)
    } catch .noSuchFile, .staleHandle, .tooManyLinks, .noSuchDeviceOrAddress {
      // The file is gone, or the name is that of another file, a link or a socket.
      count { $0.stampsDropped += 1 }
    } catch {
      noteUpkeepFailure(error)
      // What the process or the disk lacks for a while leaves the use to the next drain.
      if [.notPermitted, .permissionDenied, .readOnlyFileSystem].contains(error) { return }
      withState { $0.catalog.keep(pending, of: name) }
      planDrain(within: max(.seconds(1), configuration.recencyGranularity))
    }
  }

  /// Plans a drain of the pending uses no later than a lag from now.
  func planDrain(within lag: Duration) {
    let end = MonotonicTime.now.advanced(by: lag)
    guard withState({ !$0.phase.isShutDown && $0.catalog.uses.planDrain(by: end) }) else { return }
    runLater(after: lag) { engine in
      engine.drainStamps()
      let next = engine.withState { $0.catalog.uses.endPlannedDrain(by: end) }
      if let next { engine.planDrain(within: max(.zero, next.duration(since: .now))) }
    }
  }
}

/// The decision on the lifetime and expiry of a file that is stamped anew.
struct HandStamp: Sendable {
  /// The expiration that the caller asks for.
  var given: Expiration?
  /// The expiration if neither the caller nor the file gives one.
  var otherwise: Expiration

  /// Returns the expiration to record and to set.
  func expiration(recorded: Lifetime, expiry: Timestamp, now: Timestamp) -> Expiration {
    // A fixed date is kept until it is past: the file records no lifetime that could start anew.
    let isPast = recorded == .fixed && expiry <= now
    return given ?? (isPast ? nil : Expiration(recorded, until: expiry)) ?? otherwise
  }

  /// Returns the hash of a file's content and extended data, and its status. Hashes again until the
  /// file was not written to during the reading, which a use that is stamped meanwhile does not do.
  static func hash(of file: borrowing FileDescriptor) throws(Errno) -> (UInt64, FileStatus) {
    var before = try file.status()
    while true {
      let data = try EntryReader.extendedData(of: file)
      let hash = try EntryReader.hash(of: file).finalize(with: data)
      let after = try file.status()
      let isSame = (after.modification, after.byteCount) == (before.modification, before.byteCount)
      if isSame, try EntryReader.extendedData(of: file) == data { return (hash, after) }
      before = after
      try file.seek(to: 0)
    }
  }
}

/// The outcome of stamping the file of a name.
@nonexhaustive
public enum StampOutcome: Sendable, Hashable {
  /// The file is an entry and valid until a point in time; nil for no expiry.
  case stamped(expiry: Timestamp?)
  /// There is no file of that name that can be an entry.
  case absent
  /// The file was written by another version of the format and stays as it is.
  case otherVersion
}

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
