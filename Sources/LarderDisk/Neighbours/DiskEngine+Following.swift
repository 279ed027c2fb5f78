import LarderSystem
import Synchronization

extension DiskEngine {
  /// The number of names whose status is read before the engine's lock is taken once for all of
  /// them.
  private static let pieceCount = 64

  /// Brings the index and the memory tiers up to date after events.
  ///
  /// - Parameter start: A time by the system's clock before which none of the events happened.
  func act(on batch: EventBatch, since start: Timestamp) {
    if batch.isIncomplete { noteLostEvents() }
    // A lost event may have been that the directory was moved away.
    if batch.concernsDirectory || batch.isIncomplete { actOnMove() }
    // A scan that is going on may have passed over what was lost. Another follows it then.
    if batch.isIncomplete { startRescan() }
    var looks: [Look] = []
    for (name, isGone) in batch.names {
      // An event that frees a name is believed without a look only if the file's change time is
      // older than the event. On a network file system change times are another machine's, so every
      // name is looked at.
      if var look = look(at: name, isGone: isGone && !isOnNetwork) {
        look.isPassing = !isGone || batch.passing.contains(name)
        looks.append(look)
      } else {
        // A thread that holds the name may be about to put its value into memory.
        followOrLeave(name)
      }
      if looks.count == Self.pieceCount {
        follow(looks, since: start)
        looks.removeAll(keepingCapacity: true)
      }
    }
    follow(looks, since: start)
    checkLimits()
  }

  /// Looks for a replacement after the directory itself was moved or removed. A directory that
  /// takes its path later brings no event, so each call looks for one until it is there.
  private func actOnMove() {
    watching.isAstray.store(true, ordering: .relaxed)
    followReplacement(isUrgent: true)
    if location.isAtPath { watching.isAstray.store(false, ordering: .relaxed) }
    tellObserversOfReplacement()
  }

  /// Notes that events were lost, so that any entry of the index may be wrong.
  ///
  /// Marks the held names before memory forgets everything. A thread that puts its value into
  /// memory afterwards finds the mark and removes the value again.
  private func noteLostEvents() {
    withState { state in
      state.catalog.scans.noteMissedChanges()
      // A scan passes over what this process changes.
      state.locks.markHeld()
    }
  }

  /// The result of looking at a name.
  struct Look: Sendable {
    let name: EntryName
    /// Nil when the name is free or not an entry's.
    let met: IndexedEntry?
    /// Whether the last event freed the name. The directory was not looked at then.
    let isHearsay: Bool
    /// Whether the name had an event of a file, which came and went if the name is free.
    var isPassing = false
    /// Taken before the look; nil if this process was changing the name. If it is still current,
    /// this process has not changed the name since.
    let generation: EntryGenerations.Snapshot?
  }

  /// Looks at the file of a name. Returns nil if its status could not be read; readers and memory
  /// tiers then forget the name, and a scan looks at it again for the index.
  private func look(at name: EntryName, isGone: Bool) -> Look? {
    let generation = generations.snapshot(of: name)
    var met: IndexedEntry?
    // A name that became free needs no look, because a file that takes it later has events of its
    // own.
    if !isGone {
      do throws(Errno) {
        met = try location.handle.statusIfPresent(of: name.fileName).flatMap { entry(name, $0) }
      } catch {
        noteUpkeepFailure(error)
        outdateReaders(of: name)
        tellObservers(ofFiles: [name])
        withState { $0.catalog.scans.noteMissedChanges() }
        startRescan()
        return nil
      }
    }
    return Look(name: name, met: met, isHearsay: isGone, generation: generation)
  }

  /// Takes over what was found if this process has not changed the name since the look. Otherwise
  /// looks again with the name held.
  ///
  /// A process that is alone causes nearly all events itself; they end at a comparison with the
  /// index.
  private func follow(_ looks: [Look], since start: Timestamp) {
    let now = self.now
    let (changedNames, unclear) = withState { state in
      var changedNames: [EntryName] = []
      var passing: [EntryName] = []
      var unclear: [Look] = []
      for look in looks {
        // The name is free, but a scan may have met the file before and report it later.
        if look.met == nil { state.catalog.scans.noteChange(of: look.name) }
        guard state.hasChanged(look.met, of: look.name, at: now) else {
          guard look.met == nil else { continue }
          // The name is free and has no entry. But a thread of this process may have published a
          // file that the index does not have yet; then that thread checks the name.
          guard let generation = look.generation, generations.isCurrent(generation) else {
            unclear.append(look)
            continue
          }
          // A running read may have opened the file, so its snapshot becomes invalid. If a file
          // came and went (`isPassing`), memory may hold the value of an older, evicted entry, so
          // memory drops it.
          outdateReaders(of: look.name)
          if look.isPassing { passing.append(look.name) }
          continue
        }
        guard mayTakeOver(look, state, since: start) else {
          unclear.append(look)
          continue
        }
        outdateReaders(of: look.name)
        if state.follow(look.met, of: look.name, at: now) { changedNames.append(look.name) }
      }
      return (changedNames + passing, unclear)
    }
    tellObservers(ofFiles: changedNames)
    for look in unclear { followOrLeave(look.name, isPassing: look.isPassing) }
  }

