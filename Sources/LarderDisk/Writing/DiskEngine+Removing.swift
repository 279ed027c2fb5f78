package import LarderBasics
package import LarderSystem
import Synchronization

// By key.
extension DiskEngine {
  /// Removes an entry. The memory tiers forget it even if its file cannot be removed.
  ///
  /// - Parameters:
  ///   - subject: The entry that the memory tiers forget; nil if they hold nothing of the name.
  ///   - onSettled: Runs when the file is gone; see `StoreRequest`.
  ///   - request: The store that fails and therefore removes the older value. It counts as made
  ///     now, so it takes a value that was stored meanwhile, unless `isWanted` says no.
  ///   - whileHeld: Runs before the memory tiers are told, which is before and after the removal,
  ///     with the name held. Gets whether the name is free.
  /// - Returns: Whether a file that was not hidden was removed, or a value that waited.
  package func remove(
    _ name: EntryName, _ subject: Subject? = nil, onSettled: ((FileStatus?) -> Bool)?,
    of request: StoreRequest? = nil, whileHeld: (Bool) -> Void = { _ in }
  ) throws(CacheError) -> Bool {
    try checkWritable("remove")
    // Before the name is held, because following a replaced directory may take other names.
    let path = Result { () throws(CacheError) in
      try revalidate(isUrgent: false, mayMake: true, "remove")
    }
    let held = acquire(name)
    defer { release(name) }
    // Beside the next look at the request, because looks that are apart copy it once each.
    let cause = request == nil ? RemovalCause.explicit : .replaced
    if request?.isWanted?() == false { return false }
    // The failed store of a value that was accepted before goes through.
    if held.phase.isEnding && request?.accepted == nil { throw closedError("remove") }
    // Also before: a reader that misses it on the disk must not find it in memory afterwards.
    forget(subject, of: request, whileHeld)
    _ = try path.get()
    var isFree = false
    defer { forget(subject, of: request, isFree: isFree, whileHeld) }
    let (handle, wasHidden) = (location.handle, hidesFile(named: name))
    // Anything else with the name stays.
    let outcome = try attempt(
      "remove", at: "\(location.path)/\(name)",
      held.unlink(.entry, in: handle, trusting: reader.trust))
    isFree = true
    // A value that waits goes after the file: reads would find the file, which is older.
    let hasDropped = onSettled?(nil) == true
    let isCounted = hasDropped || outcome.isRemoved && !wasHidden
    withState { state in
      state.catalog.remove(name)
      if isCounted { state.counters.countRemoval(cause) }
    }
    if isCounted { removals.tell(name, key: subject?.key, cause) }
    // Also if the file was gone, because who has unlinked it may not have synced the directory yet.
    try attempt("remove", at: location.path, synchronizeRemovals(in: handle))
    return isCounted
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
    if isReadOnly { throw CacheError(.readOnly, operation: operation, path: location.path) }
    // A closure that writes a value may have forked.
    if isForked { throw CacheError(.forked, operation: operation, path: location.path) }
  }
}

// By a file that was judged.
extension DiskEngine {
  /// Removes the file of a held name if a look at it shows what was judged, and settles that.
  func remove(
    _ held: borrowing HeldName, _ judged: HeldName.Judged, _ removal: Removal
  ) -> RemovalOutcome {
    // Before the file is removed, as in a removal by key.
    observers.tell(of: removal, held.name)
    let outcome = unlink(held, judged, in: location.handle)
    conclude(held, removal, outcome)
    return outcome
  }

  /// Unlinks the file of a held name if a look at it shows what was judged. Counts a failure.
  func unlink(
    _ held: borrowing HeldName, _ judged: HeldName.Judged, in handle: DirectoryHandle
  ) -> RemovalOutcome {
    do throws(Errno) {
      return try held.unlink(judged, in: handle, trusting: reader.trust)
    } catch {
      noteUpkeepFailure(error)
      // A file that alone refuses, by rules of SELinux or AppArmor, is like an immutable one.
      return .failed(error == .permissionDenied && handle.allowsChanges() ? .notPermitted : error)
    }
  }

