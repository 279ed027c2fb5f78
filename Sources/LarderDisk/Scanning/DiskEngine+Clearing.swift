import LarderBasics
import LarderSystem
import Synchronization

/// A layer above the engine whose values a removal of everything takes as well. Called by any
/// thread.
protocol ClearingObserver: AnyObject, Sendable {
  /// Hides the layer's values in one step with the files.
  ///
  /// - Parameter hideFiles: Hides all files; returns nil if that cannot be done yet.
  /// - Returns: Nil if nothing was hidden, and the removal waits.
  func hide<Result: Sendable>(with hideFiles: () -> Result?) -> Result?
  /// Notes that the file of a name was removed, with the name held.
  func noteRemoved(_ name: EntryName)
  /// Notes that the file of a name could not be removed and is about to be an entry again, unless a
  /// removal after the one with this number has begun; nil for all files that are left.
  func noteStays(_ name: EntryName?, since count: Int)
  /// Ends the removal.
  ///
  /// - Parameter reveal: Ends it for the files, which are hidden until then.
  /// - Returns: The layer's values that are gone and had no file.
  func endClearing(with reveal: () -> Void) -> BulkRemoval
}

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
    let count = withState { $0.clearing.count }
    do throws(Errno) {
      var scan = try DirectoryScan(handle, trust: reader.trust)
      while true {
        let piece = try scan.next()
        for entry in piece.entries { progress.add(clear(entry, count, in: handle, observer)) }
        progress.add(passOver(piece.unreadable, count, observer))
        if piece.isLast || withState({ !$0.clearing.hidesFiles }) { break }
      }
      if configuration.durability == .durable { try handle.descriptor.synchronize() }
    } catch {
      progress.fail(CacheError(errno: error, operation: "removeAll", path: location.path))
      // Entries that could not be read are still there, and the index has forgotten them.
      withState { if $0.clearing.hidesFiles { $0.catalog.scans.reset() } }
      observer?.noteStays(nil, since: count)
    }
  }

  /// Counts entries that stay because their status cannot be read.
  private func passOver(
    _ unreadable: [(name: EntryName, errno: Errno)], _ count: Int,
    _ observer: (any ClearingObserver)?
  ) -> BulkRemoval {
    var result = BulkRemoval()
    for (name, errno) in unreadable where withState({ $0.hidesFile(named: name) }) {
      noteUpkeepFailure(errno)
      observer?.noteStays(name, since: count)
      result.failed += 1
    }
    // The entries are still there, and the index has forgotten them.
    if result.failed > 0 { withState { $0.catalog.scans.reset() } }
    return result
  }

  private func clear(
    _ entry: IndexedEntry, _ count: Int, in handle: DirectoryHandle,
    _ observer: (any ClearingObserver)?
  ) -> BulkRemoval {
    changing(entry.name) { held in
      guard withState({ $0.hidesFile(named: entry.name) }) else { return BulkRemoval() }
      let removal = Removal.cleared(entry, count: count)
      let outcome = unlink(held, .unwritten(entry), removal, in: handle)
      if case .failed = outcome { observer?.noteStays(entry.name, since: count) }
      settle(held, removal, outcome)
      if case .removed = outcome { observer?.noteRemoved(entry.name) }
      return BulkRemoval(outcome, of: entry.byteCount)
    }
  }
}
