import LarderBasics
import LarderSystem

extension DiskEngine {
  /// Publishes a sealed file in its turn among the changes of its name.
  func publish(
    _ file: inout StagedFile, _ request: StoreRequest, _ seal: EntryWriter.Seal,
    reserved room: UInt64
  ) throws(CacheError) -> StoreOutcome {
    let name = request.subject.name
    if request.isExclusive { writeUnserved(request.subject) }
    acquire(name)
    defer { release(name) }
    // Before the look at the backlog: a clearing in between has dropped what waited there.
    var (epoch, isEnding) = withState { ($0.epoch, $0.phase.isEnding) }
    if isOutdated(request) { return request.write == nil ? rejected(.declined) : .pending }
    // What the backlog had accepted before the end is written all the same.
    if isEnding && request.write == nil {
      throw CacheError(.closed, operation: "store", path: location.path)
    }
    // What waits to be written is a value that is there; no more is accepted while the name is
    // held.
    if request.isExclusive && pending(name) != nil { return rejected(.alreadyPresent) }
    let claim = try claim(request)
    if claim == .taken { return rejected(.alreadyPresent) }
    // That there was no value may be the doing of a clearing, which this store comes after then.
    if request.isExclusive { epoch = withState { $0.epoch } }
    // Memory forgets the old value before the new one shows: a reader that memory had nothing for
    // may find the new one on the disk at once, and must not meet the old one in memory after that.
    // While the name is held nothing is promoted. Of a value that waited to be written they were
    // told when it was accepted, and until now no read has met another.
    if request.write == nil { tellObservers(before: request.subject) }
    guard let status = try publish(&file, request, seal, claim) else {
      // What held no value was removed to make way, and another process has stored since.
      withState { $0.noteRemoved(name) }
      return rejected(.alreadyPresent)
    }
    // After the count was read, so that a replacement shows here or there.
    let isHeld = file.handle === location.handle
    take(status, request, seal, reserved: room, isHeld: isHeld, since: epoch)
    if isPathBound {
      let publication = Publication(
        contentHash: file.contentHash(with: []), modification: status.modification)
      withState { $0.publications.note(publication, of: name, in: $0.index) }
    }
    return .stored
  }

  /// Whether the name of a store was changed since the store was decided on: what the backlog gave
  /// to be written was removed or stored over, or the load's key was. Asked while the name is held.
  func isOutdated(_ request: StoreRequest) -> Bool {
    if let write = request.write { return !withState { $0.backlog.isCurrent(write) } }
    return request.isWanted.map { !$0() } ?? false
  }

  /// What taking a value into the index came to.
  private enum Taking: Sendable {
    /// The index has it.
    case taken(EngineState.Epoch, replacing: RemovalCause?, lag: Duration?)
    /// Everything was removed meanwhile, and it with the rest.
    case cleared
    /// It went with a directory that was moved away, or may have.
    case astray
  }

  /// Takes a value that has just become visible into the index, and tells of it.
  ///
  /// - Parameters:
  ///   - isHeld: Whether its directory is the one that is held.
  ///   - epoch: That of the moment at which the store's turn came.
  private func take(
    _ status: FileStatus, _ request: StoreRequest, _ seal: EntryWriter.Seal,
    reserved room: UInt64, isHeld: Bool, since epoch: EngineState.Epoch
  ) {
    let isPending = request.write != nil
    let entry = IndexedEntry(
      name: request.subject.name, status: status, lastAccess: seal.lastAccess,
      lifetime: seal.lifetime, keyTag: request.subject.key.tag)
    // The program's own clock is not asked under the lock, nor for nothing.
    let serverTime = isOnNetwork ? now : nil
    let taking = withState { state -> Taking in
      state.limits.giveBack(room)
      // In the step in which the index takes the file: a reader finds one or the other.
      let value = state.settle(request)
      if !isHeld || state.replacementCount != epoch.replacementCount {
        state.noteAstray(entry)
        return .astray
      }
      // In one step with what follows: whoever removes everything after this meets the value.
      if state.noteClearedStore(entry, since: epoch.clearCount) != nil { return .cleared }
      if let serverTime { state.serverClock.learn(status.change, at: serverTime) }
      let cause = state.noteStored(entry, order: isPending ? .byLastAccess : .mostRecent)
      let lag = noteUses(of: value, since: seal, status, in: &state)
      return .taken(state.epoch, replacing: cause, lag: lag)
    }
    switch taking {
    case .cleared: withdrawCleared(request.subject, status)
    case .astray:
      // What has the name in the directory that is held now is known by looking.
      followHeld(request.subject.name)
      tellObservers(request.subject, except: nil)
    case .taken(let epoch, let cause, let lag):
      if let lag { planDrain(within: lag) }
      followNews(ofHeld: request.subject.name)
      if let cause { tellOfRemoval(request.subject.name, key: request.subject.key, cause) }
      tell(of: status, request, seal, since: epoch)
    }
  }

