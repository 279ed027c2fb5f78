import LarderBasics
import LarderDigest
package import LarderSystem

extension DiskEngine {
  /// Gives the file of a name its attribute and stamps again.
  func stamp(_ name: EntryName, _ term: Restamping) throws(CacheError) -> StampOutcome {
    try revalidate(isUrgent: false, mayMake: false, "stamp")
    writePending(name)
    return try changing(name) { () throws(CacheError) in
      switch try reader.open(name.fileName, in: location.handle) {
      case .missed(let reason, let errno):
        if reason == .absent || reason == .foreign { return .absent }
        throw stampFailure(errno ?? .ioError, name)
      case .file(let descriptor, let status):
        guard status.isRegular, reader.trust.isTrusted(status) else { return .absent }
        do throws(Errno) {
          return try stamp(descriptor, name, term)
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
    _ descriptor: borrowing FileDescriptor, _ name: EntryName, _ term: Restamping
  ) throws(Errno) -> StampOutcome {
    let reading = try reader.attributeReading(of: descriptor)
    if reading == .otherVersion { return .otherVersion }
    var recorded: EntryAttribute?
    if case .attribute(let attribute)? = reading { recorded = attribute }
    let (hash, status) = try settledHash(of: descriptor)
    let now = self.now
    let (lifetime, expiry) = term.term(
      recorded: recorded?.lifetime ?? .unknown, expiry: status.modification.asExpiry, now: now)
    let attribute = EntryAttribute(
      contentHash: hash, lifetime: lifetime, proof: Restamping.proof(recorded?.proof, of: name))
    do throws(Errno) {
      try descriptor.setAttribute(.entry, to: attribute.bytes)
    } catch .notSupported {
      // A file system without attributes: name and stamps alone make an entry.
    }
    try descriptor.setStamps(lastAccess: now, expiry: expiry)
    let fresh = try descriptor.status()
    withState { $0.noteStamped(name, fresh) }
    tellObservers(of: name, attribute.proof)
    let kept = fresh.modification.asExpiry
    return .stamped(expiry: kept < .never ? kept : nil)
  }

  /// Tells the memory tiers that a file is another value now. One that does not name its key may be
  /// any key's.
  private func tellObservers(of name: EntryName, _ proof: KeyProof) {
    if case .key(let key) = proof {
      tellObservers(Subject(key: CacheKey(key), name: name), except: nil)
    } else {
      tellObserversOfClearing()
    }
  }

  /// The hash of a file's content and extended data, as of a moment at which nobody wrote to it.
  private func settledHash(
    of descriptor: borrowing FileDescriptor
  ) throws(Errno) -> (UInt64, FileStatus) {
    var before = try descriptor.status()
    while true {
      let hash = try EntryReader.hash(of: descriptor, try reader.extendedData(of: descriptor))
      let after = try descriptor.status()
      if after.change == before.change { return (hash, after) }
      before = after
      try descriptor.seek(to: 0)
    }
  }
}

extension EngineState {
  /// Takes note that a file was made an entry by its name; what was known of it before is void.
  fileprivate mutating func noteStamped(_ name: EntryName, _ status: FileStatus) {
    cancelRemoval(of: name)
    uses.forget(name)
    clearing.keep(name)
    scans.noteChange(of: name)
    index.upsert(IndexedEntry(name: name, status: status), order: .byLastAccess)
  }
}

/// Decides what a file that is stamped anew gets, from what it says of itself.
struct Restamping: Sendable {
  /// What the caller asks for.
  var given: Expiration?
  /// What holds where neither the caller nor the file says anything.
  var otherwise: Expiration

  /// The lifetime to record and the expiry to set.
  func term(
    recorded: Lifetime, expiry: Timestamp, now: Timestamp
  ) -> (lifetime: Lifetime, expiry: Timestamp) {
    // A date that the program gave stays its word until it is past; then the file has none that
    // could start anew.
    if recorded == .fixed, given == nil, expiry > now { return (.fixed, expiry) }
    let expiration = given ?? Self.expiration(of: recorded) ?? otherwise
    return (expiration.lifetime, expiration.expiry(at: now))
  }

  /// The expiration that gave a lifetime; nil where the file says none that could start anew.
  private static func expiration(of lifetime: Lifetime) -> Expiration? {
    switch lifetime {
    case .seconds(let count): .seconds(Int(count))
    case .never: .never
    case .fixed, .unknown: nil
    }
  }

  /// The proof to record: the one that is there, unless it names a key that has another name.
  static func proof(_ recorded: KeyProof?, of name: EntryName) -> KeyProof {
    if case .key(let key)? = recorded, MD5.digest(of: key.span) != name.digest { return .none }
    return recorded ?? .none
  }
}

/// A file that stays locked for as long as the object lives.
package final class LockedFile: Sendable {
  let file: FileDescriptor
  private let forkCount = ProcessIdentity.forkCount

  package init(_ file: consuming FileDescriptor) {
    self.file = file
  }

  /// Unlocks the file, in the process that locked it.
  ///
  /// Closing alone would leave the lock to a child that was forked meanwhile, for as long as it
  /// lives: it has a descriptor of the same open file. See: man 2 flock.
  deinit {
    guard forkCount == ProcessIdentity.forkCount else { return }
    do throws(Errno) {
      try file.unlock()
    } catch {
      // The descriptor is closed next, which ends the lock unless there is such a child.
    }
  }
}