  /// Whether the result of a look is still valid.
  private func mayTakeOver(_ look: Look, _ state: EngineState, since start: Timestamp) -> Bool {
    guard let generation = look.generation, generations.isCurrent(generation) else { return false }
    // An event that freed the name may precede a store by this process. In that case the indexed
    // file is younger than the oldest event, and the event is not believed.
    guard look.isHearsay, let known = state.catalog.index.entry(named: look.name) else {
      return true
    }
    return known.changeTime < start
  }

  /// Looks at a name and takes over what it finds, while no other thread of this process changes
  /// the name. Its last change is in the index then, and the next one comes after.
  ///
  /// Never waits for the name, because the thread that holds it may wait for the disk, and events
  /// of all other names must be followed meanwhile. If the name is held, its event is left to that
  /// thread:
  ///
  /// 1. The name is marked, and no tier keeps a value of it from here on.
  /// 2. The tiers forget the value that they have.
  /// 3. The thread that holds the name looks at it once it has told the index what it did, and
  ///    before it gives the name back, and takes the mark away (`release`, then
  ///    `followLateEvents`).
  ///
  /// - Parameter isPassing: Whether memory forgets the name also if it is free and has no entry,
  ///   because a file of it came and went.
  func followOrLeave(_ name: EntryName, isPassing: Bool = false) {
    readOwnClock()
    let isFree = withState { $0.locks.takeOrMark(name) }
    guard isFree else { return tellObservers(ofFiles: [name]) }
    generations.begin(name)
    followHeld(name, isPassing: isPassing)
    release(name)
  }

  /// Looks at a name and takes over what it finds. The caller holds the name and has told the index
  /// of every change that it made.
  ///
  /// - Returns: Whether the name may stand for something else than the index knew.
  @discardableResult
  func followHeld(_ name: EntryName, isPassing: Bool = false) -> Bool {
    guard let look = look(at: name, isGone: false) else { return true }
    let now = heldNow
    let hasChanged = withState { state in
      let isPast = isPassing && look.met == nil
      let hasChanged = state.follow(look.met, of: name, at: now) || isPast
      if hasChanged { state.untoldCount += 1 }
      return hasChanged
    }
    if hasChanged { tellObservers(ofLearned: [name]) }
    return hasChanged
  }

  /// Follows the events of a name that came while it was held, and gives the name back.
  func followLateEvents(of name: EntryName) {
    var hasChanged = false
    repeat {
      generations.begin(name)
      if followHeld(name) { hasChanged = true }
      generations.end(name)
    } while !withState { $0.locks.giveBack(name) }
    // The thread that left the events here has looked at the limits before.
    if hasChanged { checkLimits() }
  }

  /// Follows the events of a held name that have come so far, and goes on holding it.
  ///
  /// Called before a value that was just stored is kept in memory, because most of these events are
  /// of that store itself. If they are of something else, the mark stays and the value is not kept.
  ///
  /// - Parameter status: The file that this thread has stored or stamped.
  func followEvents(ofHeld name: EntryName, _ status: FileStatus) {
    guard mayBe(.hasLateEvents), withState({ $0.locks.takeMark(of: name) }) else { return }
    let isOther = followHeld(name)
    withState { state in
      // A scan may have taken in another process's file, and a limit may have evicted it since.
      let known = state.catalog.index.entry(named: name)
      let isOwn = known?.inode == status.inode && known?.changeTime == status.change
      if isOther || !isOwn { state.locks.mark(name) }
    }
  }

  /// Whether events of a held name wait for the thread that holds it.
  package func hasLateEvents(of name: EntryName) -> Bool {
    mayBe(.hasLateEvents) && withState { $0.locks.isMarked(name) }
  }
}

extension EngineState {
  /// Whether a name stands for something else than the index knows.
  fileprivate func hasChanged(_ met: IndexedEntry?, of name: EntryName, at now: Timestamp) -> Bool {
    // A file that is stored during a removal of everything may be removed as well or stay. A scan
    // finds out.
    if hidesFile(named: name) { return met != nil }
    let sighting = Sighting(
      of: met, known: catalog.index.entry(named: name), pending: catalog.uses[name], now: now)
    return sighting != .known
  }

  /// Takes over what a name stands for.
  ///
  /// - Returns: Whether memory may hold another value than the file.
  fileprivate mutating func follow(
    _ met: IndexedEntry?, of name: EntryName, at now: Timestamp
  ) -> Bool {
    if hidesFile(named: name) {
      if met != nil { catalog.scans.noteMissedChanges() }
      return true
    }
    catalog.scans.noteChange(of: name)
    return takeOver(met, of: name, at: now)
  }
}
