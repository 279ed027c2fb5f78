import LarderBasics
import LarderSystem

/// An eviction that passing a limit has begun and that goes on down to the targets.
struct Purge: Sendable {
  /// Whether the size limit was passed.
  fileprivate(set) var isForSize = false
  /// Whether the count limit was passed.
  fileprivate(set) var isForCount = false
  /// The bytes that the file system lacked for the limit on free space; 0 as soon as enough are
  /// free, by whatever program.
  var missing: UInt64 = 0
  /// The bytes that were freed since then, here or by another process.
  fileprivate(set) var freed: UInt64 = 0
  /// The entry that began it last, which stays.
  fileprivate(set) var spared: EntryName?
  /// Whether a thread carries it on, or has been asked to.
  var isCarriedOn = false
}

/// The evictions of this process.
///
/// 1. `EngineState.beginPurge`: a limit was passed. One thread is asked to carry the purge on, and
///    others may help.
/// 2. `EngineState.chooseVictim`: a thread chooses an entry. In the same hold of the lock its name
///    is held and it leaves the index.
/// 3. The thread looks at the file once more and removes it, without the lock.
/// 4. `EngineState.settle`: the outcome is taken over and the name is given back, in one hold with
///    the next choice.
/// 5. The purge is over when a choice finds its goals reached.
///
/// There is no state between: a name is at rest, or held by the thread that removes its file.
struct Evictions: Sendable {
  /// The purge that is going on. It ends when its goals are reached or another directory is held.
  var purge: Purge?
  /// The names of the entries that are being evicted.
  var names: [EntryName] = []
  /// The damaged files that are to be removed.
  var damaged: Set<EntryName> = []
  /// The trims that wait for the scan, to remove and report the expired entries themselves.
  var waitingTrimCount = 0
  private var lastFreeSpaceCheck: MonotonicTime?
  /// The bytes that may be stored before this process looks for stores of its neighbours.
  private var allowance: UInt64 = 0

  /// Whether the caller has to ask a thread to carry the purge on, which counts as asked from then
  /// on.
  mutating func claimPurge() -> Bool {
    defer { purge?.isCarriedOn = true }
    return hasUnclaimedPurge
  }

  /// Whether a purge has begun that no thread carries on.
  var hasUnclaimedPurge: Bool { purge.map { !$0.isCarriedOn } ?? false }

  /// Ends the eviction of a name, whichever way.
  mutating func end(_ name: EntryName, freed: UInt64) {
    purge?.freed.addSaturating(freed)
    if let index = names.firstIndex(of: name) { names.remove(at: index) }
  }

  /// Begins a look at the free space; returns false if the last one was less than 5 s ago.
  mutating func beginFreeSpaceCheck(at now: MonotonicTime) -> Bool {
    if let last = lastFreeSpaceCheck, now.duration(since: last) < .seconds(5) { return false }
    lastFreeSpaceCheck = now
    return true
  }

  /// The share of the room below 1.1 × the limit that a process stores between two looks. At the
  /// limit, 32 processes that have looked at the same time take half of the room before the next
  /// look of each.
  static let allowanceShare: UInt64 = 64

  /// Whether a store has to look for stores of other processes first.
  var mustLook: Bool { allowance == 0 }

  /// Counts a value that was stored.
  mutating func spend(_ byteCount: UInt64) { allowance -= min(allowance, byteCount) }

  /// Counts a look.
  ///
  /// - Parameter room: The bytes that all processes may still store.
  mutating func allow(room: UInt64) { allowance = room / Self.allowanceShare }
}

extension EngineState {
  /// Begins a purge if a limit is exceeded, or has the one that is going on serve it too. A process
  /// that has stored nothing evicts for no limit.
  ///
  /// - Parameters:
  ///   - name: The entry that was stored; nil if something else was learned. Then the last entry in
  ///     the order stays, because its store may be about to check the limits itself.
  ///   - missing: The bytes that the file system lacks for the limit on free space.
  /// - Returns: Whether a size or count limit is exceeded.
  @discardableResult
  mutating func beginPurge(
    _ configuration: DiskCache.Configuration, sparing name: EntryName?, missing: UInt64 = 0
  ) -> Bool {
    guard isScanned, !phase.isShutDown, counters.stores > 0 else { return false }
    let isSizePassed = configuration.isSizePassed(by: catalog.index.totals)
    let isCountPassed = configuration.isCountPassed(by: catalog.index.totals)
    guard isSizePassed || isCountPassed || missing > 0 else { return false }
    if evictions.purge == nil { counters.purges += 1 }
    var purge = evictions.purge ?? Purge()
    if isSizePassed { purge.isForSize = true }
    if isCountPassed { purge.isForCount = true }
    if missing > 0 { (purge.missing, purge.freed) = (missing, 0) }
    purge.spared = name ?? purge.spared ?? catalog.index.mostRecentName
    evictions.purge = purge
    return isSizePassed || isCountPassed
  }

  /// Whether a value of a number of bytes exceeds no limit beside the files that a removal of
  /// everything has still to remove.
  func hasRoom(for byteCount: Int, _ configuration: DiskCache.Configuration) -> Bool {
    guard clearing.remaining.count > 0, !phase.isShutDown else { return true }
    var totals = totalsOnDisk
    if byteCount > 0 {
      let bytes = UInt64(byteCount)
      totals += IndexTotals(byteCount: bytes, allocatedByteCount: (bytes + 4095) / 4096 * 4096)
    }
    return !configuration.isSizePassed(by: totals) && !configuration.isCountPassed(by: totals)
  }
}

extension DiskCache.Configuration {
  /// Whether some totals exceed the size limit.
  func isSizePassed(by totals: IndexTotals) -> Bool {
    sizeLimit.map { sizeMeasure.of(totals) > UInt64($0) } ?? false
  }

  /// Whether some totals exceed the count limit.
  func isCountPassed(by totals: IndexTotals) -> Bool { totals.count > countLimit ?? .max }
}

extension DiskCache.SizeMeasure {
  /// Returns the sum that this measure counts of some totals.
  func of(_ totals: IndexTotals) -> UInt64 {
    self == .bytes ? totals.byteCount : totals.allocatedByteCount
  }
}
