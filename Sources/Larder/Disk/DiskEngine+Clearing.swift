extension DiskEngine {
  /// Starts the removal of every entry. From now on this process answers everything older as a
  /// miss, and totals are 0; what is stored meanwhile stays.
  func startClearing() throws(CacheError) -> RemovalProgress {
    try checkWritable("removeAll")
    // What was moved away is left alone, as a person who did it would expect.
    try revalidate(isUrgent: false, mayMake: false, "removeAll")
    // Memory forgets before and after the files are hidden, and nothing is promoted in between: who
    // misses a value on the disk must not meet it in memory then, nor may one stay that was stored
    // just before.
    generations.beginAll()
    tellObserversOfClearing()
    // One clearing at a time: the second removes what was stored since the first began.
    let (hasBegun, _) = wait { state -> (Bool, EntryIndex)? in
      // Given back outside of the lock: of a million entries that takes its time.
      let old = state.index
      return state.beginClearing().map { ($0, old) }
    }
    tellObserversOfClearing()
    generations.endAll()
    // What waited to be written is gone, and there is room in the backlog.
    changed.signal()
    guard hasBegun else {
      throw CacheError(.closed, operation: "removeAll", path: location.path)
    }
    let progress = RemovalProgress()
    // After everything was hidden, and not when the walk begins: where another directory has been
    // held since, nothing is hidden any more, and the walk finds nothing to remove.
    let handle = location.handle
    IOExecutor.upkeep.submit { self.clear(progress, in: handle) }
    return progress
  }

  private func clear(_ progress: RemovalProgress, in handle: DirectoryHandle) {
    do throws(Errno) {
      var scan = try DirectoryScan(handle, trust: reader.trust)
      while true {
        let piece = try scan.next()
        for entry in piece.entries { progress.add(clear(entry, in: handle)) }
        progress.add(passOver(piece.unreadable))
        if piece.isLast || withState({ $0.storedSinceClear == nil }) { break }
      }
      if configuration.durability == .durable { try handle.descriptor.synchronize() }
    } catch {
      progress.fail(CacheError(errno: error, operation: "removeAll", path: location.path))
      // What could not be read is still there, and the index has forgotten it.
      withState { if $0.storedSinceClear != nil { $0.scans.reset() } }
      keepPending()
    }
    progress.add(endClearingOfPending())
    // With no name held: where no thread can be had, this one writes what is to wait again.
    if withState({ $0.backlog.claimWriter() }) { startWriter() }
    _ = withState { state in
      // Given back outside of the lock.
      let old = (state.storedSinceClear, state.restampedSinceClear)
      state.storedSinceClear = nil
      state.toBeCleared = IndexTotals()
      state.restampedSinceClear = [:]
      return old
    }
    // What neighbours stored meanwhile was met by the walk or not.
    if withState({ $0.scans.hasMissedNews }) { startRescan() }
    progress.finish()
    // Last: the end of the engine waits for this, and has everybody told.
    withState { $0.isClearing = false }
    changed.signal()
  }

  /// Counts the values that had waited to be written when a clearing began, and had no file.
  private func endClearingOfPending() -> BulkRemoval {
    let cleared = withState { $0.takePendingCleared() }.writes
    var result = BulkRemoval()
    for write in cleared {
      result.removed += 1
      result.byteCount.addSaturating(UInt64(write.bytes.count))
      tellOfRemoval(write.subject.name, key: write.subject.key, .explicit)
    }
    if result.removed > 0 {
      withState { [result] in $0.statistics.removals[.explicit, default: 0] += result.removed }
    }
    return result
  }

  /// Lets what had waited to be written when a clearing began wait again, because older files of the
  /// names may be there still.
  private func keepPending() {
    for write in withState({ $0.takePendingCleared() }).writes {
      withState { $0.keepPending(write) }
    }
  }

  /// Counts entries that stay because they cannot be judged.
  private func passOver(_ unreadable: [(name: EntryName, errno: Errno)]) -> BulkRemoval {
    var result = BulkRemoval()
    for (name, errno) in unreadable where withState({ $0.mayClear(name) }) {
      noteUpkeepFailure(errno)
      withState { $0.keepPending(of: name) }
      result.failed += 1
    }
    // They are still there, and the index has forgotten them.
    if result.failed > 0 { withState { $0.scans.reset() } }
    return result
  }

  private func clear(_ entry: IndexedEntry, in handle: DirectoryHandle) -> BulkRemoval {
    changing(entry.name) {
      let (name, inode) = (entry.name, entry.inode)
      var result = BulkRemoval()
      guard let change = withState({ $0.changeTimeToClear(entry) }) else { return result }
      do throws(Errno) {
        switch try unlink(name, inode: inode, changeTime: change, in: handle) {
        case .removed:
          result.removed = 1
          result.byteCount = Int(entry.byteCount)
          tellOfRemoval(name, withState { $0.noteCleared(entry) })
        case .absent: break
        case .changed(let status):
          let newer = self.entry(name, status)
          withState { $0.keepWhileClearing(name, newer) }
        }
      } catch {
        // It stays and is an entry again.
        noteUpkeepFailure(error)
        withState { state in
          state.keepUncleared(entry)
          state.keepPending(of: name)
        }
        result.failed = 1
      }
      return result
    }
  }
}

