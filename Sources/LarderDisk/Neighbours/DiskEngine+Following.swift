import LarderSystem
import Synchronization

extension DiskEngine {
  /// Names that are looked at between two takings of the engine's lock.
  private static let pieceCount = 64

  /// Does what events ask for.
  ///
  /// - Parameter start: A time by the system's clock before which none of the events happened.
  func act(on news: DirectoryNews, since start: Timestamp) {
    if news.concernsDirectory { actOnMove() }
    if news.isIncomplete { actOnLoss() }
    var looks: [Look] = []
    for (name, isGone) in news.names {
      // What is hearsay is dated by change times, which are another clock's on a network file
      // system: there every name is looked at.
      if var look = look(at: name, isGone: isGone && !isOnNetwork) {
        look.isPassing = news.passing.contains(name)
        looks.append(look)
      }
      if looks.count == Self.pieceCount {
        follow(looks, since: start)
        looks.removeAll(keepingCapacity: true)
      }
    }
    follow(looks, since: start)
    // Who waits for neighbours to make room looks again.
    changed.signal()
    checkLimitsLater()
  }

  /// After the directory itself was moved or removed. What takes its path later brings no event of
  /// its own, so that each call looks for it until it is there.
  private func actOnMove() {
    watching.isAstray.store(true, ordering: .relaxed)
    followReplacement(isUrgent: true)
    if location.isAtPath { watching.isAstray.store(false, ordering: .relaxed) }
    tellObserversOfReplacement()
  }

  /// After events were lost: what is in memory may be old, and the index wrong in any entry.
  private func actOnLoss() {
    withState { $0.scans.noteMissedNews() }
    tellObserversOfReplacement()
    // While a scan is going on it may have passed what was lost; another follows then.
    startRescan()
  }

  /// A name as it was found.
  struct Look: Sendable {
    let name: EntryName
    /// Nil when the name is free or not an entry's.
    let met: IndexedEntry?
    /// Whether the name became free by the last of its events, and nobody has looked since.
    let isHearsay: Bool
    /// Whether something else happened to the name before it became free.
    var isPassing = false
    /// From before the look; nil when this process was changing the name.
    let generation: EntryGenerations.Snapshot?
  }

  /// Looks at what has a name now; nil where the system would not tell: then memory and readers
  /// forget what they have of it.
  private func look(at name: EntryName, isGone: Bool) -> Look? {
    let generation = generations.snapshot(of: name)
    var met: IndexedEntry?
    // That a name is free needs no look: what takes it later has events of its own.
    if !isGone {
      do throws(Errno) {
        met = entry(name, try location.handle.status(of: name.fileName))
      } catch .noSuchFile, .staleHandle {
      } catch {
        noteUpkeepFailure(error)
        outdateReaders(of: name)
        tellObservers(ofFiles: [name])
        return nil
      }
    }
    return Look(name: name, met: met, isHearsay: isGone, generation: generation)
  }

  /// Takes over what was found, where this process has not changed the name since the look; else
  /// looks again in its turn among the changes of the name.
  ///
  /// Nearly all events of a process that is alone are its own, and end at a comparison.
  private func follow(_ looks: [Look], since start: Timestamp) {
    let now = self.now
    let (news, unclear) = withState { state in
      var news: [EntryName] = []
      var passing: [EntryName] = []
      var unclear: [EntryName] = []
      for look in looks {
        // Known to be free, and yet a scan may have met the file before and tell of it later.
        if look.met == nil { state.scans.noteChange(of: look.name) }
        guard state.isNews(look.met, of: look.name, at: now) else {
          guard look.met == nil else { continue }
          // That a name is free is no news where the index has not met its file. A store that has not
          // told the index of it may be the one that looks, when it has.
          guard let generation = look.generation, generations.isCurrent(generation) else {
            unclear.append(look.name)
            continue
          }
          // A read that is under way may have met it, and must not keep the value; and what memory
          // has of an entry that a limit evicted is older than a file that came and went since.
          outdateReaders(of: look.name)
          if look.isPassing { passing.append(look.name) }
          continue
        }
        guard mayTakeOver(look, state, since: start) else {
          unclear.append(look.name)
          continue
        }
        outdateReaders(of: look.name)
        if state.follow(look.met, of: look.name, at: now) { news.append(look.name) }
      }
      if !news.isEmpty { state.limits.noteNews(at: .now) }
      return (news + passing, unclear)
    }
    tellObservers(ofFiles: news)
    for name in unclear { followOrLeave(name) }
  }

