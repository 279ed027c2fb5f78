import LarderSystem
import Synchronization

extension DiskEngine {
  /// The number of names whose status is read before the engine's lock is taken once for them.
  private static let pieceCount = 64

  /// Brings the index and the memory tiers up to date after events.
  func act(on batch: EventBatch) {
    // Before memory forgets all: a thread that fills it afterwards finds the mark, and undoes that.
    if batch.isIncomplete { withState { $0.locks.markHeld() } }
    // The directory was moved or removed. A lost event may have been that. A directory that takes
    // its path later brings no event, so each call looks for one until it is there.
    if batch.concernsDirectory || batch.isIncomplete {
      location.isAstray.store(true, ordering: .relaxed)
      followReplacement(isUrgent: true)
      tellOfAnyChange()
    }
    if batch.isIncomplete { startScan() }
    var findings: [Finding] = []
    for (name, hadFile) in batch.names {
      findings.append(look(at: name, hadFile: hadFile))
      if findings.count == Self.pieceCount { learn(exchange(&findings, with: [])) }
    }
    learn(findings)
    wakeTurns(for: batch)
    checkLimits()
  }

  /// Looks at the file of a name.
  private func look(at name: EntryName, hadFile: Bool) -> Finding {
    let generation = generations.snapshot(of: name)
    do throws(Errno) {
      let status = try location.handle.statusIfPresent(of: name.fileName)
      return Finding(
        name: name, met: status.flatMap { reader.trust.entry(name, $0) }, evidence: .look,
        hadFile: hadFile, generation: generation)
    } catch {
      return Finding(name: name, evidence: .failure(error))
    }
  }

  /// Settles what was found in one hold of the lock, and carries out what follows.
  ///
  /// Never waits. What is unclear is looked at again with the name held.
  func learn(_ findings: some Sequence<Finding>) {
    let now = self.now
    let (forgotten, unclear, mustRescan) = withState { state in
      var (forgotten, unclear, mustRescan) = ([EntryName](), [Finding](), false)
      for finding in findings {
        // Compared in the hold, because this process may change the name before.
        let isCurrent = generations.isCurrent(finding.generation)
        let effects = state.settle(finding, isCurrent: isCurrent, at: now)
        if effects.isEmpty { continue }
        if effects.contains(.outdatesReaders) { generations.outdateReaders(of: finding.name) }
        if effects.contains(.forgets) { forgotten.append(finding.name) }
        if effects.contains(.looks) { unclear.append(finding) }
        if effects.contains(.rescans) { mustRescan = true }
      }
      if !forgotten.isEmpty { state.untoldCount += 1 }
      return (forgotten, unclear, mustRescan)
    }
    if !forgotten.isEmpty { tell(ofLearned: forgotten) }
    for finding in unclear { lookAgain(at: finding.name, hadFile: finding.hadFile) }
    if mustRescan { startScan() }
  }

  /// Carries out what follows of a name that is held, or whose file this thread has open.
  ///
  /// - Parameter settle: Returns what follows, and the result. Called under the lock.
  // Inlined, because a closure that is called retains the engine.
  @inline(__always)
  func learn<Result: Sendable>(
    _ name: EntryName, _ settle: (inout EngineState) -> (Effects, Result)
  ) -> (Effects, Result) {
    let (effects, result) = withState { state in
      let (effects, result) = settle(&state)
      if effects.contains(.outdatesReaders) { generations.outdateReaders(of: name) }
      if effects.contains(.forgets) { state.untoldCount += 1 }
      return (effects, result)
    }
    if effects.contains(.forgets) { tell(ofLearned: [name]) }
    if effects.contains(.rescans) { startScan() }
    return (effects, result)
  }

  /// Tells the memory tiers what the index has just learned of files, and counts that as told.
  ///
  /// Once the index knows a change, its event is ignored. Until memory does, `catchUp` is false.
  func tell(ofLearned names: [EntryName]) {
    observers.tell(.filesChanged(names))
    withState { $0.untoldCount -= 1 }
  }

  /// Looks at a name and takes over what it finds, while no other thread of this process changes
  /// the name. Its last change is in the index then, and the next one comes after.
  ///
  /// Never waits for the name, because the thread that holds it may wait for the disk, and events
  /// of all other names must be followed meanwhile. If the name is held, its event is left to that
  /// thread, by the steps of `NameLocks`.
  func lookAgain(at name: EntryName, hadFile: Bool = false) {
    readOwnClock()
    let isFree = withState { $0.locks.takeOrMark(name) }
    guard isFree else { return tell(.filesChanged([name])) }
    generations.begin(name)
    lookHeld(name, hadFile: hadFile)
    release(name)
  }

  /// Looks at a held name and takes over what it finds. The index knows this process's changes.
  ///
  /// - Returns: Whether the name may stand for something else than the index knew.
  @discardableResult
  func lookHeld(_ name: EntryName, hadFile: Bool = false) -> Bool {
    let (finding, now) = (look(at: name, hadFile: hadFile), heldNow)
    let (effects, _) = learn(name) { ($0.settle(finding, isCurrent: true, at: now), ()) }
    return effects.contains(.forgets)
  }

  /// Follows the events of a name that came while it was held, and gives the name back.
  func followLateEvents(of name: EntryName) {
    repeat {
      generations.begin(name)
      lookHeld(name)
      generations.end(name)
    } while !withState { $0.locks.giveBack(name) }
    // The index may have learned of the file while the name was held, and nobody has looked since.
    checkLimits()
  }

