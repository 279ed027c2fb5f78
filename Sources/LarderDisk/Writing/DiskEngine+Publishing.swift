import LarderBasics
import LarderSystem

extension DiskEngine {
  /// Publishes a sealed file while its name is held.
  func publish(
    _ file: inout StagedFile, _ request: StoreRequest, _ seal: EntryWriter.Seal
  ) throws(CacheError) -> StoreOutcome {
    let name = request.subject.name
    // Before `isWanted` is asked: a clearing between the two would go unnoticed.
    let turn = acquire(name)
    defer { release(name) }
    if let outcome = try outcome(unpublished: request, isEnding: turn.isEnding) { return outcome }
    let claim = try claim(request)
    if claim == .taken { return rejected(.alreadyPresent) }
    // Read again: if a clearing has removed the value, this store comes after the clearing.
    let epoch = request.isExclusive ? withState { $0.epoch } : turn.epoch
    // Memory forgets the old value before the new one is visible, because a reader that has found
    // the new one on disk must not find the old one in memory afterwards. Nothing is promoted while
    // the name is held. Of an accepted value the memory tiers were told when it was accepted.
    if request.accepted == nil { tellObservers(before: request.subject) }
    guard let status = try publishOrWithdraw(&file, request, seal, claim) else {
      // The file without a value was removed, and another process has stored since.
      withState { $0.catalog.remove(name) }
      return rejected(.alreadyPresent)
    }
    // Compared after the epoch was read, so that one of the two shows a replacement of the
    // directory.
    let isHeld = file.handle === location.handle
    index(status, request, seal, isHeld: isHeld, since: epoch)
    return .stored
  }

  /// Returns the outcome of a store that must not go on; nil if it may. Called while the name is
  /// held.
  private func outcome(
    unpublished request: StoreRequest, isEnding: Bool
  ) throws(CacheError) -> StoreOutcome? {
    if request.isWanted?() == false {
      // The caller counts what becomes of a value that it has accepted.
      if request.accepted != nil { return .pending }
      return rejected(request.isExclusive ? .alreadyPresent : .declined)
    }
    // A value that was accepted before the end began is written all the same.
    if isEnding && request.accepted == nil { throw closedError("store") }
    return nil
  }

  /// The result of taking a value into the index.
  private enum Indexing: Sendable {
    /// The index has it.
    case indexed(NameLocks.Epoch, replacing: RemovalCause?)
    /// The value was removed together with everything else.
    case cleared
    /// The value is, or may be, in a directory that was moved away.
    case astray
  }

  /// Takes a value that has just become visible into the index, and tells the observers.
  ///
  /// - Parameters:
  ///   - isHeld: Whether the file's directory is the one that is held.
  ///   - epoch: The epoch at which the store took the name.
  private func index(
    _ status: FileStatus, _ request: StoreRequest, _ seal: EntryWriter.Seal,
    isHeld: Bool, since epoch: NameLocks.Epoch
  ) {
    let isAccepted = request.accepted != nil
    let entry = IndexedEntry(
      name: request.subject.name, status: status, lastAccess: seal.lastAccess,
      proof: FileProof(
        lifetime: seal.lifetime, keyTag: request.subject.key.tag,
        hasData: !seal.extendedData.isEmpty))
    let size =
      configuration.sizeMeasure == .bytes ? entry.byteCount : entry.allocatedByteCount
    let indexing = withState { [isOnNetwork] state -> Indexing in
      state.evictions.noteStore(of: size)
      if !isHeld || state.replacements.count != epoch.replacementCount {
        state.noteAstray(entry)
        return .astray
      }
      // In the same step as the update of the index below, so that a later removal of everything
      // finds the value.
      let isCleared = state.noteClearedStore(
        entry, isLoad: request.isLoad, since: epoch.clearCount)
      if isCleared { return .cleared }
      if isOnNetwork { state.serverClock.learn(from: status, since: seal.begin) }
      let cause = state.noteStored(entry, order: isAccepted ? .byLastAccess : .mostRecent)
      return .indexed(state.epoch, replacing: cause)
    }
    finish(indexing, status, request, seal)
  }