extension EngineState {
  /// Hides everything there is; nil while another clearing is going on, and false, with nothing
  /// hidden, when the engine is ending and would not wait for one more.
  fileprivate mutating func beginClearing() -> Bool? {
    guard !isShutDown else { return false }
    guard !isClearing else { return nil }
    isClearing = true
    storedSinceClear = []
    clearCount += 1
    restampedSinceClear = [:]
    // Before the first scan nobody waits for room.
    toBeCleared = isScanned ? index.totals : IndexTotals()
    // What waited to be written is as old as the files.
    pendingCleared = backlog.dropAll()
    index.removeAll()
    scans.forgetKnown()
    pending = [:]
    return true
  }

  /// Counts a value that was published around the beginning of a clearing as stored before it, and
  /// so removed by it; nil where no clearing has begun since `clearCount` was `count`, or it is
  /// over.
  mutating func noteClearedStore(_ entry: IndexedEntry, since count: Int) -> Void? {
    guard clearCount != count, storedSinceClear != nil else { return nil }
    noteRemoved(entry.name)
    statistics.stores += 1
    statistics.bytesWritten.addSaturating(entry.byteCount)
    statistics.removals[.explicit, default: 0] += 1
    return ()
  }

  /// The change time that an entry's file must have to be removed, nil when the entry stays.
  fileprivate func changeTimeToClear(_ entry: IndexedEntry) -> Timestamp? {
    guard mayClear(entry.name) else { return nil }
    // A stamp of our own may have been under way when the walk met the file.
    if let own = restampedSinceClear[entry.name], own.inode == entry.inode { return own.change }
    return entry.changeTime
  }

  /// Takes note that an entry's file is gone.
  ///
  /// - Returns: What the removal counts as.
  fileprivate mutating func noteCleared(_ entry: IndexedEntry) -> RemovalCause {
    // Where another directory is held by now, the name is one of it.
    guard storedSinceClear != nil else {
      statistics.removals[.explicit, default: 0] += 1
      return .explicit
    }
    // A victim was counted when it was chosen, and its file among the victims' since.
    let victim = doomed[entry.name]
    noteRemoved(entry.name)
    if victim == nil {
      statistics.removals[.explicit, default: 0] += 1
      toBeCleared.subtractAtMost(
        byteCount: entry.byteCount, allocatedByteCount: entry.allocatedByteCount)
    }
    return victim?.cause ?? .explicit
  }

  /// Lets a value wait again that a clearing had dropped, because the older file of its name could
  /// not be removed and would be found in its place.
  fileprivate mutating func keepPending(_ write: Backlog.Write) {
    let name = write.subject.name
    if backlog[name] == nil && mayClear(name) { backlog.addAgain(write) }
  }

  fileprivate mutating func keepPending(of name: EntryName) {
    if let write = pendingCleared.remove(name) { keepPending(write) }
  }

  /// What had waited to be written when a clearing began, but for what has been met since.
  fileprivate mutating func takePendingCleared() -> Backlog.Dropped {
    defer { pendingCleared = Backlog.Dropped() }
    return pendingCleared
  }

  /// Keeps what somebody used or stored since the walk met its name.
  fileprivate mutating func keepWhileClearing(_ name: EntryName, _ entry: IndexedEntry?) {
    guard storedSinceClear != nil else { return }
    storedSinceClear?.insert(name)
    if let entry { index.upsert(entry, order: .byLastAccess) }
  }

  /// Makes an entry again of one whose file could not be removed.
  fileprivate mutating func keepUncleared(_ entry: IndexedEntry) {
    guard storedSinceClear != nil else { return }
    index.upsert(entry, order: .byLastAccess)
  }

  fileprivate func mayClear(_ name: EntryName) -> Bool {
    !(storedSinceClear?.contains(name) ?? true)
  }
}
