/// Everything a disk engine knows, as one value behind its one lock.
///
/// The functions here decide and count; none of them touches the disk or waits.
struct EngineState: Sendable {
  var index = EntryIndex()
  var statistics = DiskStatistics()
  /// Values that wait to be written.
  var backlog = Backlog()
  /// Reads that found no file; kept apart from the other misses, since a miss is often all that is
  /// asked of an engine and a dictionary takes longer than the look into the index.
  var absentCount = 0
  var locks = NameLocks()
  /// Uses that have not reached the disk.
  var pending: NameMap<PendingStamp> = [:]
  /// What was published here where files cannot say what they hold.
  var publications: NameMap<Publication> = [:]
  /// The slot of `publications` that is looked at next for what is gone.
  var publicationHand = 0
  /// Drains going on; a use that one of them has taken is no longer in `pending`.
  var drainCount = 0
  /// When the next drain of `pending` is due, nil when none is planned.
  var nextDrain: MonotonicTime?
  /// Victims that have left the index and whose files have not left the disk.
  var doomed = DoomedFiles()
  var evictions = EvictionQueue()
  var limits = LimitKeeper()
  var fullDisk = FullDisk()
  var clearing = Clearing()
  var scans = ScanLog()
  var rescans = RescanSchedule()
  /// What the file server's clock says, on a network file system.
  var serverClock = ServerClock()
  /// The stamp that was issued last, so that two uses within one tick of the clock stay in order.
  var lastAccess = Timestamp(seconds: .min)
  /// Whether another directory was found at the path whose lock has not been taken.
  var mustLock = false
  /// How often another directory was found at the path.
  var replacementCount = 0
  /// Whether the last object is being closed: what has not changed a name yet must not any more.
  var isEnding = false
  /// Whether the last object was closed; scans stop at their next piece then.
  var isShutDown = false
  /// Whether nothing more is written and the directory's lock is given up.
  var hasEnded = false
}

extension EngineState {
  /// The statistics as they are shown.
  var snapshot: DiskStatistics {
    var snapshot = statistics
    snapshot.scan = scans.progress
    snapshot.foreignCount = scans.foreignCount
    if absentCount > 0 { snapshot.misses[.absent, default: 0] += absentCount }
    return snapshot
  }

  /// Counts a miss.
  mutating func countMiss(_ reason: MissReason) {
    if reason == .absent {
      absentCount += 1
    } else {
      statistics.misses[reason, default: 0] += 1
    }
  }

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

  /// The stamp of a use at `now`: later than that of the use before, unless the clock was set back.
  mutating func issueAccess(at now: Timestamp) -> Timestamp {
    // Uses faster than the clock's tick run ahead of it by one nanosecond each. Beyond a second the
    // clock itself was set back, and its word counts again.
    let isJustBehind = now <= lastAccess && lastAccess < now.adding(seconds: 1)
    lastAccess =
      isJustBehind
      ? Timestamp(seconds: lastAccess.seconds, nanoseconds: Int64(lastAccess.nanoseconds) + 1) : now
    return lastAccess
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
    pending[entry.name] = nil
    clearing.keep(entry.name)
    scans.noteChange(of: entry.name)
    rescans.noteStore(of: entry.byteCount)
    if index.upsert(entry, order: order) {
      statistics.removals[.replaced, default: 0] += 1
      cause = .replaced
    }
    statistics.stores += 1
    statistics.bytesWritten.addSaturating(entry.byteCount)
    return cause
  }

  /// Takes note that a name is gone.
  mutating func noteRemoved(_ name: EntryName) {
    cancelRemoval(of: name)
    pending[name] = nil
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
      pending[victim.name] = nil
      scans.noteChange(of: victim.name)
    }
  }

  /// Forgets that a name's file was to be removed.
  mutating func cancelRemoval(of name: EntryName) {
    // A scan may have met the file before it went.
    if doomed.remove(name) { scans.noteChange(of: name) }
  }
}
