package import LarderBasics
package import LarderSystem

/// The identity of a value that was read, to distinguish it from a later one of its name.
package struct EntryIdentity: Sendable {
  /// XXH64 of the content and the extended data.
  let contentHash: UInt64
  /// The file that was read; nil for a value that waited to be written.
  let status: FileStatus?

  /// Makes the identity of a value that a read has found.
  package init(
    _ content: Span<UInt8>, _ extendedData: Span<UInt8>, _ status: FileStatus?
  ) {
    contentHash = ContentHash.of(content, extendedData)
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
    if hidesFile(named: name) { return false }
    guard
      case .file(let descriptor, let status) = try reader.open(name.fileName, in: location.handle)
    else { return false }
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
    tellObservers(ofFiles: [name])
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
      state.counters.countStamp()
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
