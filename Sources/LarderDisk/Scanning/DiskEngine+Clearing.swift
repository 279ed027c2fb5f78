import LarderBasics
import LarderSystem
import Synchronization

extension DiskEngine {
  /// Starts the removal of every entry. From now on reads of older values in this process miss, and
  /// totals are 0. Values that are stored meanwhile stay.
  func startClearing() throws(CacheError) -> RemovalProgress {
    try checkWritable("removeAll")
    // A directory that was moved away is left alone, because the person that moved it expects that.
    try revalidate(isUrgent: false, mayMake: false, "removeAll")
    // Memory is emptied twice. Before the files are hidden: a reader that misses on the disk must
    // not find the value in memory. After: a store may have added one in between. Nothing is
    // promoted meanwhile.
    generations.beginAll()
    tellObserversOfClearing()
    let (beginning, _) = wait {
      state -> ((RemovalProgress, Bool, Clearing.Remains)?, EntryIndex)? in
      // Released outside of the lock, because releasing a million entries takes long.
      let old = state.catalog.index
      if state.phase.isShutDown { return (nil, old) }
      // Only the end of a removal is waited for, and its walk if it has dropped too many values.
      let dropLimit = configuration.writeBehindLimit ?? 0
      guard state.clearing.mayBegin(dropLimit: dropLimit) else { return nil }
      defer { clearMark.store(state.clearing.count, ordering: .relaxed) }
      return (state.beginClearing(), old)
    }
    tellObserversOfClearing()
    generations.endAll()
    // The values that waited to be written are gone, so there is room in the backlog.
    changed.signal()
    guard let (progress, mustWalk, _) = beginning else { throw closedError("removeAll") }
    // Read after everything was hidden, and not when the walk begins. If another directory has been
    // held since, nothing is hidden any more, and the walk finds nothing to remove.
    let handle = location.handle
    if mustWalk { IOExecutor.upkeep.submit { self.clear(progress, in: handle) } }
    return progress
  }

  /// Whether a removal of everything has begun since a value was published. A memory tier that asks
  /// under its lock, and is told that none has, forgets the value when that removal empties it.
  package func hasCleared(since published: Published) -> Bool {
    clearMark.load(ordering: .relaxed) != published.clearCount
  }

  private func clear(_ first: RemovalProgress, in handle: DirectoryHandle) {
    var progress = first
    walk(progress, in: handle)
    while let next = withState({ $0.clearing.endWalk() }) {
      progress.finish()
      progress = next
      // In the same directory: while another is held, and the index does not know it yet, the walk
      // would remove the files of that one.
      walk(progress, in: handle)
    }
    progress.add(endClearingOfPending())
    _ = withState { $0.clearing.reveal() }
    // Called with no name held and nothing hidden, because this thread writes the values itself if
    // the system has no thread left, and a store waits for room while files are hidden.
    if withState({ $0.backlog.claimWriter() }) { startWriter() }
    // The walk may have missed files that other processes stored meanwhile.
    if withState({ $0.catalog.scans.hasMissedChanges }) { startRescan() }
    progress.finish()
    // Last, because the engine's end waits for it, and every waiting thread must have been woken by
    // then.
    withState { $0.clearing.end() }
    changed.signal()
  }

  /// Removes the files of hidden names. What it finds to be newer or unremovable becomes an entry
  /// again, unless another clearing has begun since, whose walk finds it again.
  private func walk(_ progress: RemovalProgress, in handle: DirectoryHandle) {
    let count = withState { $0.clearing.count }
    do throws(Errno) {
      var scan = try DirectoryScan(handle, trust: reader.trust)
      while true {
        let piece = try scan.next()
        for entry in piece.entries { progress.add(clear(entry, count, in: handle)) }
        progress.add(passOver(piece.unreadable, count))
        if piece.isLast || withState({ !$0.clearing.hidesFiles }) { break }
      }
      if configuration.durability == .durable { try handle.descriptor.synchronize() }
    } catch {
      progress.fail(CacheError(errno: error, operation: "removeAll", path: location.path))
      // Entries that could not be read are still there, and the index has forgotten them.
      withState { if $0.clearing.hidesFiles { $0.catalog.scans.reset() } }
      keepPending(count)
    }
  }

