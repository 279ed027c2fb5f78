import LarderBasics
import LarderSystem

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
