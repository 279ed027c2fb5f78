import LarderBasics
import LarderDigest
import LarderSystem

extension DiskEngine {
  /// Gives the file of a name its attribute and stamps anew.
  func stamp(_ name: EntryName, _ hand: HandStamp) throws(CacheError) -> StampOutcome {
    try revalidate(isUrgent: false, mayMake: false, "stamp")
    return try changing(name) { (_) throws(CacheError) in
      if withState({ $0.hidesFile(named: name) }) { return .absent }
      switch try reader.open(name.fileName, in: location.handle) {
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
      tellObservers(Subject(key: CacheKey(key), name: name), except: nil)
    } else {
      tellObserversOfClearing()
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
