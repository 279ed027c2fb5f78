import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// The effect of events on all parts of an engine's state, tested without threads or files.
struct `The state of an engine` {
  private let name = IndexSample.name(1)
  private let entry = IndexSample.entry(1)

  /// Returns a state that knows entry 1, whose use is pending, during a second scan.
  private func scanning() -> EngineState {
    var state = EngineState()
    state.catalog.scans.end(state.catalog.scans.begin(), .finished)
    _ = state.noteStored(entry)
    state.catalog.uses.note(name, IndexSample.status(of: entry), expiry: nil)
    state.catalog.scans.beginReading(state.catalog.scans.begin(), state.catalog.index.emptyMarks())
    return state
  }

  private func hideEverything(in state: inout EngineState) { _ = state.beginClearing() }

  /// Settles that a scan has met a file.
  private func meet(
    _ entry: IndexedEntry, scan number: Int? = nil, isCurrent: Bool = true,
    in state: inout EngineState
  ) -> Effects {
    state.settle(
      Finding(
        name: entry.name, met: entry, evidence: .scan(number ?? state.catalog.scans.number)),
      isCurrent: isCurrent, at: Timestamp(seconds: 100))
  }

  /// Returns the entries in the first slots that the latest scan has not met.
  private func unmet(in state: EngineState) -> [EntryName]? {
    state.catalog.scans.marks(of: state.catalog.scans.number).map {
      state.catalog.index.names(in: 0..<64, lacking: $0)
    }
  }

  /// Entry 1 in another state.
  private var changed: IndexedEntry {
    var changed = entry
    changed.changeTime = Timestamp(seconds: 70)
    return changed
  }

  @Test func `a stored file is known and counted`() {
    var state = scanning()
    let cause = state.noteStored(IndexSample.entry(2))
    #expect(cause == nil && state.catalog.index.totals.count == 2)
    #expect(state.catalog.scans.rescans.byteCount == 100)
    #expect(state.statistics.stores == 2 && state.statistics.bytesWritten == 200)
    #expect(state.statistics.removals.isEmpty)
  }

  @Test func `a stored file replaces the one before, whose uses are void`() {
    var state = scanning()
    var changed = changed
    changed.inode += 1
    let cause = state.noteStored(changed)
    #expect(cause == .replaced && state.statistics.removals == [.replaced: 1])
    #expect(state.catalog.index.entry(named: name)?.changeTime == changed.changeTime)
    #expect(state.catalog.uses.isEmpty)
  }

  @Test func `a stored file that a scan has met before replaces none`() {
    var state = EngineState()
    state.catalog.index.upsert(entry, order: .byLastAccess)
    let cause = state.noteStored(entry)
    #expect(cause == nil && state.statistics.removals.isEmpty && state.statistics.stores == 1)
  }

  @Test func `a file that is stored while everything is removed shows`() {
    var state = EngineState()
    hideEverything(in: &state)
    #expect(state.hidesFile(named: name))
    _ = state.noteStored(entry)
    #expect(!state.hidesFile(named: name) && state.hidesFile(named: IndexSample.name(2)))
  }

  @Test func `a removed file leaves nothing behind`() {
    var state = scanning()
    state.catalog.remove(name)
    #expect(!state.catalog.index.contains(name) && state.catalog.uses.isEmpty)
  }

  @Test func `a stamp of this process leaves an entry and a hidden file what they are`() {
    var state = scanning()
    let stamp: (inout EngineState, Int) -> Bool = { state, number in
      let entry = IndexSample.entry(number)
      return state.catalog.restamp(
        entry.name, from: IndexSample.status(of: entry, changed: entry.changeTime),
        to: IndexSample.status(of: entry, changed: Timestamp(seconds: 70)))
    }
    #expect(!stamp(&state, 1))
    #expect(state.catalog.index.entry(named: name)?.changeTime == Timestamp(seconds: 70))
    #expect(!state.catalog.uses.isEmpty)
    hideEverything(in: &state)
    let isChanged = stamp(&state, 1)
    #expect(!isChanged && state.hidesFile(named: name) && !state.catalog.index.contains(name))
  }

  @Test(arguments: [(0, 900), (-9, nil), (9, nil)] as [(Int64, Int64?)])
  func `a stamp leaves the extension by a later use in force, unless another expiry was set`(
    change: Int64, expected: Int64?
  ) {
    var state = scanning()
    let (before, meant) = (IndexSample.entry(1, expires: 300), Int64(400))
    let status = IndexSample.status(of: before)
    state.catalog.index.upsert(before, order: .byLastAccess)
    state.catalog.uses.note(name, status, expiry: Timestamp(seconds: 900))
    let fresh = IndexSample.status(of: IndexSample.entry(1, expires: meant + change))
    let effects = state.settle(
      useOf: name, from: status, to: fresh, meant: Timestamp(seconds: meant))
    #expect(effects.contains(.forgets) == (change < 0))
    #expect(state.catalog.uses.expiry(of: name, fresh) == expected.map { Timestamp(seconds: $0) })
    let expiry = state.catalog.index.entry(named: name)?.expiry
    #expect(expiry == Timestamp(seconds: expected ?? meant + change))
  }