  /// Tells of a value that the index has taken.
  private func tell(
    of status: FileStatus, _ request: StoreRequest, _ seal: EntryWriter.Seal,
    since epoch: EngineState.Epoch
  ) {
    let expiry = expiry(of: status, seal)
    request.onPublish?(
      Published(byteCount: Int(status.byteCount), expiry: expiry, lifetime: seal.lifetime))
    // A clearing or a replacement of the directory that came since the index took the value had
    // memory forget everything before memory had it.
    if withState({ $0.epoch }) != epoch { return tellObservers(request.subject, except: nil) }
    if request.write == nil {
      tellObservers(request.subject, except: request.origin)
    } else if expiry < seal.expiry {
      // They were told when the value was accepted, of another expiry.
      tellObservers(request.subject, except: nil)
    }
  }

  /// The expiry of a file that was just published: its seal's, unless somebody has given it an
  /// earlier one since it has its name. A file system may hold less of a stamp, up to two seconds.
  private func expiry(of status: FileStatus, _ seal: EntryWriter.Seal) -> Timestamp {
    let expiry = status.modification.asExpiry
    return expiry.adding(seconds: 2) < seal.expiry ? expiry : seal.expiry
  }

  /// Takes note of uses of a value from the backlog since its file was sealed, which does not say
  /// them yet.
  ///
  /// - Returns: When they have to be on the disk, if they do.
  private func noteUses(
    of value: Backlog.Value?, since seal: EntryWriter.Seal, _ status: FileStatus,
    in state: inout EngineState
  ) -> Duration? {
    guard let value, value.lastAccess > seal.lastAccess else { return nil }
    let (name, access) = (value.write.subject.name, value.lastAccess)
    state.index.touch(name, at: access)
    guard isDue(status, seal.lifetime, access) else { return nil }
    state.uses.note(
      name, status, access: access, expiry: value.expiry > seal.expiry ? value.expiry : nil)
    return recency.lag(for: seal.lifetime)
  }

  private func publish(
    _ file: inout StagedFile, _ request: StoreRequest, _ seal: EntryWriter.Seal, _ claim: Claim
  ) throws(CacheError) -> FileStatus? {
    let name = request.subject.name.fileName
    do throws(Errno) {
      return try writer.publish(&file, as: name, isExclusive: claim == .vacant)
    } catch {
      if file.isPublished { withdraw(file, request, seal) }
      throw CacheError(errno: error, operation: "store", path: "\(location.path)/\(name.text)")
    }
  }

  /// Removes a value that was visible before everything was removed, or may have been.
  ///
  /// A reader may have seen it before the removal began, and must not see it after: the clearing,
  /// which takes what is stored later to stay, leaves it to the store itself.
  private func withdrawCleared(_ subject: Subject, _ status: FileStatus) {
    do throws(Errno) {
      let unlinking = try unlink(
        subject.name, inode: status.inode, changeTime: status.change, in: location.handle)
      if case .removed = unlinking { tellOfRemoval(subject.name, key: subject.key, .explicit) }
    } catch {
      noteUpkeepFailure(error)
    }
    tellObservers(subject, except: nil)
  }

  /// Takes a file back that became visible before its store failed; the caller is told that the
  /// value is not there. What another process has stored since stays.
  private func withdraw(
    _ file: borrowing StagedFile, _ request: StoreRequest, _ seal: EntryWriter.Seal
  ) {
    let name = request.subject.name
    do throws(Errno) {
      let status = try status(of: file, published: name.fileName, seal)
      _ = try withdraw(name.fileName, status, in: file.handle)
      withState { $0.noteRemoved(name) }
    } catch {
      noteUpkeepFailure(error)
    }
  }

  /// The status of a file that has got its name.
  ///
  /// Where the system does not tell it of the open file, the name's, if that has the length and the
  /// stamps: of two stores none have the same last access but in one tick of the clock.
  private func status(
    of file: borrowing StagedFile, published name: FileName, _ seal: EntryWriter.Seal
  ) throws(Errno) -> FileStatus {
    do throws(Errno) {
      return try file.descriptor.status()
    } catch {
      let status = try file.handle.status(of: name)
      guard status.byteCount == UInt64(file.byteCount), status.lastAccess == seal.lastAccess,
        status.modification.asExpiry == seal.expiry
      else { throw error }
      return status
    }
  }

