import LarderBasics
import LarderSystem

extension DiskEngine {
  /// Publishes a sealed file while its name is held.
  func publish(
    _ file: inout StagedFile, _ request: StoreRequest, _ seal: Seal
  ) throws(CacheError) -> StoreOutcome {
    let name = request.subject.name
    // Before `isWanted` is asked: a clearing between the two would go unnoticed.
    let held = acquire(name)
    defer { release(name) }
    if request.isWanted?() == false {
      // The caller counts what becomes of a value that it has accepted.
      if request.accepted != nil { return .pending }
      return rejected(request.isExclusive ? .alreadyPresent : .declined)
    }
    // A value that was accepted before the end began is written all the same.
    if held.phase.isEnding && request.accepted == nil { throw closedError("store") }
    if request.isExclusive, try !isVacant(request.subject, held) {
      return rejected(.alreadyPresent)
    }
    var epoch = held.epoch
    // Read again: if a clearing has removed the value, this store comes after the clearing.
    if request.isExclusive { epoch.clearCount = clearCount }
    // Memory forgets the old value before the new one is visible, because a reader that has found
    // the new one on disk must not find the old one in memory afterwards. Nothing is promoted while
    // the name is held. Of an accepted value the memory tiers were told when it was accepted.
    if request.accepted == nil { tell(.entryWillChange(request.subject)) }
    guard let status = try publishOrWithdraw(&file, request, seal, held) else {
      return rejected(.alreadyPresent)
    }
    conclude(status, in: file.handle, request, seal, held, since: epoch)
    return .stored
  }

  /// Gives a sealed file its name; returns nil if the name was not free. If a later step fails,
  /// takes the file back; a value that another process has stored since stays.
  private func publishOrWithdraw(
    _ file: inout StagedFile, _ request: StoreRequest, _ seal: Seal,
    _ held: borrowing HeldName
  ) throws(CacheError) -> FileStatus? {
    do throws(Errno) {
      if let status = try held.publish(&file, mustBeFree: request.isExclusive, configuration) {
        return status
      }
    } catch {
      if file.isPublished {
        upkeep(try held.withdraw(held.status(of: file, seal), in: file.handle))
      }
      // The name may be free, or have this file still or another process's.
      if file.isPublished || request.isExclusive { lookHeld(held.name) }
      throw CacheError(errno: error, operation: "store", path: "\(location.path)/\(held.name)")
    }
    // The file without a value was removed, and another process has stored since.
    lookHeld(held.name)
    return nil
  }

  /// Settles a value that has just become visible in a directory, and tells the observers. The
  /// epoch is that at which the store took the name.
  private func conclude(
    _ status: FileStatus, in directory: DirectoryHandle, _ request: StoreRequest,
    _ seal: Seal, _ held: borrowing HeldName, since epoch: NameLocks.Epoch
  ) {
    let (name, key) = (request.subject.name, request.subject.key)
    let check = FileCheck(
      lifetime: seal.lifetime, keyTag: key.tag, hasData: !seal.extendedData.isEmpty)
    // With another expiry the file may have been written into since, so a read checks it.
    let isAsSealed = status.modification.asExpiry == seal.expiry
    let entry = IndexedEntry(
      name: name, status: status, lastAccess: seal.lastAccess, check: isAsSealed ? check : nil)
    // Compared after the epoch was read, so that one of the two shows another directory.
    let isInPlace = directory === location.handle
    let publication = withState { [isOnNetwork, measure = configuration.sizeMeasure] state in
      let size = measure == .bytes ? entry.byteCount : entry.allocatedByteCount
      state.evictions.spend(size)
      let publication = state.settle(
        published: entry, order: request.accepted == nil ? .mostRecent : .byLastAccess,
        isInPlace: isInPlace, since: epoch, size: size)
      if isOnNetwork, case .indexed = publication {
        state.serverClock.adjust(by: status, since: seal.begin)
      }
      return publication
    }
    switch publication {
    case .cleared:
      _ = request.onSettled?(status)
      if request.isNewer { tell(.entryChanged(request.subject)) }
    case .astray:
      _ = request.onSettled?(nil)
      // Only a look shows which file has the name in the directory that is held now.
      lookHeld(name)
      tell(.entryChanged(request.subject))
    case .indexed(let isReplacing):
      _ = request.onSettled?(status)
      followEvents(ofHeld: name, status)
      if isReplacing { removals.tell(name, key: key, .replaced) }
      tell(of: status, in: directory, request, seal, since: epoch.clearCount)
    }
  }