  /// Follows the events of a held name that have come so far, and goes on holding it.
  ///
  /// Called before a value that was just stored is kept in memory, because most of these events are
  /// of that store itself. If they are of something else, the mark stays and the value is not kept.
  ///
  /// - Parameter status: The file that this thread has stored or stamped.
  func followEvents(ofHeld name: EntryName, _ status: FileStatus) {
    guard finds({ $0.locks.takeMark(of: name) }) else { return }
    let isOther = lookHeld(name)
    withState { state in
      // A scan may have taken in another process's file, and a limit may have evicted it since.
      let known = state.catalog.index.entry(named: name)
      let isOwn = known?.inode == status.inodeMark && known?.changeTime == status.change
      if isOther || !isOwn { state.locks.mark(name) }
    }
  }

  /// Whether memory may not keep a value whose name is held: events of the name wait, or everything
  /// is being removed, or was since the value was published. A memory tier that asks under its
  /// lock forgets the value if a removal of everything begins after that.
  package func hasLateChanges(of name: EntryName, since published: PublishedValue? = nil) -> Bool {
    generations.areAllChanging || published.map { $0.clearCount != clearCount } == true
      || finds { $0.locks.isMarked(name) }
  }
}

// The watch.
extension DiskEngine {
  /// Starts to follow other processes for an object, unless that was tried before.
  ///
  /// Waits until the directory is watched or cannot be, 80 ms for a million names in memory.
  package func startWatching() {
    guard !isWatchSettled else { return }
    guard watching.advance(to: .started) else { return wait { _ in isWatchSettled ? () : nil } }
    // If no instances, watches or threads are left, scans take the place of events.
    if upkeep(try watching.start(self)) == nil { watching.end(threads) }
    // Changes of the directory itself before the watch have left no event.
    lookForDirectory()
    // Nor have those of a file that is just published or looked at: its thread looks once more.
    let hasScanned = withState { state in
      state.locks.markHeld()
      return state.catalog.scans.hasRead
    }
    // A read that opened its file before the watch leaves nothing of it in memory or the index.
    _ = generations.changingAll { watching.advance(to: .settled) }
    changed.signal()
    // A scan that follows events reads after the watch. One for an earlier opener may not have.
    if hasScanned { startScan() }
  }

  /// Starts to follow for a call that can do without events. In a large directory another thread
  /// does it, and until then memory keeps nothing.
  package func startWatchingAside() {
    guard !isWatchSettled else { return }
    guard location.handle.byteCount >= configuration.watchAsideByteCount else {
      return startWatching()
    }
    if watching.advance(to: .planned) { runAside { [weak self] in self?.startWatching() } }
  }

  /// Whether the directory is watched, or cannot be.
  package var isWatchSettled: Bool { watching.has(.settled) }

  /// Whether an object on the directory wants to follow other processes.
  var followsNeighbours: Bool { watching.isWanted.load(ordering: .relaxed) }

  /// Whether events report everything that other processes do.
  package var hasEvents: Bool { watching.isComplete.load(ordering: .acquiring) }

  /// Whether limits evict by value: as configured, and if what other processes do is known.
  package var evictsByValue: Bool {
    configuration.valueMeasure != nil
      && (hasEvents || configuration.mode == .exclusive && !isOnNetwork)
  }

  /// Takes in everything that other processes had done when this was called.
  ///
  /// - Returns: Whether that was possible.
  /// - Complexity: One system call if they have done nothing.
  package func catchUp() -> Bool {
    // Another thread may have told the index but not memory, and the event is then ignored.
    hasEvents && upkeep(try watching.catchUp(self)) == true && !finds { $0.untoldCount > 0 }
  }

  /// Stops following events, because the engine ends.
  func endWatching() {
    watching.advance(to: .ended)
    changed.signal()
    watching.stop(threads)
  }

  /// Tells the memory tiers that any file may have been replaced.
  ///
  /// - Complexity: O(n) for what the tiers hold, and a constant for the generations of all names.
  func tellOfAnyChange() {
    // A read that began earlier must not put back a value that is dropped here.
    generations.changingAll { tell(.anyChanged) }
  }

  /// Goes on without events, after the system has refused them.
  func eventsEnded(because errno: Errno) {
    noteUpkeepFailure(errno)
    watching.end(threads)
    tellOfAnyChange()
    startScan()
  }

  /// Moves the watch to the directory that has replaced the one before.
  func followDirectory() {
    location.isAstray.store(false, ordering: .relaxed)
    do throws(Errno) {
      try watching.follow(location)
      // The directory may be on another file system than the one before.
      watching.complete(!isOnNetwork)
    } catch {
      eventsEnded(because: error)
    }
    lookForDirectory()
  }

  /// Whether the directory was moved away and its path leads to no other yet. Each call looks for
  /// one then, except reads from memory; memory keeps nothing meanwhile.
  package var isAstray: Bool { location.isAstray.load(ordering: .relaxed) }

  /// Looks after a watch was made whether the directory is at its path. A move before the watch
  /// left no event, and a directory that takes the path later brings none. Never finds it back: the
  /// event of a later move may have been followed. Loads look for what was published before.
  func lookForDirectory() {
    if !location.isAtPath { location.isAstray.store(true, ordering: .relaxed) }
    wakeTurns(looks: true)
  }
}
