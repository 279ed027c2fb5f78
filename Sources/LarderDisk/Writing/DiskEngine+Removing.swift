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
      let isRemoved = try unlinkEntry(name.fileName, in: handle)
      isFree = true
      // A value that waits goes after the file. If the file stayed, reads would find it, and it is
      // older.
      let (isCounted, victim) = withState { state -> (Bool, RemovalCause?) in
        // A victim was counted when it was chosen, possibly after `wasHidden` was read.
        let victim = state.catalog.doomed[name]
        state.catalog.remove(name)
        let isCounted = isRemoved && !wasHidden && victim == nil
        if isCounted { state.counters.countRemoval(cause) }
        return (isCounted, isRemoved ? victim?.cause : nil)
      }
      let hadOther = (onSettled ?? request?.onSettled)?(.removed) == true
      if hadOther && !isCounted { withState { $0.counters.countRemoval(cause) } }
      let told = isCounted || hadOther ? cause : victim
      if let told { tellOfRemoval(name, key: subject?.key, told) }
      // Also if the file was gone already, because the evictor or another process may have unlinked
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

  /// Unlinks the file of an entry; false if there is none. Anything else with the name stays.
  private func unlinkEntry(
    _ name: FileName, in handle: DirectoryHandle
  ) throws(Errno) -> Bool {
    do throws(Errno) {
      guard let status = try handle.statusIfPresent(of: name), status.isRegular,
        reader.trust.isTrusted(status)
      else { return false }
      try handle.unlink(name)
      return true
    } catch .noSuchFile, .staleHandle {
      return false
    }
  }

  /// Removes a file in the background if it is still the one that was judged.
  ///
  /// - Parameter generation: The state of the name before the file was opened.
  func removeInBackground(
    _ name: EntryName, _ status: FileStatus, cause: RemovalCause,
    seenAt generation: EntryGenerations.Snapshot?
  ) {
    let isCurrent = generation.map(generations.isCurrent) ?? false
    // Names share counters. If a change of another name moved this one's counter, a look at the
    // disk shows whether the file is still there. Without it, the findings of one reader in a
    // thousand would be dropped.
    guard isCurrent || isStanding(name, status) else { return }
    let victim = Victim(IndexedEntry(name: name, status: status))
    withState { state in
      // The judged file may have been replaced meanwhile. The index knows the newer one then.
      if let known = state.catalog.index.entry(named: name), known.inode != status.inode { return }
      // Another reader may have chosen the file already.
      if state.hidesFile(named: name) || state.phase.isShutDown { return }
      state.evict(victim, cause)
    }
    runEvictor()
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