  /// Notifies the caller and the memory tiers of a value that the index has taken.
  private func tell(
    of status: FileStatus, in directory: DirectoryHandle, _ request: StoreRequest,
    _ seal: Seal, since clearCount: Int
  ) {
    // An earlier one was set by another process; two seconds are the file system's resolution.
    let present = status.modification.asExpiry
    let expiry = present.adding(seconds: 2) < seal.expiry ? present : seal.expiry
    request.onChange?(
      PublishedValue(
        byteCount: Int(status.byteCount), expiry: expiry, lifetime: seal.lifetime,
        clearCount: clearCount))
    if observers.isEmpty { return }
    if directory !== location.handle || self.clearCount != clearCount {
      // Memory forgot everything before it had this value, so it is told again.
      tell(request.isNewer ? .entryChanged(request.subject) : .filesChanged([request.subject.name]))
    } else if request.accepted == nil || expiry < seal.expiry {
      // Of an accepted value the memory tiers were told before, with the later expiry.
      tell(.entryChanged(request.subject), except: request.origin)
    }
  }

  /// Frees the name of a store that must find no value: removes a file that holds none.
  ///
  /// Only under a free name does a file replace no value that another process stores meanwhile.
  ///
  /// - Returns: False if there is a value, or another process is replacing a file without one.
  private func isVacant(_ subject: Subject, _ held: borrowing HeldName) throws(CacheError) -> Bool {
    let path = "\(location.path)/\(held.name)"
    while true {
      // Before the value is checked, so that a file that takes the name is checked anew.
      guard
        let occupant = try attempt(
          "store", at: path, location.handle.statusIfPresent(of: held.name.fileName))
      else { return true }
      if try heldValue(of: subject, for: .file) != nil { return false }
      let isGone = try attempt(
        "store", at: path,
        held.makeWay(
          of: occupant, in: location.handle, isHidden: hidesFile(named: subject.name)))
      switch isGone {
      case true?: return true
      case false?: continue
      case nil: return false
      }
    }
  }

  /// Reads a value whose name is held; nil if a read would miss. Checks it if it was not before.
  ///
  /// Does not use `answer`, which has a damaged file removed in the background. If the system has
  /// no thread left, the removal would run here and wait for the name that this thread holds.
  func heldValue(
    of subject: Subject, for purpose: ReadPurpose
  ) throws(CacheError) -> EntryReader.Testimony? {
    guard case .file(let file, let status) = try openFile(of: subject.name),
      missReason(for: status, of: subject.name, at: heldNow) == nil
    else { return nil }
    let check = withState { state in
      state.catalog.index.verified(
        subject.name, inode: status.inodeMark, changeTime: status.change, keyTag: subject.key.tag)?
        .check
    }
    do throws(Errno) {
      let examination = try reader.read(file, status, subject.key, purpose, checkedBefore: check)
      if case .accepted(let testimony) = examination { return testimony }
    } catch .noMemory where status.allocatedByteCount < status.byteCount {
      // The file is sparse and longer than the memory can hold.
    } catch {
      try EntryReader.missReason(for: error, of: subject.name)
    }
    return nil
  }

  /// Returns the reason for a miss, if a file's status and its pending use show one.
  func missReason(for status: FileStatus, of name: EntryName, at now: Timestamp) -> MissReason? {
    let time = timeToJudge(status.modification.asExpiry, at: now)
    return reader.trust.missReason(for: status, pending: pendingExpiry(of: name, status), now: time)
  }

  /// Returns the expiry that a use has given a file and that is not on the disk yet.
  func pendingExpiry(of name: EntryName, _ status: FileStatus) -> Timestamp? {
    withState { $0.catalog.uses.expiry(of: name, status) }
  }
}
