package import LarderBasics
import LarderSystem

extension DiskEngine {
  /// Removes an entry. The memory tiers forget it even if its file cannot be removed.
  ///
  /// - Parameters:
  ///   - subject: The entry that the memory tiers forget; nil if they hold nothing of the name.
  ///   - onSettled: Runs when the file is gone; by default the callback of the store.
  ///   - request: The store that fails and therefore removes the older value. A value that was
  ///     stored since the store was decided on stays.
  ///   - whileHeld: Runs before the memory tiers are told, which is before and after the removal,
  ///     with the name held. Gets whether the name is free.
  /// - Returns: Whether this process knew an entry there.
  package func remove(
    _ name: EntryName, _ subject: Subject? = nil,
    cause: RemovalCause, onSettled: ((Settlement) -> Bool)? = nil,
    of request: StoreRequest? = nil, whileHeld: (Bool) -> Void = { _ in }
  ) throws(CacheError) -> Bool {
    try checkWritable("remove")
    // Before the name is held, because following a replaced directory may take other names.
    do throws(CacheError) {
      try revalidate(isUrgent: false, mayMake: false, "remove")
    } catch {
      changing(name) {
        if request?.isWanted?() != false { forget(subject, of: request, whileHeld) }
      }
      throw error
    }
    let turn = acquire(name)
    defer { release(name) }
    if request?.isWanted?() == false { return false }
    // The failed store of a value that was accepted before goes through.
    if turn.isEnding && request?.accepted == nil { throw closedError("remove") }
    // Also before the file is removed, because a reader that misses it on the disk must not find it
    // in memory afterwards.
    forget(subject, of: request, whileHeld)
    var isFree = false
    defer { forget(subject, of: request, isFree: isFree, whileHeld) }
    let wasHidden = hidesFile(named: name)
    do throws(Errno) {
      let handle = location.handle
      // Anything else with the name stays.
      let unlinking = try unlink(name, in: handle) { $0.isRegular && reader.trust.isTrusted($0) }
      let isRemoved = if case .removed = unlinking { true } else { false }
      isFree = true
      // A value that waits goes after the file. If the file stayed, reads would find it, and it is
      // older.
      let isCounted = isRemoved && !wasHidden
      withState { state in
        state.catalog.remove(name)
        if isCounted { state.counters.countRemoval(cause) }
      }
      let hadOther = (onSettled ?? request?.onSettled)?(.removed) == true
      if hadOther && !isCounted { withState { $0.counters.countRemoval(cause) } }
      if isCounted || hadOther { tellOfRemoval(name, key: subject?.key, cause) }
      // Also if the file was gone already, because an eviction or another process may have unlinked
      // it and not have synced the directory yet.
      if configuration.durability == .durable { try handle.descriptor.synchronize() }
      return isRemoved && !wasHidden || hadOther
    } catch {
      throw CacheError(errno: error, operation: "remove", path: "\(location.path)/\(name)")
    }
  }

  /// Tells the memory tiers of a removal, before any other change of the name.
  private func forget(
    _ subject: Subject?, of request: StoreRequest?, isFree: Bool = false,
    _ whileHeld: (Bool) -> Void
  ) {
    whileHeld(isFree)
    // Of an accepted value that is lost, its acceptor tells the memory tiers.
    guard let subject, request?.accepted == nil else { return }
    request?.onChange?(nil)
    tellObservers(subject, except: request?.origin)
  }

  /// The error of an operation that begins while the last object is being closed.
  func closedError(_ operation: String) -> CacheError {
    CacheError(.closed, operation: operation, path: location.path)
  }

  /// Removes a damaged file in the background if it is still the one that was judged.
  ///
  /// - Parameter generation: The state of the name before the file was opened.
  func removeInBackground(
    damaged name: EntryName, _ status: FileStatus, seenAt generation: EntryGenerations.Snapshot?
  ) {
    let isCurrent = generation.map(generations.isCurrent) ?? false
    // Names share counters. If a change of another name moved this one's counter, a look at the
    // disk shows whether the file is still there. Without it, the findings of one reader in a
    // thousand would be dropped.
    guard isCurrent || isStanding(name, status) else { return }
    // Another reader may have found the same.
    let isNew = withState { !$0.phase.isShutDown && $0.evictions.add(damaged: name) }
    if isNew { runAside { self.remove(damaged: name, status) } }
  }

  private func remove(damaged name: EntryName, _ status: FileStatus) {
    let isRemoved = changing(name) {
      do throws(Errno) {
        // After the end another process may own the directory.
        let mayRemove = withState { !$0.phase.isShutDown && !$0.hidesFile(named: name) }
        if mayRemove,
          case .removed = try unlink(
            name, inode: status.inode, changeTime: status.change, in: location.handle)
        {
          withState { $0.noteRemoved(name, as: .corrupt) }
          tellOfRemoval(name, .corrupt)
          return true
        }
      } catch {
        noteUpkeepFailure(error)
      }
      return false
    }
    if isRemoved { synchronizeRemovals() }
    withState { $0.evictions.remove(damaged: name) }
    changed.signal()
  }

  /// Whether a name still leads to the very file that was judged.
  private func isStanding(_ name: EntryName, _ status: FileStatus) -> Bool {
    do throws(Errno) {
      let present = try location.handle.status(of: name.fileName)
      return present.identity == status.identity && present.change == status.change
    } catch {
      return false
    }
  }

  /// Throws if the cache may not change its directory.
  func checkWritable(_ operation: String) throws(CacheError) {
    if isReadOnly {
      throw CacheError(.readOnly, operation: operation, path: location.path)
    }
  }
}

extension DiskEngine {
  /// The result of unlinking a judged file.
  enum Unlinking: Sendable {
    case removed
    /// No file has the name, because another process was quicker.
    case absent
    /// The file stays, because it was used, changed or replaced since it was judged.
    case changed(FileStatus)
  }

  /// Unlinks the file of a name, which the caller holds, if it is still the one that was judged.
  ///
  /// Every store, stamp and use changes the inode or the change time. There is no unlink by
  /// descriptor, so a value that another process stores between the check and the unlink is lost as
  /// if evicted.
  ///
  /// On CephFS the change time can be the expiry, and a use that extends nothing moves the last
  /// access alone.
  ///
  /// - Parameter lastUse: The last use that the judgement knew; nil if a later one saves no file.
  func unlink(
    _ name: EntryName, inode: UInt64, changeTime: Timestamp, unusedSince lastUse: Timestamp? = nil,
    in handle: DirectoryHandle
  ) throws(Errno) -> Unlinking {
    try unlink(name, in: handle) { status in
      let isUsed =
        lastUse.map { status.change == status.modification && status.lastAccess > $0 } ?? false
      return status.inode == inode && status.change == changeTime && !isUsed
    }
  }

  /// Unlinks the file of a name, which the caller holds, if a look at it shows what was judged.
  func unlink(
    _ name: EntryName, in handle: DirectoryHandle, if isJudged: (FileStatus) -> Bool
  ) throws(Errno) -> Unlinking {
    do throws(Errno) {
      let status = try handle.status(of: name.fileName)
      guard isJudged(status) else { return .changed(status) }
      try handle.unlink(name.fileName)
      return .removed
    } catch .noSuchFile, .staleHandle {
      return .absent
    }
  }
}