  /// Takes the outcome of a removal over, then reports it, then tells memory.
  private func conclude(_ held: borrowing HeldName, _ removal: Removal, _ outcome: RemovalOutcome) {
    let name = held.name
    let isLearned = withState { $0.settle(removal: removal, outcome, of: name) }
    if outcome.isRemoved { removals.tell(name, key: removal.key, removal.cause) }
    if isLearned { return tell(ofLearned: [name]) }
    observers.tell(of: removal, name)
  }

  /// Removes the file of a name if it is still as it was judged.
  ///
  /// - Parameters:
  ///   - evenIfUsed: Whether it goes also if it was used or stamped since.
  ///   - isPassed: Whether the entry of the name is another by now, asked with the name held.
  func remove(
    _ name: EntryName, judged status: FileStatus, evenIfUsed: Bool = false,
    _ removal: Removal, unless isPassed: () -> Bool = { false }
  ) -> BulkRemoval {
    let outcome = changing(name) { held in
      if isPassed() { return RemovalOutcome.changed(nil) }
      guard !held.phase.isEnding else {
        noteUpkeepFailure(.shutDown)
        return .failed(.shutDown)
      }
      let met = IndexedEntry(name: name, status: status)
      return remove(held, evenIfUsed ? .unwritten(met) : .exactly(status), removal)
    }
    return BulkRemoval(outcome, of: status.byteCount)
  }

  /// Makes removals survive a power cut, if the cache is durable.
  func synchronizeRemovals(in handle: DirectoryHandle? = nil) throws(Errno) {
    guard configuration.durability == .durable else { return }
    try (handle ?? location.handle).descriptor.synchronize()
  }

  /// Removes a damaged file in the background if it is still the one that was judged.
  func removeInBackground(damaged name: EntryName, _ status: FileStatus) {
    // Another reader may have found the same.
    let isNew = withState { !$0.phase.isShutDown && $0.evictions.damaged.insert(name).inserted }
    guard isNew else { return }
    runAside { [self] () throws(Never) in
      let outcome = changing(name) { held in
        // After the end another process may own the directory.
        held.phase.isShutDown || hidesFile(named: name)
          ? .changed(nil) : remove(held, .exactly(status), .damaged)
      }
      if outcome.isRemoved { upkeep(try synchronizeRemovals()) }
      _ = withState { $0.evictions.damaged.remove(name) }
      changed.signal()
    }
  }
}

// Of everything.
extension DiskEngine {
  /// Starts the removal of every entry. From now on reads of older values in this process miss, and
  /// totals are 0. Values that are stored meanwhile stay.
  func startClearing(beside behind: WriteBehind? = nil) throws(CacheError) -> RemovalProgress {
    try checkWritable("removeAll")
    // A directory that was moved away is left alone, because the person that moved it expects that.
    try revalidate(isUrgent: true, mayMake: true, "removeAll")
    // Hides everything, once only the end of an earlier removal is not waited for any more. What is
    // forgotten is released outside of the lock, because a million entries take long.
    let hideFiles = { [self] in
      withState { state -> (begun: (RemovalProgress, walk: Int?)?, old: Catalog)? in
        let old = state.catalog
        if state.phase.isShutDown { return (nil, old) }
        guard state.clearing.mayBegin else { return nil }
        defer { clearMark.store(state.clearing.count, ordering: .relaxed) }
        return (state.beginClearing(), old)
      }
    }
    // Memory is emptied before the files are hidden: a reader that misses on the disk must not find
    // the value in memory, which keeps nothing meanwhile. Again after: a load may have begun.
    let hidden = generations.changingAll {
      tell(.cleared)
      defer { tell(.cleared) }
      return changed.wait {
        if let behind { behind.hide(with: hideFiles) } else { hideFiles() }
      }
    }
    guard let (progress, number) = hidden.begun else { throw closedError("removeAll") }
    // Read after everything was hidden, and not when the walk begins. If another directory has been
    // held since, nothing is hidden any more, and the walk finds nothing to remove.
    let handle = location.handle
    if let number { threads.submit { self.clear((progress, number), in: handle, behind) } }
    return progress
  }

