import LarderBasics
import LarderSystem

/// The state of a disk engine: one value behind the engine's one lock, made of parts.
///
/// A part is a value with fields that are private to its file. Its functions decide and take note;
/// none of them touches the disk, reads a clock or waits. The functions of the state itself are for
/// changes of several parts:
///
/// | function | called when |
/// |---|---|
/// | `noteStored` | a file was published under its name |
/// | `noteRemoved` | the file of a name is gone |
/// | `noteVanished` | another process has removed the file of a name |
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
  /// Victims that have left the index, but not the disk yet.
  var doomed = DoomedFiles()
  var evictions = EvictionQueue()
  var limits = LimitKeeper()
  var fullDisk = FullDisk()
  var clearing = Clearing()
  var scans = ScanLog()
  /// The file server's clock, on a network file system.
  var serverClock = ServerClock()
  var held = HeldDirectory()
  var phase = Phase.open
  /// The number of changes by other processes that the index knows and that the memory tiers have
  /// not been told of.
  var untoldCount = 0
}

extension EngineState {
  /// The statistics as callers see them.
  var snapshot: DiskStatistics { counters.snapshot(scans) }

  /// Whether the index knows every entry. It stays true during a later scan.
  var isScanned: Bool { scans.isComplete }

  /// Flags that every read checks and that are rarely set.
  struct Rarities: OptionSet, Sendable {
    let rawValue: UInt8

    /// A file counts as gone in this process and is still on disk.
    static let hidesFiles = Rarities(rawValue: 1)
    /// Another directory was found at the path, and its lock has not been taken.
    static let mustLock = Rarities(rawValue: 2)
    /// Values wait to be written.
    static let hasBacklog = Rarities(rawValue: 4)
    /// The watcher has left news of a name that a thread is changing.
    static let hasLateNews = Rarities(rawValue: 8)
    /// The index knows a change by another process that memory has not been told of.
    static let isAhead = Rarities(rawValue: 16)
  }

  /// The flags that are set.
  @inline(__always)
  var rarities: Rarities {
    Rarities(
      rawValue: (hidesFiles ? 1 : 0) | (held.mustLock ? 2 : 0) | (backlog.isEmpty ? 0 : 4)
        | (locks.haveNews ? 8 : 0) | (untoldCount > 0 ? 16 : 0))
  }

  /// The counts that show whether everything known was given up since they were read.
  // Inlined, because a call copies the whole state.
  @inline(__always)
  var epoch: NameLocks.Epoch {
    NameLocks.Epoch(clearCount: clearing.count, replacementCount: held.replacementCount)
  }

  /// Takes a name; returns nil if another thread holds it.
  mutating func take(_ name: EntryName) -> NameLocks.Turn? {
    locks.take(name) ? NameLocks.Turn(epoch: epoch, isEnding: phase.isEnding) : nil
  }

  /// Whether any file is hidden.
  @inline(__always)
  private var hidesFiles: Bool { !doomed.isEmpty || clearing.hidesFiles }

  /// Whether a name's file counts as gone in this process although it is still on disk.
  func hidesFile(named name: EntryName) -> Bool {
    guard hidesFiles else { return false }
    return doomed.contains(name) || clearing.hides(name)
  }

  /// Takes note of a file that was just published under its name.
  ///
  /// Called while the name is held, after the rename. A scan that met the older file is outdated
  /// from here on.
  ///
  /// - Returns: The cause for which the entry that had the name left; nil if none is known.
  mutating func noteStored(
    _ entry: IndexedEntry, order: EntryIndex.Placement = .mostRecent
  ) -> RemovalCause? {
    // A victim of the name was counted when it was chosen. The rename has replaced its file.
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

  /// Takes note that the file of a name is gone.
  mutating func noteRemoved(_ name: EntryName) {
    cancelRemoval(of: name)
    uses.forget(name)
    clearing.takeDropped(name)
    scans.noteChange(of: name)
    index.remove(name)
  }

  /// Forgets the entry of a name whose file another process has removed. A use that was still to be
  /// stamped counts as dropped.
  ///
  /// - Returns: Whether there was an entry.
  mutating func noteVanished(_ name: EntryName) -> Bool {
    if uses.take(name) != nil { counters.countDroppedStamp() }
    return index.remove(name) != nil
  }

  /// Takes note that this process has stamped a name's file, which moved its change time.
  mutating func noteRestamped(_ name: EntryName, _ status: FileStatus) {
    // If the file is a victim, it is still the one that was judged.
    doomed.restamp(name, inode: status.inode, changeTime: status.change)
    clearing.noteRestamped(name, status)
    // A scan may have met the file as it was before the stamp.
    scans.noteChange(of: name)
    index.restamp(
      name, inode: status.inode, changeTime: status.change,
      expiry: status.modification.asExpiry)
  }

  /// Records victims that have left the index. From here on, only their files are left to remove.
  mutating func doom(_ victims: [Victim]) {
    for victim in victims {
      doomed.insert(victim)
      uses.forget(victim.name)
      scans.noteChange(of: victim.name)
    }
  }

  /// Forgets that the file of a name was to be removed.
  mutating func cancelRemoval(of name: EntryName) {
    // A scan may have met the file before it went.
    if doomed.remove(name) { scans.noteChange(of: name) }
  }
}