  @Test func `what was accepted after the clock went back goes after what was used before`() {
    var state = EngineState()
    for (number, seconds) in [(1, 900), (2, 100)] as [(Int, Int64)] {
      let used = state.catalog.uses.issueAccess(at: Timestamp(seconds: seconds))
      var entry = IndexSample.entry(number)
      entry.lastAccess = used
      _ = state.settle(
        published: entry, order: .byLastAccess, since: state.epoch, size: entry.byteCount)
    }
    #expect(state.catalog.index.numbers() == [1, 2])
  }

  @Test func `another directory has to be locked and scanned, and the counters go on`() {
    var state = scanning()
    hideEverything(in: &state)
    state.evictions.purge = Purge()
    _ = state.locks.take(name)
    _ = state.forgetDirectory()
    #expect(
      state.catalog.index.totals.count == 0 && state.catalog.uses.isEmpty)
    #expect(!state.hidesFile(named: name) && state.evictions.purge == nil)
    #expect(state.replacements.mustLock && state.hasRarity)
    // It may be another process's, so nothing in it goes before.
    var (run, configuration) = (EvictionRun(TrimPlan(now: .never)), DiskCache.Configuration())
    state.catalog.index.upsert(IndexSample.entry(2), order: .mostRecent)
    let step = state.chooseVictim(&run, configuration)
    #expect(step == .end)
    configuration.sizeLimit = 0
    let isPurging = state.beginPurge(configuration, sparing: nil)
    #expect(!isPurging)
    state.catalog.remove(IndexSample.name(2))
    #expect(state.catalog.scans.needsScan && !state.catalog.scans.isOngoing)
    // The removal of everything has not ended yet, and the name is still held.
    #expect(state.clearing.isRunning && state.locks.held == [name] && state.statistics.stores == 1)
  }

  @Test func `the epoch shows what was given up since`() {
    var state = EngineState()
    let first = state.epoch
    let walk = state.beginClearing().walk
    #expect(walk == 1 && state.epoch.clearCount == 1)
    _ = state.forgetDirectory()
    #expect(state.epoch.replacementCount == 1 && first != state.epoch)
    state.phase.advance(to: .ending)
    #expect(state.phase.isEnding && !state.phase.isShutDown)
  }

  @Test func `a second removal of everything hides what was stored during the first`() {
    var state = scanning()
    let first = state.beginClearing()
    #expect(first.walk == 1 && state.catalog.index.totals.count == 0)
    _ = state.noteStored(changed)
    #expect(!state.hidesFile(named: name))
    let (second, third) = (state.beginClearing(), state.beginClearing())
    #expect(state.hidesFile(named: name) && state.catalog.index.totals.count == 0)
    #expect(state.clearing.remaining.count == 2 && state.clearing.count == 3)
    // Both are served by one walk, which follows the first.
    #expect(second.walk == nil && third.walk == nil && second.progress === third.progress)
    #expect(first.progress !== second.progress)
    let next = state.clearing.endWalk()
    #expect(next?.progress === second.progress && next?.walk == 3 && state.clearing.mayBegin)
    let last = state.clearing.endWalk()
    #expect(last == nil && !state.clearing.mayBegin && state.clearing.isRunning)
  }

  @Test func `a removal of everything waits while a walk in another directory goes on`() {
    var state = scanning()
    #expect(state.clearing.mayBegin)
    _ = state.beginClearing()
    _ = state.forgetDirectory()
    #expect(!state.clearing.mayBegin)
    _ = state.clearing.endWalk()
    state.clearing.end()
    #expect(state.clearing.mayBegin)
  }

  @Test(
    arguments: [
      { $0.locks.mark(IndexSample.name(0)) }, { $0.replacements.count += 1 },
      { _ = $0.beginClearing() }, { $0.untoldCount += 1 },
    ] as [@Sendable (inout EngineState) -> Void])
  func `a read checks one flag of four rarities`(rarity: @Sendable (inout EngineState) -> Void) {
    var state = EngineState()
    #expect(!state.hasRarity)
    rarity(&state)
    #expect(state.hasRarity)
  }
}

// Scans.
extension `The state of an engine` {
  @Test func `a scan is not believed about what has changed since, or is hidden`() {
    var state = scanning()
    let effects = meet(changed, isCurrent: false, in: &state)
    #expect(effects == .looks && state.catalog.index.numbers() == [1])
    #expect(!state.catalog.scans.hasMissedChanges)
    #expect(state.catalog.index.entry(named: name)?.changeTime == entry.changeTime)
    hideEverything(in: &state)
    let hidden = meet(IndexSample.entry(3), scan: state.catalog.scans.begin(), in: &state)
    #expect(hidden == [] && state.catalog.scans.hasMissedChanges)
    #expect(!state.catalog.index.contains(IndexSample.name(3)))
  }

