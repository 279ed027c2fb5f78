import LarderSystem

extension DiskEngine {
  /// The number of victims that the evictor takes at a time. It is smaller on a network file
  /// system, because evictors on several machines may run at once and each unlink is a round trip.
  private var batchSize: Int { isOnNetwork ? 16 : 64 }

  /// Starts the evictor if an eviction is ready and no thread carries it out.
  func runEvictor() {
    let start = withState { $0.evictions.startEvictor() }
    if start.mustRun { runAside { self.evict() } }
  }

  /// Removes the files of all victims, after this process is elected among those on the directory.
  ///
  /// While another process evicts, this one tries again later and holds no thread meanwhile. When
  /// its patience ends it goes on without the election, because each file is judged again before it
  /// is removed.
  ///
  /// - Parameter patience: What is left of it; nil at the first attempt.
  private func evict(_ patience: Patience? = nil) {
    var patience = patience
    repeat {
      let goneCount = withState { $0.limits.goneCount }
      var left = patience ?? Patience(at: .now, goneCount: goneCount)
      let hasPatience =
        !left.isOver(at: .now, goneCount: goneCount, limit: configuration.electionPatience)
        && JobTimer.own.hasThread
      // The thread that was elected to choose the victims has left its term open.
      if withState({ $0.evictions.term }) == nil, case .lost = enterTerm() {
        if hasPatience {
          return runLater(after: electionPause) { [left] in $0.evict(left) }
        }
        noteUpkeepFailure(.wouldBlock)
      }
      while let eviction = withState({ $0.evictions.next() }) { removeFiles(of: eviction) }
      // Each term has its own patience.
      patience = nil
    } while !endTerm()
    // Threads that wait for the evictor to rest look again.
    changed.signal()
  }

  /// Removes the files of an eviction's victims, and finishes it.
  private func removeFiles(of eviction: Eviction) {
    while true {
      let victims = eviction.take(batchSize)
      if victims.isEmpty { break }
      let result = removeFiles(of: victims)
      eviction.add(result)
      changed.signal()
      // A file that stays was stored or used after it was chosen. It counts again, and its event
      // was ignored while it was hidden, so the limits are checked again.
      if result.removed + result.failed < victims.count { checkLimitsLater() }
    }
    synchronizeRemovals()
    eviction.finish()
  }

  /// Releases the lock on the tag, so that a neighbour can evict. Keeps it for a thread that is
  /// choosing victims because a limit is exceeded; that thread asks for the evictor when it is
  /// done.
  ///
  /// - Returns: Whether nothing is left to do. Evictions that became ready meanwhile need another
  ///   term.
  private func endTerm() -> Bool {
    let term = withState { $0.evictions.takeTerm() }
    // This is the last reference, so the tag is closed here, outside of the engine's lock.
    _ = consume term
    let (isOver, _) = withState { state -> (Bool, DoomedFiles?) in
      (state.evictions.rest(), state.catalog.takeExcessOfVictims())
    }
    return isOver
  }

  /// Makes removals survive a power cut, if the cache is durable.
  private func synchronizeRemovals() {
    guard configuration.durability == .durable else { return }
    do throws(Errno) {
      try location.handle.descriptor.synchronize()
    } catch {
      noteUpkeepFailure(error)
    }
  }

  private func enterTerm() -> Election {
    let election = elect()
    if let lock = election.lock { withState { $0.evictions.enterTerm(lock) } }
    return election
  }

  /// Removes the files of some victims. Giving one name back and taking the next is one hold of the
  /// lock. Separate steps would be four holds a file.
  private func removeFiles(of victims: [Victim]) -> BulkRemoval {
    var result = BulkRemoval()
    let start = MonotonicTime.now
    var outcome: RemovalOutcome?
    for victim in victims {
      let lock = noteOutcome(outcome) { $0.takeDoomed(victim.name) }
      outcome = nil
      switch lock {
      case .cancelled: break
      // Another thread holds the name. This thread waits for it without holding another name.
      case .busy: result.add(removeInTurn(victim))
      case .taken(let mark):
        generations.begin(victim.name)
        let removal = removeFile(of: victim, mark)
        result.add(removal.result)
        outcome = removal
      }
    }
    noteOutcome(outcome) { $0.counters.addEvictionTime(MonotonicTime.now.duration(since: start)) }
    return result
  }

