import LarderBasics
import LarderSystem

/// The state of a disk engine: one value behind the engine's one lock, made of parts.
///
/// A part is a value whose fields are private to its file. Its functions decide and take note; none
/// of them touches the disk, reads a clock or waits. The functions of the state are for what
/// concerns several parts:
///
/// | function | called when |
/// |---|---|
/// | `noteStored` | a file was published under its name |
/// | `noteRemoved` | the file of a name is gone |
/// | `noteRestamped` | this process has stamped a file |
/// | `doom` | victims were chosen |
/// | `forgetDirectory` | another directory has taken the place of the one that was held |
struct EngineState: Sendable {
  /// The entries.
  var index = EntryIndex()
  var counters = EngineCounters()
  /// Values that wait to be written.
  var backlog = Backlog()
  var locks = NameLocks()
  var uses = UseLog()
  var publications = PublicationLog()
  /// Victims that have left the index and whose files have not left the disk.
  var doomed = DoomedFiles()
  var evictions = EvictionQueue()
  var limits = LimitKeeper()
  var fullDisk = FullDisk()
  var clearing = Clearing()
  var scans = ScanLog()
  var rescans = RescanSchedule()
  /// The file server's clock, on a network file system.
  var serverClock = ServerClock()
  /// Whether another directory was found at the path whose lock has not been taken.
  var mustLock = false
  /// How often another directory was found at the path.
  var replacementCount = 0
  var phase = Phase.open
}

extension EngineState {
  /// The statistics as callers see them.
  var snapshot: DiskStatistics { counters.snapshot(scans) }

  /// Whether the index knows every entry, also during a later scan.
  var isScanned: Bool { scans.isComplete }

  /// Flags that every read checks and that are rarely set.
  struct Rarities: OptionSet, Sendable {
    let rawValue: UInt8

    /// Some name's file is gone in this process's view and still there.
    static let hidesFiles = Rarities(rawValue: 1)
    /// Another directory was found at the path, and its lock has not been taken.
    static let mustLock = Rarities(rawValue: 2)
    /// Values wait to be written.
    static let hasBacklog = Rarities(rawValue: 4)
    /// Something has happened to a name that is being changed.
    static let hasLateNews = Rarities(rawValue: 8)
  }

  /// The flags that are set.
  var rarities: Rarities {
    Rarities(
      rawValue: (hidesFiles ? 1 : 0) | (mustLock ? 2 : 0) | (backlog.isEmpty ? 0 : 4)
        | (locks.haveNews ? 8 : 0))
  }

  /// Whether any file is hidden.
  private var hidesFiles: Bool { !doomed.isEmpty || clearing.hidesFiles }

  /// Whether a file of this process's view is gone although its name is still on the disk.
  func hidesFile(named name: EntryName) -> Bool {
    guard hidesFiles else { return false }
    return doomed.contains(name) || clearing.hides(name)
  }

  /// Takes note of a file that was just published under its name.
  ///
  /// Called while the name is held, after the rename: from here on a scan that met the older file
  /// is wrong.
  ///
  /// - Returns: Why the entry that had the name left, if one is known to have had it.
  mutating func noteStored(
    _ entry: IndexedEntry, order: EntryIndex.Placement = .mostRecent
  ) -> RemovalCause? {
    // A victim was counted when it was chosen; its file is gone now.
    var cause = doomed[entry.name]?.cause
    cancelRemoval(of: entry.name)
    uses.forget(entry.name)
    clearing.keep(entry.name)
    scans.noteChange(of: entry.name)
    rescans.noteStore(of: entry.byteCount)
    if index.upsert(entry, order: order) {
      counters.countRemoval(.replaced)
      cause = .replaced
    }
    counters.countStore(of: entry.byteCount)
    return cause
  }

  /// Takes note that a name is gone.
  mutating func noteRemoved(_ name: EntryName) {
    cancelRemoval(of: name)
    uses.forget(name)
    clearing.takeDropped(name)
    scans.noteChange(of: name)
    index.remove(name)
  }

  /// Takes note that the file of a name was stamped by us and has a new change time.
  mutating func noteRestamped(_ name: EntryName, _ status: FileStatus) {
    // Our own stamp moved the change time of a file that is on its way out; it is still the one
    // judged.
    doomed.restamp(name, inode: status.inode, changeTime: status.change)
    clearing.noteRestamped(name, status)
    // A scan may have met the file as it was before the stamp.
    scans.noteChange(of: name)
    index.restamp(
      name, inode: status.inode, changeTime: status.change,
      expiry: status.modification.asExpiry)
  }

  /// Takes victims out of everything that answers, so that only their files are left to remove.
  mutating func doom(_ victims: [Victim]) {
    for victim in victims {
      doomed.insert(victim)
      uses.forget(victim.name)
      scans.noteChange(of: victim.name)
    }
  }

  /// Forgets that a name's file was to be removed.
  mutating func cancelRemoval(of name: EntryName) {
    // A scan may have met the file before it went.
    if doomed.remove(name) { scans.noteChange(of: name) }
  }
}
