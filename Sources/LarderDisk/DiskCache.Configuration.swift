public import LarderBasics
public import LarderSystem

extension DiskCache {
  /// The settings of a disk cache. Each has a default, and none can change after opening.
  public struct Configuration: Sendable {
    /// The mode in which the directory is opened. The default is `.shared`.
    ///
    /// Openers in one process that write must give the same mode; one that only reads shares
    /// nothing with them. The modes of processes may differ, but an exclusive one excludes every
    /// other process that writes.
    public var mode = Mode.shared
    /// The way in which this process learns of other processes' changes. The default is `.events`.
    ///
    /// Each object on a directory has its own. The directory is watched if one of them asks for it.
    public var coherence = Coherence.events
    /// The most bytes that all values may take together, nil for no limit; 0 stores nothing.
    /// The default is 1 GiB.
    ///
    /// If a store makes the total exceed it, entries are evicted until the total is at most
    /// `trimTarget` of it. A value that is larger than the limit is rejected, and a file that is
    /// larger is a miss with the reason `oversized`.
    public var sizeLimit: Int?
    /// The most entries, nil for no limit. The default is nil.
    public var countLimit: Int?
    /// The longest time since the last access. Sweeps and trims remove an entry that has
    /// reached it, and reads find it until then. The default is nil.
    public var ageLimit: Duration?
    /// The bytes that must stay free on the file system, or entries are evicted. By default nil.
    ///
    /// Checked after a store or a trim, and from then on every five seconds, against the bytes that
    /// an ordinary user may still fill. The missing bytes are evicted, down to the newest entry if
    /// need be, even if other files have filled the file system. A process that has stored nothing
    /// since it opened the directory evicts nothing for it, so neither inspecting nor reading costs
    /// entries.
    public var freeSpaceLimit: Int?
    /// The share of a limit down to which an eviction goes. The default is 0.5: down to half.
    ///
    /// 1 evicts only what exceeds the limit, a little at nearly every store. Less evicts more at
    /// once and more rarely.
    public var trimTarget = 0.5
    /// The order in which limits and trims evict. The default is `.leastRecentlyUsed`.
    ///
    /// Processes that share a directory should give the same order.
    public var evictionOrder = EvictionOrder.leastRecentlyUsed
    /// The measure of `sizeLimit`. The default is `.bytes`.
    public var sizeMeasure = SizeMeasure.bytes
    /// The expiration of values that are stored without one. The default is 7 days.
    ///
    /// Each object on a directory has its own.
    public var expiration = Expiration.days(7)
    /// The extension of the expiry by an access. By default `.off`: lifetimes count from the store.
    public var extending = ExpirationExtending.off
    /// The time by which the last access on disk may lag behind; zero stamps at every read. The
    /// default is 60 s, and 1/16 of a shorter lifetime where an access extends it.
    ///
    /// A short time costs a system call and a journal entry per use. A long one means that after a
    /// crash, and to other processes, entries seem unused for longer.
    public var recencyGranularity = Duration.seconds(60)
    /// The interval of the sweeps for expired entries after the first scan; by default 10 minutes.
    public var sweepInterval = Duration.seconds(600)
    /// The time for which sweeps spare expired entries, so that a load can ask whether they are
    /// still good. The default is zero. Loads that may serve them lengthen it. An eviction for a
    /// limit spares none.
    public var expiredGrace = Duration.zero
    /// The guarantee after a power cut. The default is `.relaxed`.
    ///
    /// A durable store waits for the disk twice.
    public var durability = Durability.relaxed
    /// The recording of keys in files. The default is `.automatic`.
    public var recordKeys = KeyRecording.automatic
    /// Whether a file that does not prove its key is a miss. The default is false, so that files
    /// made by hand or copied without attributes are served.
    ///
    /// If true, such a miss is counted as `unproven`, and the file stays.
    public var requireProof = false
    /// The extension of this cache's file names, without the dot: 1 to 20 ASCII letters or digits.
    /// The default is nil: none.
    public var fileExtension: String?
    /// Whether a directory is accepted that other users own or can write to. The default is false.
    public var allowsUnsafeDirectory = false
    /// Whether the directory's group shares the cache: files get 0660 and the directory 2770. The
    /// default is false: 0600 and 0700.
    public var sharesWithGroup = false
    /// The most memory in bytes for values that wait to be written by another thread, nil if none
    /// may wait. The default is nil: a store returns when other processes see the value.
    ///
    /// A value counts with its content, key and extended data, and 512 bytes for its record.
    /// With a limit, a store returns `.pending`, and this process sees the value at once. Other
    /// processes see it when it is written, a few milliseconds later. Until then reads answer from
    /// memory and write nothing; calls that report on the directory, such as `count()` and
    /// `entries()`, write it first. If a key is stored again while its value waits, only the last
    /// value is written. A value that is already being written is finished first. Stores that find
    /// the backlog full wait in the order in which they came, and a value that counts for more
    /// than the whole limit is written at once. `flush()` waits for the values accepted before it,
    /// `close()` for all, and both throw the first failure of a later write; each is counted in
    /// `lostStores`. An exit without `close()` loses the pending values; the older value of each
    /// key stays whole.
    public var writeBehindLimit: Int?
    /// Whether a value of a number of bytes may be stored under a key. The default is nil: yes.
    ///
    /// Called in the storing thread, without any lock and before anything is written. For a value
    /// in pieces it is called after the last of them.
    public var shouldStore: (@Sendable (CacheKey, _ byteCount: Int) -> Bool)?
    /// The threads that run asynchronous operations. The default is 4.
    ///
    /// They are started when they are needed and end after five idle seconds. Synchronous
    /// operations need none. Callers' closures and calls for the whole directory have others.
    public var threadCount = 4
    /// The clock of stamps and expiries. The default is the system's.
    ///
    /// Several objects on one directory must be given the same clock.
    public var clock = WallClock.system