  /// Does outside the lock what follows from the index having taken a value, or not.
  private func finish(
    _ indexing: Indexing, _ status: FileStatus, _ request: StoreRequest, _ seal: EntryWriter.Seal
  ) {
    switch indexing {
    case .cleared:
      _ = request.onSettled?(.passed)
      withdrawCleared(request.subject, status)
    case .astray:
      _ = request.onSettled?(.passed)
      // Only a look shows which file has the name in the directory that is held now.
      lookHeld(request.subject.name)
      tellObservers(request.subject, except: nil)
    case .indexed(let epoch, let cause):
      _ = request.onSettled?(.indexed(status))
      followEvents(ofHeld: request.subject.name, status)
      if let cause { tellOfRemoval(request.subject.name, key: request.subject.key, cause) }
      tell(of: status, request, seal, since: epoch)
    }
  }

  /// Notifies the caller and the memory tiers of a value that the index has taken.
  private func tell(
    of status: FileStatus, _ request: StoreRequest, _ seal: EntryWriter.Seal,
    since epoch: NameLocks.Epoch
  ) {
    let expiry = expiry(of: status, seal)
    request.onChange?(
      Published(
        byteCount: Int(status.byteCount), expiry: expiry, lifetime: seal.lifetime,
        clearCount: epoch.clearCount))
    if observers.isEmpty { return }
    // A replacement of the directory since then made memory forget everything before it had this
    // value, so the memory tiers are told again.
    let present = withState { $0.epoch }
    if present.replacementCount != epoch.replacementCount {
      return tellObservers(request.subject, except: nil)
    }
    // Not `entryChanged`, which would supersede loads that began after a removal of everything.
    if present != epoch { return tellObservers(ofFiles: [request.subject.name]) }
    if request.accepted == nil {
      tellObservers(request.subject, except: request.origin)
    } else if expiry < seal.expiry {
      // The memory tiers were told of a later expiry when the value was accepted.
      tellObservers(request.subject, except: nil)
    }
  }

  /// Returns the expiry of a file that was just published: its seal's, unless another process has
  /// given it an earlier one since. A difference of up to two seconds is the file system's
  /// resolution.
  private func expiry(of status: FileStatus, _ seal: EntryWriter.Seal) -> Timestamp {
    let expiry = status.modification.asExpiry
    return expiry.adding(seconds: 2) < seal.expiry ? expiry : seal.expiry
  }

  /// Notes the last use of an accepted value, which came after its file was sealed. Called in
  /// `onSettled`, so the name is held.
  func noteUse(
    of name: EntryName, _ status: FileStatus, _ seal: EntryWriter.Seal, at access: Timestamp,
    expiry: Timestamp
  ) {
    let isExtended = expiry > seal.expiry
    let extending = isExtended ? ExpirationExtending.lifetime : .off
    let isDue = isDue(status, seal.lifetime, extending, access)
    let mustStamp = withState { state in
      state.catalog.index.touch(name, at: access)
      guard isDue, state.catalog.index.contains(name) else { return false }
      state.catalog.uses.note(
        name, status, access: access, expiry: isExtended ? expiry : nil)
      return true
    }
    if mustStamp { planDrain(within: recency.lag(for: seal.lifetime, extending)) }
  }