  /// Notes the outcome for a victim, gives its name back, and runs the next step in the same hold
  /// of the lock.
  ///
  /// The change of the name ends here and not when the file is gone. Otherwise an event of a file
  /// that takes the name in between would be compared with the victim, which nobody looks at again.
  @discardableResult
  private func noteOutcome<Result: Sendable>(
    _ outcome: RemovalOutcome?, _ next: (inout EngineState) -> Result
  ) -> Result {
    let (late, result) = withState { state in
      let late = outcome.flatMap { outcome -> EntryName? in
        let name = outcome.victim.name
        state.noteEvicted(outcome)
        generations.end(name)
        return state.locks.giveBack(name) ? nil : name
      }
      return (late, next(&state))
    }
    if let late { followLateEvents(of: late) }
    if outcome != nil { changed.signal() }
    return result
  }

  private func removeInTurn(_ victim: Victim) -> BulkRemoval {
    changing(victim.name) {
      guard let mark = withState({ $0.catalog.doomed[victim.name] }) else { return BulkRemoval() }
      let outcome = removeFile(of: victim, mark)
      withState { $0.noteEvicted(outcome) }
      return outcome.result
    }
  }

  /// Removes a victim's file unless it was used or replaced since. A file that stays for this
  /// reason becomes an entry again, and counts neither as removed nor as failed.
  private func removeFile(of victim: Victim, _ mark: DoomedFiles.Mark) -> RemovalOutcome {
    do throws(Errno) {
      let unlinking = try unlink(
        victim.name, inode: mark.inode, changeTime: mark.changeTime.timestamp,
        unusedSince: mark.lastAccess.timestamp, in: location.handle)
      // If another process removed or replaced the file, memory drops the value here, because the
      // index changes next and the event will then compare equal. The value of a file that a limit
      // evicts may stay in memory.
      if case .removed = unlinking {} else { tellObservers(ofFiles: [victim.name]) }
      if case .changed(let status) = unlinking {
        return RemovalOutcome(victim: victim, entry: entry(victim.name, status))
      }
      tellOfRemoval(victim.name, mark.cause)
      return RemovalOutcome(victim: victim, isRemoved: true)
    } catch {
      noteUpkeepFailure(error)
      var victim = victim
      victim.changeTime = mark.changeTime.timestamp
      return RemovalOutcome(victim: victim, hasFailed: true, entry: IndexedEntry(victim))
    }
  }

  /// Waits until an eviction is over, and returns its result.
  func wait(for eviction: Eviction) -> BulkRemoval {
    runEvictor()
    return eviction.wait()
  }

  /// Waits until no victim's file is left.
  func waitForEvictor() {
    runEvictor()
    wait { $0.evictions.isAtRest ? () : nil }
  }
}

extension EngineState {
  /// The outcome of an attempt to take a victim's name.
  enum VictimLock: Sendable {
    case taken(DoomedFiles.Mark)
    /// Another thread holds the name.
    case busy
    /// A store has replaced the file since, and the new one stays.
    case cancelled
  }

  /// Takes the name of a victim.
  mutating func takeDoomed(_ name: EntryName) -> VictimLock {
    guard let mark = catalog.doomed[name] else { return .cancelled }
    return locks.take(name) ? .taken(mark) : .busy
  }

  /// Notes the outcome for a victim. A file that stays becomes an entry again, and its removal is
  /// no longer counted.
  mutating func noteEvicted(_ outcome: RemovalOutcome) {
    let name = outcome.victim.name
    catalog.endRemoval(of: name)
    if !outcome.isRemoved {
      counters.takeBackRemoval(outcome.victim.cause)
      // The file is still on disk, and the totals must include it.
      if !clearing.hidesFiles, let entry = outcome.entry {
        catalog.index.upsert(entry, order: .byLastAccess)
      }
    }
  }
}

/// The outcome of the removal of a victim's file.
struct RemovalOutcome: Sendable {
  let victim: Victim
  var isRemoved = false
  var hasFailed = false
  /// The entry of the name's file, if the file stays.
  var entry: IndexedEntry?

  var result: BulkRemoval {
    var result = BulkRemoval()
    if isRemoved {
      result.removed = 1
      result.byteCount = Int(victim.byteCount)
    }
    if hasFailed { result.failed = 1 }
    return result
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
    do throws(Errno) {
      let status = try handle.status(of: name.fileName)
      guard status.inode == inode && status.change == changeTime else { return .changed(status) }
      if let lastUse, status.change == status.modification, status.lastAccess > lastUse {
        return .changed(status)
      }
      try handle.unlink(name.fileName)
      return .removed
    } catch .noSuchFile, .staleHandle {
      return .absent
    }
  }
}