    /// Whether opening makes a missing directory and marks an empty one as a cache.
    package var makesDirectory = true

    /// Whether a store on a full disk evicts.
    package var makesRoom = true

    /// The time after an eviction that did not help in which a full disk causes no other.
    package var fullDiskPause = Duration.seconds(30)

    /// The time between two looks at the free space.
    package var freeSpacePause = Duration.seconds(5)

    /// The time after its last store at which a process without events looks for others' stores.
    package var rescanDelay = Duration.seconds(30)

    /// The time between two checks of the directory's path.
    package var pathCheckPause = Duration.seconds(1)

    /// The longest wait of a store for the first scan, if the disk is full.
    package var scanPatience = Duration.seconds(1)

    /// The longest wait for another process's load.
    package var longestTurn = Duration.seconds(30)

    /// The length of a directory from which reads and stores do not wait until it is watched.
    package var watchAsideByteCount: UInt64 = 1 << 20

    /// The failures that tests put in the place of system calls.
    package var faults: FaultInjector?

    /// Creates the default configuration, or one with another limit in bytes; nil for none.
    public init(sizeLimit: Int? = 1 << 30) {
      self.sizeLimit = sizeLimit
    }
  }

  /// A mode of opening a directory.
  public enum Mode: Sendable, Hashable {
    /// Any number of processes read and write.
    case shared
    /// Only this process writes; another process that opens the directory to write gets an error.
    /// Misses need no system call once the directory has been scanned.
    case exclusive
    /// The directory is not changed in any way, and no lock is taken.
    case readOnly
    /// Read-only, for directories that are checked in with tests. The expiry is not enforced, the
    /// content is not checked, and empty files are values.
    case fixture

    package var isReadOnly: Bool { self == .readOnly || self == .fixture }
  }