  private func publishOrWithdraw(
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

  /// Removes a value that was, or may have been, visible before a removal of everything began.
  ///
  /// A reader may have seen the value before the removal began and must not see it after. The
  /// removal keeps files that are stored after its start, so the store itself removes this one.
  private func withdrawCleared(_ subject: Subject, _ status: FileStatus) {
    do throws(Errno) {
      let unlinking = try unlink(
        subject.name, inode: status.inode, changeTime: status.change, in: location.handle)
      if case .removed = unlinking { tellOfRemoval(subject.name, key: subject.key, .explicit) }
    } catch {
      noteUpkeepFailure(error)
    }
    // `fileChanged` and not `entryChanged`, which would supersede loads that began after the
    // removal of everything. Those must be stored.
    tellObservers(ofFiles: [subject.name])
  }

  /// Removes a file that became visible before its store failed. A value that another process has
  /// stored since stays.
  private func withdraw(
    _ file: borrowing StagedFile, _ request: StoreRequest, _ seal: EntryWriter.Seal
  ) {
    let name = request.subject.name
    do throws(Errno) {
      let status = try status(of: file, published: name.fileName, seal)
      _ = try withdraw(name.fileName, status, in: file.handle)
    } catch {
      noteUpkeepFailure(error)
    }
    // The name may be free, or have this file still or another process's.
    lookHeld(name)
  }

  /// Returns the status of a file that was just published.
  ///
  /// If `fstat` fails, the status of the name is taken, provided that it has this store's length
  /// and stamps. Two stores have the same last access only within one tick of the clock.
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

  /// The right of a store to a name.
  private enum Claim: Sendable {
    /// The store replaces any file of the name.
    case replacing
    /// The name is free, and the store must fail if another file takes it.
    case vacant
    /// There is a value, or another process is replacing a file without one.
    case taken
  }

  /// Frees the name of a store that must find no value: removes a file that holds none.
  ///
  /// Only under a free name can a file be published without replacing a value that another process
  /// stores at that moment.
  private func claim(_ request: StoreRequest) throws(CacheError) -> Claim {
    guard request.isExclusive else { return .replacing }
    while true {
      // The status is read before the value is checked, so that a file that takes the name
      // meanwhile is checked anew.
      guard let occupant = try occupant(of: request.subject.name) else { return .vacant }
      if try holdsValue(request.subject) { return .taken }
      do throws(Errno) {
        switch try makeWay(request.subject.name, occupant) {
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
  /// - Returns: Whether it is gone; false if the name has another file by now, nil if another
  ///   process is removing it.
  private func makeWay(_ name: EntryName, _ occupant: FileStatus) throws(Errno) -> Bool? {
    do throws(Errno) {
      let file = try location.handle.openForReading(name.fileName)
      // Locked, so that only one of several exclusive stores removes it. A file that is hidden here
      // may be locked by the store that published it, which has not returned yet.
      guard try file.tryLock(.exclusive) || hidesFile(named: name) else { return nil }
      guard try file.status().identity == occupant.identity else { return false }
      let isGone = try withdraw(name.fileName, occupant, in: location.handle)
      // Keeps the file open and locked until here.
      _ = file.rawValue
      return isGone
    } catch .noSuchFile {
      return true
    } catch {
      // It cannot be opened, or cannot be locked, as on some network file systems.
      return try withdraw(name.fileName, occupant, in: location.handle)
    }
  }

  /// Returns the status of the file of a name; nil if the name is free.
  ///
  /// - Throws: `CacheError` if the status cannot be read, because the file may hold a value.
  private func occupant(of name: EntryName) throws(CacheError) -> FileStatus? {
    try attempt(
      "store", at: "\(location.path)/\(name)", location.handle.statusIfPresent(of: name.fileName))
  }

  /// Whether a read would return a value. The content is checked unless it was checked before.
  private func holdsValue(_ subject: Subject) throws(CacheError) -> Bool {
    guard let status = try inspect(subject, at: heldNow)?.status else { return false }
    let isVerified = withState { state in
      guard let known = state.catalog.index.entry(named: subject.name) else { return false }
      return known.proof != nil && known.inode == status.inode && known.changeTime == status.change
    }
    if isVerified || !reader.checksContent { return true }
    return try look(at: subject.name, isChecking: true)?.finding?.isServed ?? false
  }
}

extension DiskEngine {
  /// Removes the file of a name, which the caller holds, if it is still the one that was judged.
  ///
  /// POSIX has no unlink by descriptor. Another process can store between a look and an unlink, and
  /// its value would be removed. So the file is moved aside first and looked at under a name that
  /// no other process uses. If it is not the judged file, it is moved back unless a newer one has
  /// come; a reader may miss it for that moment.
  ///
  /// The caller keeps the judged file open, so that no other file gets its inode number.
  ///
  /// - Returns: Whether it was removed; false if the name has no file or another one now.
  func withdraw(
    _ name: FileName, _ judged: FileStatus, in handle: DirectoryHandle
  ) throws(Errno) -> Bool {
    // A directory could be moved aside but not removed.
    if judged.isDirectory { throw .isDirectory }
    guard let aside = try moveAside(name, in: handle) else { return false }
    defer { aside.giveBack() }
    let status = try handle.status(of: aside.fileName)
    // Another expiry shows that another process has touched the file.
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

  /// Renames the file of a name to a temporary name; nil if there is none.
  private func moveAside(
    _ name: FileName, in handle: DirectoryHandle
  ) throws(Errno) -> TemporaryName? {
    while true {
      let aside = TemporaryName(in: handle)
      do throws(Errno) {
        try handle.renameExclusively(name, to: aside.fileName)
        return aside
      } catch .noSuchFile {
        aside.giveBack()
        return nil
      } catch .fileExists {
        // A process in another namespace shares the directory and this process's number, so the
        // next name is tried.
      }
    }
  }
}