  /// Has a waiting value that no read of a key would find written, so that what stands in the way
  /// of a store is a file, which says that it holds no value.
  private func writeUnserved(_ subject: Subject) {
    guard let value = pending(subject.name) else { return }
    if !value.isServed(to: subject.key, at: now) { writePending(subject.name) }
  }

  /// What stands in the way of a store.
  private enum Claim: Sendable {
    /// Whatever has the name is replaced.
    case replacing
    /// Nothing has the name, and the store must find it so.
    case vacant
    /// There is a value, or another process is just replacing what held none.
    case taken
  }

  /// Looks at what has the name of a store that must find no value, and removes what holds none.
  ///
  /// Only where nothing has the name can a file be published without replacing what another process
  /// stores at that moment.
  private func claim(_ request: StoreRequest) throws(CacheError) -> Claim {
    guard request.isExclusive else { return .replacing }
    while true {
      // Before it is judged: what takes its place afterwards is another file, and judged anew.
      guard let occupant = try occupant(of: request.subject.name) else { return .vacant }
      if try holdsValue(request.subject) { return .taken }
      do throws(Errno) {
        switch try makeWay(request.subject.name.fileName, occupant) {
        case true?: return .vacant
        case false?: continue
        case nil: return .taken
        }
      } catch {
        throw CacheError(
          errno: error, operation: "store", path: "\(location.path)/\(request.subject.name)")
      }
    }
  }

  /// Removes a file that holds no value.
  ///
  /// - Returns: Whether it is gone; false when the name has another by now, nil when another process
  ///   is removing it.
  private func makeWay(_ name: FileName, _ occupant: FileStatus) throws(Errno) -> Bool? {
    do throws(Errno) {
      let file = try location.handle.openForReading(name)
      // Locked, so that of all who store only where there is no value, one removes it.
      guard try file.tryLock(.exclusive) else { return nil }
      guard try file.status().identity == occupant.identity else { return false }
      let isGone = try withdraw(name, occupant, in: location.handle)
      // Open and locked until here.
      _ = file.rawValue
      return isGone
    } catch .noSuchFile {
      return true
    } catch {
      // It cannot be opened, or cannot be locked as on some network file systems.
      return try withdraw(name, occupant, in: location.handle)
    }
  }

  /// The status of what has a name.
  ///
  /// - Throws: What the system says where it does not tell: what is there may be a value.
  private func occupant(of name: EntryName) throws(CacheError) -> FileStatus? {
    do throws(Errno) {
      return try location.handle.status(of: name.fileName)
    } catch .noSuchFile, .staleHandle {
      return nil
    } catch {
      throw CacheError(errno: error, operation: "store", path: "\(location.path)/\(name)")
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

extension DiskEngine {
  /// Removes a file from its name, which the caller holds, if it is still the one that was judged.
  ///
  /// POSIX has no unlink by descriptor: between a look and an unlink another process can store, and
  /// its value would go. Here whatever has the name is moved aside first, and looked at where nobody
  /// else names it. What is not the judged file goes back, unless a newer one has come: a reader may
  /// miss it for that moment.
  ///
  /// The caller keeps the judged file open, so that no other file gets its inode number.
  ///
  /// - Returns: Whether it was removed; false when the name has none or another file now.
  func withdraw(
    _ name: FileName, _ judged: FileStatus, in handle: DirectoryHandle
  ) throws(Errno) -> Bool {
    // A directory could be moved and not be removed.
    if judged.isDirectory { throw .isDirectory }
    guard let aside = try moveAside(name, in: handle) else { return false }
    defer { aside.giveBack() }
    let status = try handle.status(of: aside.fileName)
    // A stamp says that somebody has given the file another expiry.
    if status.identity == judged.identity && status.modification == judged.modification {
      try handle.unlink(aside.fileName)
      return true
    }
    do throws(Errno) {
      try handle.renameExclusively(aside.fileName, to: name)
    } catch .fileExists {
      try handle.unlink(aside.fileName)
    }
    return false
  }

  /// Gives what has a name a temporary one; nil when nothing has it.
  private func moveAside(
    _ name: FileName, in handle: DirectoryHandle
  ) throws(Errno) -> TemporaryName? {
    while true {
      let aside = TemporaryName()
      do throws(Errno) {
        try handle.renameExclusively(name, to: aside.fileName)
        return aside
      } catch .noSuchFile {
        aside.giveBack()
        return nil
      } catch .fileExists {
        // Another process namespace shares the directory and our number: take the next.
      }
    }
  }
}