  /// The way in which a process learns of changes by other processes and people.
  public enum Coherence: Sendable, Hashable {
    /// The kernel reports changes from the first store under a limit or the first value in memory
    /// on. This takes one descriptor per directory and one thread per process. A hit in memory
    /// trails the directory by 50 ms at most, and totals follow.
    ///
    /// If there are no events, as on network file systems or when the user has no watches left, the
    /// directory is scanned again after stores of 5 % of a limit and 30 s after the last one, and a
    /// hit in memory may trail by a `recencyGranularity`.
    case events
    /// As `.events`, and a hit in memory first checks for changes, so a read sees every change that
    /// was complete before it began. The check costs one system call. If there are no events, each
    /// read goes to the disk.
    case strict
    /// Changes are not followed, which suits a directory that one process uses at a time. Changes
    /// by other processes show when a read goes to the disk.
    case none
  }

  /// An order in which entries are evicted, after the expired ones.
  public enum EvictionOrder: Sendable, Hashable {
    /// The entry that was used the longest ago goes first.
    case leastRecentlyUsed
    /// The entry with the largest age × √size ÷ (1 + uses)² goes first: the time since the last
    /// use, the size by `sizeMeasure` to within a power of two, and the uses since its name came,
    /// of which three count. If only a number of entries is exceeded, the size does not count.
    ///
    /// More is found, and fewer files are removed, where sizes differ or much is used once. A hit
    /// in memory takes longer, as it counts on disk at once. Where no events come or other machines
    /// may write, and with `coherence` `.none`, the order is that of use; see
    /// `DiskStatistics.evictionOrder`.
    case leastValuable
  }

  /// A measure of the size limit.
  public enum SizeMeasure: Sendable, Hashable {
    /// The lengths of the values.
    case bytes
    /// The blocks that the file system sets aside for the values, in bytes.
    case allocatedBytes
  }

  /// A guarantee after a power cut.
  public enum Durability: Sendable, Hashable {
    // There is no third level that starts writing back before a file gets its name and does not
    // wait (posix_fadvise DONTNEED, sync_file_range). Measured on ext4 and XFS with files of 8 to
    // 16 KiB, it saves the new values of the seconds before a cut, which otherwise come back empty
    // and are misses: 500 of 500. It makes a store take half to nearly as long again, and it writes
    // values to the disk that are often replaced or evicted before they would have to be written.

    /// Recent stores, overwrites and removals may be undone. A served value is never wrong.
    case relaxed
    /// What a store has returned `.stored` for, or was removed, is on the disk: `fdatasync` before,
    /// or `fsync` on a network file system, and `fsync` of the directory after.
    case durable
  }

  /// A way of recording keys in files.
  public enum KeyRecording: Sendable, Hashable {
    /// The key itself if that costs no block of the disk or little beside the value, otherwise a
    /// digest and the end of the key; see `DiskEntry.keyHint`.
    ///
    /// ext4 has room for keys of up to 43 to 47 bytes, which depends on the lifetime: 46 with whole
    /// days. XFS has room for about 230, and btrfs for any. A longer key is recorded if the value
    /// has at least 16 KiB or extended data, and if it was joined from several parts, so that
    /// `removeVariants(of:)` finds it. Never more than 2,000 bytes.
    case automatic
    /// The key itself up to 2,000 bytes, so that every tool can show the key of a file. Of a longer
    /// key, what `.automatic` records.
    ///
    /// On ext4 each entry with a key of more than 46 bytes takes one more block of 4 KiB.
    case always
    /// A digest of the key, which proves the key without containing any of it.
    case never
  }
}

extension DiskCache.Configuration {
  /// Traps with a message on settings that make no sense.
  ///
  /// Such settings are a programming error and not bad input: no user of a program types them.
  func checkPreconditions() {
    precondition(sizeLimit.map { $0 >= 0 } ?? true, "sizeLimit is negative")
    precondition(countLimit.map { $0 >= 0 } ?? true, "countLimit is negative")
    precondition(freeSpaceLimit.map { $0 >= 0 } ?? true, "freeSpaceLimit is negative")
    precondition(ageLimit.map { $0 >= .zero } ?? true, "ageLimit is negative")
    precondition((0...1).contains(trimTarget), "trimTarget is not between 0 and 1")
    precondition(recencyGranularity >= .zero, "recencyGranularity is negative")
    precondition(writeBehindLimit.map { $0 > 0 } ?? true, "writeBehindLimit is not positive")
    precondition(threadCount > 0, "threadCount is not positive")
    precondition(expiredGrace >= .zero, "expiredGrace is negative")
    precondition(sweepInterval > .zero, "sweepInterval is not positive")
  }