  @Test func `a removal of everything gives up a scan`() {
    var state = scanning()
    let number = state.catalog.scans.number
    hideEverything(in: &state)
    let met = meet(entry, in: &state)
    let isGoingOn = state.catalog.scans.isOngoing(number)
    #expect(met == [] && !isGoingOn && state.isScanned && !state.catalog.scans.isOngoing)
    _ = state.clearing.endWalk()
    let late = meet(entry, in: &state)
    #expect(late == [] && state.catalog.index.totals.count == 0)
  }

  @Test func `a scan that was given up, or comes after the end, changes nothing`() {
    var state = scanning()
    let old = meet(changed, scan: state.catalog.scans.number - 1, in: &state)
    state.phase.advance(to: .shutDown)
    let late = meet(changed, in: &state)
    #expect(old == [] && late == [])
    #expect(state.catalog.index.entry(named: name)?.changeTime == entry.changeTime)
  }

  @Test func `a later scan has an unknown file of a held name looked at, which may be going`() {
    var state = scanning()
    let other = IndexSample.entry(2)
    let isTaken = state.locks.take(other.name)
    let held = meet(other, isCurrent: false, in: &state)
    #expect(isTaken && held == .looks && !state.catalog.index.contains(other.name))
  }

  @Test func `the first scan counts an unknown file of a held name, whose holder looks again`() {
    var state = EngineState()
    state.catalog.scans.beginReading(state.catalog.scans.begin(), state.catalog.index.emptyMarks())
    let other = IndexSample.entry(2)
    let free = meet(other, isCurrent: false, in: &state)
    #expect(free == .looks && !state.catalog.index.contains(other.name))
    let isTaken = state.locks.take(other.name)
    let held = meet(other, isCurrent: false, in: &state)
    #expect(isTaken && held == .forgets && state.locks.isMarked(other.name))
    #expect(state.catalog.index.contains(other.name))
  }

  @Test func `a scan that has met an older file than the index knows has the name looked at`() {
    var state = scanning()
    // A use is stamped at once, or a read meets a newer file, which holds no name.
    state.catalog.index.upsert(changed, order: .mostRecent)
    let effects = meet(entry, in: &state)
    #expect(effects == .looks)
    #expect(state.catalog.index.entry(named: name)?.changeTime == changed.changeTime)
  }

  @Test func `a changed name of which a scan meets another file is looked at again`() {
    var state = scanning()
    // The thread that removes has unlinked its file already. Another process stores one before the
    // state hears of the removal, and the scan meets that one.
    state.catalog.remove(name)
    let effects = meet(changed, isCurrent: false, in: &state)
    #expect(effects == .looks && state.catalog.index.entry(named: name) == nil)
    // What the index knows needs no look.
    _ = state.noteStored(changed)
    let known = meet(changed, isCurrent: false, in: &state)
    #expect(known == [])
  }

  @Test func `an entry that a scan has not met is looked at, also if it has changed since`() {
    let state = scanning()
    #expect(unmet(in: state) == [name])
    var stored = state
    _ = stored.noteStored(changed)
    #expect(unmet(in: stored) == [name])
  }

  @Test func `a removal of everything that hides another file of a changed name has a scan follow`()
  {
    var state = scanning()
    hideEverything(in: &state)
    _ = state.catalog.scans.begin()
    let effects = meet(changed, isCurrent: false, in: &state)
    #expect(effects == .looks)
    // The look with the name held finds it hidden.
    _ = state.settle(
      Finding(name: name, met: changed, evidence: .look), isCurrent: true,
      at: Timestamp(seconds: 100))
    #expect(state.catalog.scans.hasMissedChanges)
  }

  @Test func `an entry that came after a scan began and before it read a name is looked at`() {
    var state = EngineState()
    let number = state.catalog.scans.begin()
    _ = state.noteStored(entry)
    state.catalog.scans.beginReading(number, state.catalog.index.emptyMarks())
    #expect(state.catalog.scans.hasRead)
    #expect(unmet(in: state) == [name])
  }
}

extension EngineState {
  /// The statistics as callers see them.
  var statistics: DiskStatistics { counters.snapshot(catalog.scans) }

  /// Settles a store that nothing has overtaken.
  ///
  /// - Returns: The cause for which the entry that had the name left; nil if none is known.
  @discardableResult
  fileprivate mutating func noteStored(_ entry: IndexedEntry) -> RemovalCause? {
    let publication = settle(published: entry, since: epoch, size: entry.byteCount)
    if case .indexed(isReplacing: true) = publication { return .replaced }
    return nil
  }
}
