import LarderBasics
import LarderSystem

/// The state of a disk engine: one value behind the engine's one lock, made of parts.
///
/// A part is a value whose functions decide and take note; none of them touches the disk, calls the
/// caller's clock or waits. These functions are for events that concern several parts:
///
/// | function | called when | changes |
/// |---|---|---|
/// | `beginClearing` | everything is to be removed | catalog, clearing |
/// | `forgetDirectory` | another directory is held | catalog, clearing, evictions, replacements |
/// | `endScan` | a scan has ended | catalog, evictions |
/// | `chooseVictim` | an entry is to be evicted | catalog, evictions, locks |
/// | `settle(published:)` | a file has got its name | catalog, clearing |
/// | `settle(removal:)` | a file was removed, or stays | catalog, clearing, evictions |
/// | `settle(_:)` | a look, an event, a scan or a read has shown a file | catalog, locks |
///
/// All other functions of the state change one part, or call these. Counting is beside all of this:
/// a function that changes a part also counts the change.
struct EngineState: Sendable {
  /// The knowledge of the files in the directory.
  var catalog = Catalog()
  var counters = DiskStatistics()
  var locks = NameLocks()
  var evictions = Evictions()
  var fullDisk = FullDiskEvictions()
  var clearing = Clearing()
  /// The file server's clock, on a network file system.
  var serverClock = ServerClock()
  var replacements = ReplacementLog()
  var phase = Phase.open
  /// The number of changes by other processes that the index knows and that the memory tiers have
  /// not been told of.
  var untoldCount = 0

  /// The statistics as callers see them.
  var snapshot: DiskStatistics { counters.snapshot(catalog.scans) }

  /// Whether the index knows every entry. It stays true during a later scan.
  var isScanned: Bool { catalog.scans.isComplete }

  /// Whether anything holds that most calls ask for and that rarely holds; see `DiskEngine.finds`.
  @inline(__always)
  var hasRarity: Bool {
    clearing.hidesFiles || replacements.mustLock || locks.hasMarks || untoldCount > 0
  }

  // Inlined, because a call copies the whole state.
  @inline(__always)
  var epoch: NameLocks.Epoch {
    NameLocks.Epoch(clearCount: clearing.count, replacementCount: replacements.count)
  }

  /// Takes a name; returns nil if another thread holds it.
  mutating func take(_ name: EntryName) -> NameLocks.Turn? {
    locks.take(name) ? NameLocks.Turn(epoch: epoch, phase: phase) : nil
  }

  /// Whether a name counts as free in this process although its file may still be on disk, because
  /// a removal of everything takes it.
  func hidesFile(named name: EntryName) -> Bool {
    clearing.hidesFiles && !catalog.index.contains(name)
  }

  /// The totals of the entries, and of the files that a removal of everything has still to remove.
  var totalsOnDisk: IndexTotals {
    var totals = catalog.index.totals
    totals += clearing.remaining
    return totals
  }

  /// Hides everything. The clearing must be able to begin.
  mutating func beginClearing() -> (progress: RemovalProgress, mustWalk: Bool) {
    defer { catalog.removeAll() }
    return clearing.begin(remaining: isScanned ? catalog.index.totals : IndexTotals())
  }

  /// Forgets everything that was known of the directory, because another is held now.
  ///
  /// - Returns: What was known, which the caller releases outside of the lock, because that takes
  ///   long.
  mutating func forgetDirectory() -> Catalog {
    let old = catalog
    evictions.purge = nil
    replacements.count += 1
    // The directory that was moved away is left alone, and the removal was not meant for the one in
    // its place.
    clearing.reveal()
    catalog.removeAll()
    catalog.scans.reset()
    return old
  }
}

/// The phases of an engine, each of which comes once and in this order.
///
/// 1. `open`: an object uses the engine.
/// 2. `ending`: the last object is being closed. An operation that does not hold its name yet must
///    not begin to change it, because the end waits only for names that are held.
/// 3. `shutDown`: scans stop at their next piece, and nothing is chosen to be evicted, because
///    another process may own the directory soon.
/// 4. `ended`: nothing more is written, and the directory's lock is given up. The directory can be
///    opened again.
enum Phase: Comparable, Sendable {
  case open, ending, shutDown, ended

  /// Whether no scan goes on and nothing is chosen to be evicted any more.
  var isShutDown: Bool { self >= .shutDown }

  /// Goes on to a phase, or stays in a later one.
  mutating func advance(to phase: Phase) { self = max(self, phase) }
}

/// The replacements of the directory that an engine holds.
struct ReplacementLog: Sendable {
  /// The number of times that another directory was found at the path and is held since.
  var count = 0
  /// The number of them when a thread began to take the lock of the directory last, with success.
  var lockedCount = 0
  /// The number of threads that are taking that lock.
  var lockingCount = 0

  /// Whether the lock of the directory that was found last has not been taken yet. Every call of
  /// the engine tries to take it then.
  var mustLock: Bool { lockedCount != count }
}