  /// The mode of files, which the umask does not change.
  var permissions: UInt32 { sharesWithGroup ? 0o660 : 0o600 }
  /// The mode of the directory. The set-group-id bit gives new files its group. See: man 7 inode.
  var directoryPermissions: UInt32 { sharesWithGroup ? 0o2770 : 0o700 }
  /// Whether changes by other processes are followed. An exclusive opener has no neighbours, and a
  /// fixture ignores them.
  package var followsNeighbours: Bool {
    coherence != .none && (mode == .shared || mode == .readOnly)
  }
  /// The measure of sizes by which entries are in classes of value; nil if they go by use alone.
  package var valueMeasure: DiskCache.SizeMeasure? {
    evictionOrder == .leastValuable ? sizeMeasure : nil
  }
  /// Whether any limit is set, so that the directory has to be scanned.
  var hasLimit: Bool {
    sizeLimit != nil || countLimit != nil || ageLimit != nil || freeSpaceLimit != nil
  }

  /// The longest file that can have been stored under the limit; nil for any. It is nil for a cache
  /// that only reads, because it keeps no limit, and for a limit in blocks, because a compressed
  /// file can have fewer of them than bytes.
  var longestEntry: UInt64? {
    guard !mode.isReadOnly, sizeMeasure == .bytes else { return nil }
    return sizeLimit.map(UInt64.init)
  }

  /// Returns the extension as it stands in names.
  func parsedFileExtension() throws(CacheError) -> FileExtension {
    guard let fileExtension else { return .none }
    guard !fileExtension.isEmpty, let parsed = FileExtension(Array(fileExtension.utf8)) else {
      throw CacheError(
        .invalidArgument, operation: "open", underlying: "file extension \(fileExtension)")
    }
    return parsed
  }

  /// Returns the settings of an object that was opened with these, on an engine that was opened
  /// with others: the object's own, and the rest of the engine's.
  func joining(_ shared: Self) -> Self {
    var joined = shared
    (joined.expiration, joined.extending) = (expiration, extending)
    (joined.coherence, joined.fileExtension) = (coherence, fileExtension)
    (joined.shouldStore, joined.threadCount) = (shouldStore, threadCount)
    return joined
  }

  /// Returns the names of the settings that differ, of those that the shared engine can have only
  /// once; nil if they agree. Each object keeps some others, and the rest are the first opener's.
  func conflict(with new: Self) -> String? {
    let settings: KeyValuePairs = [
      "mode": mode == new.mode, "sharesWithGroup": sharesWithGroup == new.sharesWithGroup,
      "evictionOrder": evictionOrder == new.evictionOrder,
      "sizeLimit": sizeLimit == new.sizeLimit, "sweepInterval": sweepInterval == new.sweepInterval,
      "countLimit": countLimit == new.countLimit, "sizeMeasure": sizeMeasure == new.sizeMeasure,
      "ageLimit": ageLimit == new.ageLimit, "recordKeys": recordKeys == new.recordKeys,
      "freeSpaceLimit": freeSpaceLimit == new.freeSpaceLimit, "clock": clock.isSame(as: new.clock),
      "trimTarget": trimTarget == new.trimTarget, "requireProof": requireProof == new.requireProof,
      "durability": durability == new.durability, "expiredGrace": expiredGrace == new.expiredGrace,
      "writeBehindLimit": writeBehindLimit == new.writeBehindLimit,
      "recencyGranularity": recencyGranularity == new.recencyGranularity,
    ]
    return settings.reduce(nil) { $1.value ? $0 : ($0.map { "\($0), " } ?? "different: ") + $1.key }
  }
}