  /// Whether a look still holds.
  private func mayTakeOver(_ look: Look, _ state: EngineState, since start: Timestamp) -> Bool {
    guard let generation = look.generation, generations.isCurrent(generation) else { return false }
    // Before the look at its generation, this process may have stored what the event does not know
    // of yet. Its file would be younger than the oldest event.
    guard look.isHearsay, let known = state.index.entry(named: look.name) else { return true }
    return known.changeTime < start
  }

  /// Takes over what a name stands for now, between two changes of the name: what this process has
  /// just done to it is known then, and what it does next comes after.
  ///
  /// Never waits: what holds the name may wait for the disk, and what others do to all other names
  /// is to be known meanwhile. News of a held name is left to the thread that holds it.
  ///
  /// 1. The name is marked, and no tier keeps a value of it from here on.
  /// 2. The tiers forget the value that they have.
  /// 3. The thread that holds the name looks at it once it has told the index what it did, and
  ///    before it gives the name back, and takes the mark away.
  private func followOrLeave(_ name: EntryName) {
    let isFree = withState { $0.locks.takeOrLeaveNews(of: name) }
    guard isFree else { return tellObservers(ofFiles: [name]) }
    generations.begin(name)
    followHeld(name)
    release(name)
  }

  /// Takes over what a name stands for that the caller holds and has told the index all about.
  ///
  /// - Returns: Whether that may be something else than the index knew.
  @discardableResult
  func followHeld(_ name: EntryName) -> Bool {
    guard let look = look(at: name, isGone: false) else { return true }
    let isNews = withState { [now] in $0.follow(look.met, of: name, at: now) }
    if isNews { tellObservers(ofFiles: [name]) }
    return isNews
  }

  /// Follows the news that came of a name while it was held, and gives the name back.
  func followLateNews(of name: EntryName) {
    repeat {
      generations.begin(name)
      followHeld(name)
      generations.end(name)
    } while !withState { $0.locks.giveBack(name) }
  }

  /// Follows the news that has come of a name so far, and goes on holding it.
  ///
  /// Before a value that was just stored is kept in memory: most news is of that store itself. The
  /// mark stays, and the value is not kept, where it is of something else.
  func followNews(ofHeld name: EntryName) {
    guard mayBe(.hasLateNews), withState({ $0.locks.takeNews(of: name) }) else { return }
    if followHeld(name) { withState { $0.locks.leaveNews(of: name) } }
  }

  /// Whether something has happened to a name which the thread that holds it has not looked into.
  package func hasLateNews(of name: EntryName) -> Bool {
    mayBe(.hasLateNews) && withState { $0.locks.haveNews(of: name) }
  }
}

extension EngineState {
  /// Whether a name stands for something else than is known.
  fileprivate func isNews(_ met: IndexedEntry?, of name: EntryName, at now: Timestamp) -> Bool {
    if let victim = doomed[name] { return victim.differs(from: met) }
    // What is stored while everything is removed may be removed as well, or stay: a scan tells.
    if hidesFile(named: name) { return met != nil }
    let sighting = Sighting(
      of: met, known: index.entry(named: name), pending: uses[name], now: now)
    return sighting != .known
  }

  /// Takes over what a name stands for.
  ///
  /// - Returns: Whether a value in memory may be another than the file's.
  fileprivate mutating func follow(
    _ met: IndexedEntry?, of name: EntryName, at now: Timestamp
  ) -> Bool {
    // The evictor judges the file once more and takes over what it finds.
    if let victim = doomed[name] { return victim.differs(from: met) }
    if hidesFile(named: name) {
      if met != nil { scans.noteMissedNews() }
      return true
    }
    scans.noteChange(of: name)
    return takeOver(met, of: name, at: now)
  }
}

extension DoomedFiles.Mark {
  /// Whether somebody has done something to the file.
  ///
  /// Also where it is gone: the evictor holds the name until it has noted what it did, so that it
  /// was others who removed the file. What they remove is not to be met in memory, where a value
  /// that a limit evicts may stay.
  fileprivate func differs(from met: IndexedEntry?) -> Bool {
    guard let met else { return true }
    return met.inode != inode || PackedStamp(met.changeTime) != changeTime
  }
}

extension DiskEngine {
  /// After a file was found in another state than was known, inside of the engine's lock, or was
  /// trimmed: who read the state before shall neither keep its value nor take its facts for the
  /// latest.
  func outdateReaders(of name: EntryName) {
    generations.begin(name)
    generations.end(name)
  }
}