  /// Counts the values that had waited to be written when a clearing began and had no file.
  private func endClearingOfPending() -> BulkRemoval {
    // A thread that was publishing one of them when it was dropped removes the file, which is
    // hidden until then.
    for name in withState({ $0.clearing.namesUnderway }) { changing(name) {} }
    var result = BulkRemoval()
    for write in withState({ $0.clearing.takeDropped() }).writes {
      result.removed += 1
      result.byteCount.addSaturating(UInt64(write.bytes.count))
      tellOfRemoval(write.subject.name, key: write.subject.key, .explicit)
    }
    if result.removed > 0 {
      withState { [result] in $0.counters.countRemoval(.explicit, result.removed) }
    }
    return result
  }

  /// Puts the values that a clearing had dropped back into the backlog, because older files of the
  /// names may still be there.
  private func keepPending(_ count: Int) {
    let dropped = withState { $0.clearing.count == count ? $0.clearing.takeDropped() : nil }
    for write in dropped?.writes ?? [] {
      withState { if $0.clearing.count == count { $0.keepPending(write) } }
    }
  }

  /// Counts entries that stay because their status cannot be read.
  private func passOver(
    _ unreadable: [(name: EntryName, errno: Errno)], _ count: Int
  ) -> BulkRemoval {
    var result = BulkRemoval()
    for (name, errno) in unreadable where withState({ $0.clearing.hides(name) }) {
      noteUpkeepFailure(errno)
      withState { if $0.clearing.count == count { $0.keepPending(of: name) } }
      result.failed += 1
    }
    // The entries are still there, and the index has forgotten them.
    if result.failed > 0 { withState { $0.catalog.scans.reset() } }
    return result
  }

  private func clear(
    _ entry: IndexedEntry, _ count: Int, in handle: DirectoryHandle
  ) -> BulkRemoval {
    changing(entry.name) {
      let (name, inode) = (entry.name, entry.inode)
      var result = BulkRemoval()
      guard let change = withState({ $0.clearing.changeTime(toRemove: entry) }) else {
        return result
      }
      do throws(Errno) {
        switch try unlink(name, inode: inode, changeTime: change, in: handle) {
        case .removed:
          result.removed = 1
          result.byteCount = Int(entry.byteCount)
          tellOfRemoval(name, withState { $0.noteCleared(entry) })
        case .absent: break
        case .changed(let status):
          let newer = self.entry(name, status)
          withState { if $0.clearing.count == count { $0.keepWhileClearing(name, newer) } }
        }
      } catch {
        // The file stays and is an entry again.
        noteUpkeepFailure(error)
        withState { if $0.clearing.count == count { $0.keepUncleared(entry) } }
        result.failed = 1
      }
      return result
    }
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
    noteRemoved(entry.name)
    counters.countStore(of: entry.byteCount)
    counters.countRemoval(.explicit)
    return true
  }

  /// Notes that an entry's file is gone.
  ///
  /// - Returns: The cause under which the removal is counted.
  fileprivate mutating func noteCleared(_ entry: IndexedEntry) -> RemovalCause {
    // If another directory is held by now, the name in the index is one of that directory.
    guard clearing.hidesFiles else {
      counters.countRemoval(.explicit)
      return .explicit
    }
    // The file of a victim is among the victims' since it was chosen.
    if !catalog.doomed.contains(entry.name) { clearing.noteGone(entry) }
    return noteRemoved(entry.name, as: .explicit)
  }

  /// Puts a value that a clearing had dropped back into the backlog, because the older file of its
  /// name could not be removed and reads would find that file.
  fileprivate mutating func keepPending(_ write: Backlog.Write) {
    let name = write.subject.name
    if backlog[name] == nil && clearing.hides(name) { backlog.addAgain(write) }
  }

  fileprivate mutating func keepPending(of name: EntryName) {
    if let write = clearing.takeDropped(name) { keepPending(write) }
  }

  /// Keeps a file that was used or stored since the walk met its name.
  fileprivate mutating func keepWhileClearing(_ name: EntryName, _ entry: IndexedEntry?) {
    guard clearing.hidesFiles else { return }
    clearing.keep(name)
    if let entry { catalog.index.upsert(entry, order: .byLastAccess) }
  }

  /// Puts an entry whose file could not be removed back into the index, and the value that was to
  /// replace it back into the backlog.
  fileprivate mutating func keepUncleared(_ entry: IndexedEntry) {
    if clearing.hidesFiles { catalog.index.upsert(entry, order: .byLastAccess) }
    keepPending(of: entry.name)
  }
}
