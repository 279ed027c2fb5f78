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
      changing(name) { _ in
        if request?.isWanted?() != false { forget(subject, of: request, whileHeld) }
      }
      throw error
    }
    let held = acquire(name)
    defer { release(name) }
    if request?.isWanted?() == false { return false }
    // The failed store of a value that was accepted before goes through.
    if held.turn.isEnding && request?.accepted == nil { throw closedError("remove") }
    // Also before the file is removed, because a reader that misses it on the disk must not find it
    // in memory afterwards.
    forget(subject, of: request, whileHeld)
    var isFree = false
    defer { forget(subject, of: request, isFree: isFree, whileHeld) }
    let wasHidden = hidesFile(named: name)
    do throws(Errno) {
      let handle = location.handle
      // Anything else with the name stays.
      let outcome = try held.unlink(.entry, in: handle, trusting: reader.trust)
      isFree = true
      var isCounted = if case .removed = outcome { !wasHidden } else { false }
      // A value that waits goes after the file. If the file stayed, reads would find it, and it is
      // older.
      if (onSettled ?? request?.onSettled)?(.removed) == true { isCounted = true }
      withState { [isCounted] state in
        state.catalog.remove(name)
        if isCounted { state.counters.countRemoval(cause) }
      }
      if isCounted { tellOfRemoval(name, key: subject?.key, cause) }
      // Also if the file was gone already, because an eviction or another process may have unlinked
      // it and not have synced the directory yet.
      if configuration.durability == .durable { try handle.descriptor.synchronize() }
      return isCounted
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
    tell(.entryChanged(subject), except: request?.origin)
  }

  /// The error of an operation that begins while the last object is being closed.
  func closedError(_ operation: String) -> CacheError {
    CacheError(.closed, operation: operation, path: location.path)
  }

  /// Removes a damaged file in the background if it is still the one that was judged.
  func removeInBackground(damaged name: EntryName, _ status: FileStatus) {
    // Another reader may have found the same.
    let isNew = withState { !$0.phase.isShutDown && $0.evictions.add(damaged: name) }
    if isNew { runAside { self.remove(damaged: name, status) } }
  }

  private func remove(damaged name: EntryName, _ status: FileStatus) {
    let outcome = changing(name) { held in
      // After the end another process may own the directory.
      let mayRemove = withState { !$0.phase.isShutDown && !$0.hidesFile(named: name) }
      return mayRemove ? remove(held, .exactly(status), .damaged) : .changed(nil)
    }
    if case .removed = outcome { synchronizeRemovals() }
    withState { $0.evictions.remove(damaged: name) }
    changed.signal()
  }

  /// Throws if the cache may not change its directory.
  func checkWritable(_ operation: String) throws(CacheError) {
    if isReadOnly {
      throw CacheError(.readOnly, operation: operation, path: location.path)
    }
  }
}

extension DiskEngine {
  /// Removes the file of a held name if a look at it shows what was judged, and settles that.
  func remove(
    _ held: borrowing HeldName, _ judged: HeldName.Judged, _ removal: Removal
  ) -> RemovalOutcome {
    let outcome = unlink(held, judged, removal, in: location.handle)
    settle(held, removal, outcome)
    return outcome
  }

  /// Unlinks the file of a held name if a look at it shows what was judged. Counts a failure.
  func unlink(
    _ held: borrowing HeldName, _ judged: HeldName.Judged, _ removal: Removal,
    in handle: DirectoryHandle
  ) -> RemovalOutcome {
    // Also before the file is removed, because a reader that misses it on the disk must not find it
    // in memory afterwards.
    tellObservers(of: removal, held.name)
    return upkeep(try held.unlink(judged, in: handle, trusting: reader.trust)) ?? .failed
  }

  /// Takes the outcome of a removal over, then reports it, then tells memory.
  func settle(_ held: borrowing HeldName, _ removal: Removal, _ outcome: RemovalOutcome) {
    let name = held.name
    let (now, outcome) = (heldNow, outcome)
    let isLearned = withState { $0.settle(removal, outcome, of: name, at: now) }
    if case .removed = outcome { tellOfRemoval(name, key: removal.key, removal.cause) }
    if isLearned { return tell(ofLearned: [name]) }
    tellObservers(of: removal, name)
  }

  private func tellObservers(of removal: Removal, _ name: EntryName) {
    switch removal {
    case .cleared, .evicted(_, _, isTold: false): return
    case .chosen(let key):
      // The key is the file's and untrusted. It decides only which value leaves memory.
      if let key { tell(.entryChanged(Subject(key: key, name: name))) }
      // Most files record no key, so the name alone decides on loads.
      supersedeLoads { $0.name == name }
    case .damaged, .withdrawn, .evicted: break
    }
    // Not `.entryChanged` for `withdrawn`, which would supersede loads that began after the removal
    // of everything. Those must be stored.
    tell(.filesChanged([name]))
  }

  /// Makes removals survive a power cut, if the cache is durable.
  func synchronizeRemovals() {
    if configuration.durability == .durable { upkeep(try location.handle.descriptor.synchronize()) }
  }
}
