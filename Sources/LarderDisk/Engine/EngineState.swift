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
/// | `settle(published:)` | a file has got its name | catalog |
/// | `settle(evicted:)` | a victim's file was removed, or stays | catalog, evictions |
/// | `settle(removal:)` | another file was removed, or stays | catalog, clearing, `untoldCount` |
/// | `settle(stamped:)` | a file was stamped to be an entry | catalog |
/// | `settle(useOf:)` | the stamp of a use was written | catalog |
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
  /// The changes by other processes that the index knows and the memory tiers were not told of.
  var untoldCount = 0

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
  mutating func beginClearing() -> (progress: RemovalProgress, walk: Int?) {
    defer { catalog.removeAll() }
    return clearing.begin(remaining: isScanned ? catalog.index.totals : IndexTotals())
  }

  /// Forgets everything that was known of the directory, because another is held now.
  ///
  /// - Returns: What was known, to be released outside of the lock, because that takes long.
  mutating func forgetDirectory() -> Catalog {
    let old = catalog
    evictions.purge = nil
    replacements.count += 1
    // The directory that was moved away is left alone; the removal was not meant for the new one.
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

  /// Whether the last object is being closed, so that no new change of a name may begin.
  var isEnding: Bool { self >= .ending }
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

/// The clock of a file server, which may differ from this machine's.
///
/// On a network file system several machines judge the same expiries, each by its own clock. Close
/// to an expiry, all of them use the server's clock instead, which shows in the change time of a
/// file that was just written. If the server takes that time from the writing machine, as GlusterFS
/// does, machines agree only as well as their clocks do.
///
/// CephFS shows the later of a file's change time and modification time as the change time. An
/// entry's modification time is its expiry, so it hides the server's time there.
struct ServerClock: Sendable {
  /// The largest difference that is assumed between machines' clocks. The server's clock is used
  /// this close to an expiry. Machines that keep time by NTP differ by milliseconds.
  static let slack = Duration.seconds(10)

  /// The most by which the server's clock may be ahead of this one; nil before it has been seen.
  private var lead: Duration?

  /// Learns the lead from the status of a file that got its change time from the server.
  ///
  /// A server that takes long makes the lead too large, so that values expire early by as much.
  /// With a time after the change the lead would be too small, and expired values would be served.
  ///
  /// - Parameter begin: A time before the change by this machine's clock.
  mutating func adjust(by status: FileStatus, since begin: Timestamp) {
    let change = status.change
    // A change time that is the modification time is no time of the server's clock.
    guard change != status.modification else { return }
    // Without a fraction the server may have left it out, as MooseFS does.
    let latest = change.nanoseconds == 0 ? change.adding(seconds: 1) : change
    lead = min(latest.duration(since: begin), Self.slack)
  }

  /// Returns the time by which to judge an expiry.
  func time(toJudge expiry: Timestamp, at now: Timestamp) -> Timestamp {
    guard let lead else { return now }
    let distance = expiry.duration(since: now)
    guard distance <= Self.slack && distance >= .zero - Self.slack else { return now }
    return now.adding(lead)
  }
}
