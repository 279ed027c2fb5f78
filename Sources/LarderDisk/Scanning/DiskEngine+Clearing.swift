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
    tellObserversOfClearing()
    let (beginning, _) = beginClearing(beside: observer)
    tellObserversOfClearing()
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
    changing(entry.name) {
      let name = entry.name
      var result = BulkRemoval()
      guard withState({ $0.hidesFile(named: name) }) else { return result }
      do throws(Errno) {
        // No stamp, link, owner or attribute that another process gives the file changes these.
        let unlinking = try unlink(name, in: handle) {
          let byteCount = min($0.byteCount, IndexedEntry.maximumByteCount)
          return $0.inode == entry.inode && byteCount == entry.byteCount
        }
        if case .removed = unlinking {
          result.removed = 1
          result.byteCount = Int(entry.byteCount)
          withState { $0.noteCleared(entry) }
          tellOfRemoval(name, .explicit)
          observer?.noteRemoved(name)
          return result
        }
        var newer: IndexedEntry?
        if case .changed(let status) = unlinking { newer = self.entry(name, status) }
        learn(newer, inPlaceOf: entry, count)
      } catch {
        noteUpkeepFailure(error)
        observer?.noteStays(name, since: count)
        learn(entry, inPlaceOf: entry, count)
        result.failed = 1
      }
      return result
    }
  }

  /// Takes the file that a walk leaves for an entry again, and tells memory, which may have the
  /// value of a file that a limit has evicted since.
  private func learn(_ entry: IndexedEntry?, inPlaceOf met: IndexedEntry, _ count: Int) {
    let isLearned = withState { state in
      guard state.clearing.count == count, state.noteWalked(met, leaving: entry) else {
        return false
      }
      state.untoldCount += 1
      return true
    }
    if isLearned { tellObservers(ofLearned: [met.name]) }
  }
}

extension EngineState {
  /// Counts a value that was published around the beginning of a clearing as stored before it and
  /// removed by it. Returns false if no clearing has begun since `count` was read.
  ///
  /// After the end of the clearing, only the value of a load is removed, because its origin was
  /// read before the clearing began. The value of a store counts as stored after the clearing.
  mutating func noteClearedStore(_ entry: IndexedEntry, isLoad: Bool, since count: Int) -> Bool {
    guard clearing.hasBegun(since: count) || isLoad && clearing.count != count else { return false }
    catalog.remove(entry.name)
    counters.countStore(of: entry.byteCount)
    counters.countRemoval(.explicit)
    return true
  }

  /// Notes that an entry's file is gone.
  fileprivate mutating func noteCleared(_ entry: IndexedEntry) {
    // If another directory is held by now, the name in the index is one of that directory.
    guard clearing.hidesFiles else { return counters.countRemoval(.explicit) }
    clearing.noteWalked(entry)
    noteRemoved(entry.name, as: .explicit)
  }

  /// Notes that a walk has met a file and left another one, or the same, which is an entry again.
  ///
  /// - Returns: Whether the index has learned of it.
  fileprivate mutating func noteWalked(
    _ met: IndexedEntry, leaving entry: IndexedEntry?
  ) -> Bool {
    guard clearing.hidesFiles else { return false }
    clearing.noteWalked(met)
    guard let entry else { return false }
    catalog.index.upsert(entry, order: .byLastAccess)
    return true
  }
}