  /// The number of removals of everything that have begun.
  var clearCount: Int { clearMark.load(ordering: .relaxed) }

  private func clear(
    _ first: (RemovalProgress, walk: Int), in handle: DirectoryHandle, _ behind: WriteBehind?
  ) {
    var (progress, number) = first
    walk(progress, number, in: handle, behind)
    while let next = withState({ $0.clearing.endWalk() }) {
      progress.finish()
      (progress, number) = next
      // In the same directory, and not in one that took its place and is not in the index yet.
      walk(progress, number, in: handle, behind)
    }
    if let behind { progress.add(behind.endClearing()) }
    // It may have given up the first scan, or missed files that other processes stored meanwhile.
    if withState({ $0.catalog.scans.number > 0 }) { startScanIfNeeded() }
    rescanIfMissed()
    progress.finish()
    // Last, because the engine's end waits for it, after every waiting thread has been woken.
    withState { $0.clearing.end() }
    changed.signal()
  }

  /// Removes the files of hidden names. What it finds to be newer or unremovable becomes an entry
  /// again, unless another clearing has begun since, whose walk finds it again.
  private func walk(
    _ progress: RemovalProgress, _ count: Int, in handle: DirectoryHandle, _ behind: WriteBehind?
  ) {
    do throws(Errno) {
      var scan = try DirectoryScan(handle, trust: reader.trust)
      while true {
        let piece = try scan.next()
        for entry in piece.entries { progress.add(clear(entry, count, in: handle, behind)) }
        for (name, errno) in piece.unreadable where passesOver(name, count, behind) {
          noteUpkeepFailure(errno)
          progress.add(BulkRemoval(.failed(errno), of: 0))
        }
        if piece.isLast || !finds({ $0.clearing.hidesFiles }) { break }
      }
    } catch {
      progress.fail(CacheError(errno: error, operation: "removeAll", path: location.path))
      passesOver(nil, count, behind)
    }
    let (_, held) = withState { ($0.clearing.endReading(), $0.locks.held) }
    changed.signal()
    // What is in the index was stored since by a thread that has taken the name anew.
    for name in held {
      wait { !$0.locks.held.contains(name) || $0.catalog.index.contains(name) ? () : nil }
    }
    while let entry = withState({ $0.clearing.late.popFirst()?.value }) {
      progress.add(clear(entry, count, in: handle, behind))
    }
    // Last, because those that held the names may have unlinked files.
    do throws(Errno) { try synchronizeRemovals(in: handle) } catch {
      progress.fail(CacheError(errno: error, operation: "removeAll", path: location.path))
    }
  }

  /// Passes over a hidden entry whose status cannot be read, or with nil all that are left.
  ///
  /// - Returns: Whether it was hidden.
  @discardableResult
  private func passesOver(_ name: EntryName?, _ count: Int, _ behind: WriteBehind?) -> Bool {
    let isHidden = finds { state in
      let isHidden = name.map { state.hidesFile(named: $0) } ?? state.clearing.hidesFiles
      if isHidden { state.catalog.scans.reset() }
      return isHidden
    }
    if isHidden { behind?.filesStay(name, since: count) }
    return isHidden
  }

  private func clear(
    _ entry: IndexedEntry, _ count: Int, in handle: DirectoryHandle,
    _ behind: WriteBehind?
  ) -> BulkRemoval {
    // A clock that stores may wait for the room that this walk makes.
    changing(entry.name, readsClock: false) { held in
      guard let entry = withState({ $0.takeHidden(entry) }) else { return BulkRemoval() }
      let removal = Removal.cleared(entry, count: count)
      let outcome = unlink(held, .unwritten(entry), in: handle)
      if case .failed = outcome { behind?.filesStay(entry.name, since: count) }
      conclude(held, removal, outcome)
      // Its value that waited goes with it, and is counted once.
      if outcome.isRemoved { behind?.withTable { $0.forgetHidden(entry.name) } }
      return BulkRemoval(outcome, of: entry.byteCount)
    }
  }
}
