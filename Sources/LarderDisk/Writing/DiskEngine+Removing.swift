package import LarderBasics
import LarderSystem
import Synchronization

// By key.
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
      var isCounted = outcome.isRemoved && !wasHidden
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

  /// Throws if the cache may not change its directory.
  func checkWritable(_ operation: String) throws(CacheError) {
    if isReadOnly {
      throw CacheError(.readOnly, operation: operation, path: location.path)
    }
  }
}

// By a file that was judged.
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
  private func settle(_ held: borrowing HeldName, _ removal: Removal, _ outcome: RemovalOutcome) {
    let (name, now) = (held.name, heldNow)
    let isLearned = withState { $0.settle(removal, outcome, of: name, at: now) }
    if outcome.isRemoved { tellOfRemoval(name, key: removal.key, removal.cause) }
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

  /// Removes a damaged file in the background if it is still the one that was judged.
  func removeInBackground(damaged name: EntryName, _ status: FileStatus) {
    // Another reader may have found the same.
    let isNew = withState { !$0.phase.isShutDown && $0.evictions.damaged.insert(name).inserted }
    if isNew { runAside { self.remove(damaged: name, status) } }
  }

  private func remove(damaged name: EntryName, _ status: FileStatus) {
    let outcome = changing(name) { held in
      // After the end another process may own the directory.
      let mayRemove = withState { !$0.phase.isShutDown && !$0.hidesFile(named: name) }
      return mayRemove ? remove(held, .exactly(status), .damaged) : .changed(nil)
    }
    if outcome.isRemoved { synchronizeRemovals() }
    _ = withState { $0.evictions.damaged.remove(name) }
    changed.signal()
  }
}

// Of everything.
extension DiskEngine {
  /// Starts the removal of every entry. From now on reads of older values in this process miss, and
  /// totals are 0. Values that are stored meanwhile stay.
  func startClearing(
    beside observer: (any ClearingObserver)? = nil
  ) throws(CacheError) -> RemovalProgress {
    try checkWritable("removeAll")
    // A directory that was moved away is left alone, because the person that moved it expects that.
    try revalidate(isUrgent: false, mayMake: false, "removeAll")
    // Memory is emptied twice. Before the files are hidden: a reader that misses on the disk must
    // not find the value in memory. After: a store may have added one in between. Nothing is
    // promoted meanwhile.
    generations.beginAll()
    tell(.cleared)
    let (beginning, _) = beginClearing(beside: observer)
    tell(.cleared)
    generations.endAll()
    guard let (progress, mustWalk) = beginning else { throw closedError("removeAll") }
    // Read after everything was hidden, and not when the walk begins. If another directory has been
    // held since, nothing is hidden any more, and the walk finds nothing to remove.
    let handle = location.handle
    if mustWalk { threads.submit { self.clear(progress, in: handle, observer) } }
    return progress
  }

  /// Hides everything, once only the end of an earlier removal is not waited for any more.
  ///
  /// - Returns: The removal, nil if the engine is shut down; and what the caller releases outside
  ///   of the lock, because releasing a million entries takes long.
  private func beginClearing(
    beside observer: (any ClearingObserver)?
  ) -> ((RemovalProgress, Bool)?, Catalog) {
    let hideFiles = { [self] in
      withState { state -> ((RemovalProgress, Bool)?, Catalog)? in
        let old = state.catalog
        if state.phase.isShutDown { return (nil, old) }
        guard state.clearing.mayBegin else { return nil }
        defer { clearMark.store(state.clearing.count, ordering: .relaxed) }
        return (state.beginClearing(), old)
      }
    }
    return changed.wait { if let observer { observer.hide(with: hideFiles) } else { hideFiles() } }
  }

  /// The number of removals of everything that have begun.
  var clearCount: Int { clearMark.load(ordering: .relaxed) }

  /// Whether a removal of everything hides the file of a name, and is the one with this number.
  func hidesFile(named name: EntryName, since count: Int) -> Bool {
    withState { $0.clearing.count == count && $0.hidesFile(named: name) }
  }

  /// Whether a removal of everything has begun since a value was published. A memory tier that asks
  /// under its lock, and is told that none has, forgets the value when that removal empties it.
  package func hasCleared(since published: Published) -> Bool {
    clearCount != published.clearCount
  }

  private func clear(
    _ first: RemovalProgress, in handle: DirectoryHandle, _ observer: (any ClearingObserver)?
  ) {
    var progress = first
    walk(progress, in: handle, observer)
    while let next = withState({ $0.clearing.endWalk() }) {
      progress.finish()
      progress = next
      // In the same directory: while another is held, and the index does not know it yet, the walk
      // would remove the files of that one.
      walk(progress, in: handle, observer)
    }
    let reveal = { [self] in withState { $0.clearing.reveal() } }
    if let observer { progress.add(observer.endClearing(with: reveal)) } else { reveal() }
    // The walk may have missed files that other processes stored meanwhile.
    rescanIfMissed()
    progress.finish()
    // Last, because the engine's end waits for it, and every waiting thread must have been woken by
    // then.
    withState { $0.clearing.end() }
    changed.signal()
  }

  /// Removes the files of hidden names. What it finds to be newer or unremovable becomes an entry
  /// again, unless another clearing has begun since, whose walk finds it again.
  private func walk(
    _ progress: RemovalProgress, in handle: DirectoryHandle, _ observer: (any ClearingObserver)?
  ) {
    let count = clearCount
    do throws(Errno) {
      var scan = try DirectoryScan(handle, trust: reader.trust)
      while true {
        let piece = try scan.next()
        for entry in piece.entries { progress.add(clear(entry, count, in: handle, observer)) }
        for (name, errno) in piece.unreadable where passesOver(name, errno) {
          observer?.filesStay(name, since: count)
          progress.add(BulkRemoval(.failed, of: 0))
        }
        if piece.isLast || !mayBe(.hidesFiles) { break }
      }
      if configuration.durability == .durable { try handle.descriptor.synchronize() }
    } catch {
      progress.fail(CacheError(errno: error, operation: "removeAll", path: location.path))
      // Entries that could not be read are still there, and the index has forgotten them.
      withState { if $0.clearing.hidesFiles { $0.catalog.scans.reset() } }
      observer?.filesStay(nil, since: count)
    }
  }

  /// Passes over a hidden entry whose status cannot be read; false if it is not hidden any more.
  private func passesOver(_ name: EntryName, _ errno: Errno) -> Bool {
    withState { state in
      guard state.hidesFile(named: name) else { return false }
      state.counters.upkeepFailures[errno, default: 0] += 1
      // The entry is still there, and the index has forgotten it.
      state.catalog.scans.reset()
      return true
    }
  }

  private func clear(
    _ entry: IndexedEntry, _ count: Int, in handle: DirectoryHandle,
    _ observer: (any ClearingObserver)?
  ) -> BulkRemoval {
    // A clock that stores may wait for the room that this walk makes.
    changing(entry.name, readsClock: false) { held in
      guard hidesFile(named: entry.name) else { return BulkRemoval() }
      let removal = Removal.cleared(entry, count: count)
      let outcome = unlink(held, .unwritten(entry), removal, in: handle)
      if case .failed = outcome { observer?.filesStay(entry.name, since: count) }
      settle(held, removal, outcome)
      if outcome.isRemoved { observer?.fileRemoved(entry.name) }
      return BulkRemoval(outcome, of: entry.byteCount)
    }
  }
}
