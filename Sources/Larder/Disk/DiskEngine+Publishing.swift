extension DiskEngine {
  /// Publishes a sealed file in its turn among the changes of its name.
  func publish(
    _ file: inout StagedFile, _ request: StoreRequest, _ seal: EntryWriter.Seal
  ) throws(CacheError) -> StoreOutcome {
    let name = request.subject.name
    acquire(name)
    defer { release(name) }
    if isOutdated(request) { return request.write == nil ? rejected(.declined) : .pending }
    let clearCount = withState { $0.clearCount }
    // What waits to be written is a value that is there; no more is accepted while the name is
    // held.
    if request.isExclusive && withState({ $0.backlog[name] != nil }) {
      return rejected(.alreadyPresent)
    }
    let claim = try claim(request)
    defer { withExtendedLifetime(claim) {} }
    if case .taken = claim { return rejected(.alreadyPresent) }
    // Memory forgets the old value before the new one shows: a reader that memory had nothing for
    // may find the new one on the disk at once, and must not meet the old one in memory after that.
    // While the name is held nothing is promoted. Of a value that waited to be written they were
    // told when it was accepted, and until now no read has met another.
    if request.write == nil { tellObservers(before: request.subject) }
    guard let status = try publish(&file, request, claim) else {
      return rejected(.alreadyPresent)
    }
    take(status, request, seal, since: clearCount)
    if isPathBound {
      let publication = Publication(
        contentHash: file.contentHash(with: []), modification: status.modification)
      withState { $0.notePublication(publication, of: name) }
    }
    return .stored
  }

  /// Whether the name of a store was changed since the store was decided on: a newer value waits in
  /// the backlog, or the load's key was stored or removed. Asked while the name is held.
  func isOutdated(_ request: StoreRequest) -> Bool {
    if let write = request.write { return !withState { $0.backlog.isCurrent(write) } }
    return request.isWanted.map { !$0() } ?? false
  }

  /// Takes a value that has just become visible into the index, and tells of it.
  ///
  /// - Parameter clearCount: How often everything had been removed when the store's turn came.
  private func take(
    _ status: FileStatus, _ request: StoreRequest, _ seal: EntryWriter.Seal, since clearCount: Int
  ) {
    let (name, key) = (request.subject.name, request.subject.key)
    let isPending = request.write != nil
    let entry = IndexedEntry(
      name: name, status: status, lastAccess: seal.lastAccess, lifetime: seal.lifetime,
      keyTag: key.tag)
    let (isCleared, cause, taken) = withState {
      [now, isOnNetwork] state -> (Bool, RemovalCause?, Int) in
      state.reservedByteCount -= request.reservedByteCount
      // What waited under the name is this value, or an older one.
      state.backlog.drop(name)
      // In one step with what follows: whoever removes everything after this meets the value.
      if state.noteClearedStore(entry, since: clearCount) != nil { return (true, nil, 0) }
      if isOnNetwork { state.serverClock.learn(status.change, at: now) }
      let cause = state.noteStored(entry, order: isPending ? .byLastAccess : .mostRecent)
      return (false, cause, state.clearCount)
    }
    if isCleared { return withdrawCleared(request.subject) }
    followNews(ofHeld: name)
    if let cause { tellOfRemoval(name, key: key, cause) }
    request.onPublish?(
      Published(
        byteCount: Int(status.byteCount), expiry: seal.expiry, lifetime: seal.lifetime))
    // A clearing that began since the index took the value removes it, and told memory to forget
    // everything before memory had it.
    if withState({ $0.clearCount }) != taken { return tellObservers(request.subject, except: nil) }
    // They were told when the value was accepted.
    if !isPending { tellObservers(request.subject, except: request.origin) }
  }

  private func publish(
    _ file: inout StagedFile, _ request: StoreRequest, _ claim: Claim
  ) throws(CacheError) -> FileStatus? {
    let name = request.subject.name.fileName
    var isExclusive = false
    if case .vacant = claim { isExclusive = true }
    do throws(Errno) {
      return try writer.publish(&file, as: name, isExclusive: isExclusive)
    } catch {
      if file.isPublished { withdraw(name, of: request) }
      throw CacheError(errno: error, operation: "store", path: "\(location.path)/\(name.text)")
    }
  }

  /// Removes a value that was visible before everything was removed, or may have been.
  ///
  /// A reader may have seen it before the removal began, and must not see it after: the clearing,
  /// which takes what is stored later to stay, leaves it to the store itself.
  private func withdrawCleared(_ subject: Subject) {
    do throws(Errno) {
      try location.handle.unlink(subject.name.fileName)
      tellOfRemoval(subject.name, key: subject.key, .explicit)
    } catch .noSuchFile {
      // Somebody else was quicker.
    } catch {
      noteUpkeepFailure(error)
    }
    tellObservers(subject, except: nil)
  }

  /// Takes a value back that became visible before its store failed; the caller is told that it is
  /// not there.
  private func withdraw(_ name: FileName, of request: StoreRequest) {
    do throws(Errno) {
      try location.handle.unlink(name)
      withState { $0.noteRemoved(request.subject.name) }
    } catch {
      noteUpkeepFailure(error)
    }
  }

  /// What stands in the way of a store.
  private enum Claim: Sendable {
    /// Whatever has the name is replaced.
    case replacing
    /// Nothing has the name, and the store must find it so.
    case vacant
    /// What has the name holds no value and is replaced. It is locked, where that can be, so that
    /// of all who store only where there is no value, one replaces it.
    case valueless(LockedFile?)
    /// There is a value, or another process is just replacing what held none.
    case taken
  }

  private func claim(_ request: StoreRequest) throws(CacheError) -> Claim {
    guard request.isExclusive else { return .replacing }
    let name = request.subject.name.fileName
    while true {
      if try holdsValue(request.subject) { return .taken }
      do throws(Errno) {
        let occupant = try location.handle.openForReading(name)
        let identity = try occupant.status().identity
        guard try occupant.tryLock(.exclusive) else { return .taken }
        // Who had the lock before may have replaced it: then this looks at what there is now.
        if try location.handle.status(of: name).identity == identity {
          return .valueless(LockedFile(occupant))
        }
      } catch .noSuchFile {
        return .vacant
      } catch {
        // It cannot be opened, or cannot be locked as on some network file systems.
        return try isOccupied(name) ? .valueless(nil) : .vacant
      }
    }
  }

  /// - Throws: What the system says where it does not tell: what is there may be a value.
  private func isOccupied(_ name: FileName) throws(CacheError) -> Bool {
    do throws(Errno) {
      _ = try location.handle.status(of: name)
      return true
    } catch .noSuchFile, .staleHandle {
      return false
    } catch {
      throw CacheError(errno: error, operation: "store", path: "\(location.path)/\(name.text)")
    }
  }

  /// Whether a value is there that a read would return; its content is checked unless it was.
  private func holdsValue(_ subject: Subject) throws(CacheError) -> Bool {
    guard let inspection = try inspect(subject) else { return false }
    let status = inspection.status
    let testimony = EntryReader.Testimony(attribute: inspection.attribute)
    if proven(testimony, subject.name, status) == nil { return false }
    let isVerified = withState { state in
      guard let known = state.index.entry(named: subject.name) else { return false }
      return known.isVerified && known.inode == status.inode && known.changeTime == status.change
    }
    if isVerified || !reader.checksContent { return true }
    return try finding(for: subject.name).isServed
  }
}
