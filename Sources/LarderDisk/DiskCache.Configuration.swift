public import LarderBasics
public import LarderSystem

extension DiskCache {
  /// The settings of a disk cache. Every one has a default; none can change after opening.
  public struct Configuration: Sendable {
    /// How the directory is held. The default is `.shared`.
    ///
    /// Two openers of one process must agree on it; two processes on one directory may differ,
    /// except that an exclusive one stands alone.
    public var mode = Mode.shared
    /// How this process learns of what others do to the directory. The default is `.events`.
    ///
    /// Each object on a directory has its own; the directory is watched if one of them asks for it.
    public var coherence = Coherence.events
    /// The most bytes that all values may take together, nil for no limit; 0 stores nothing.
    /// The default is 1 GiB.
    ///
    /// When a store makes the total pass it, entries go until the total is at most `trimTarget` of
    /// it. A value that is larger than the limit is rejected, and a file that is larger is a miss
    /// with the reason `oversized`.
    public var sizeLimit: Int? = 1 << 30
    /// The most entries, nil for no limit. The default is nil.
    public var countLimit: Int?
    /// The longest time since the last access; what has reached it is removed with the expired
    /// entries, and counts as one. The default is nil.
    public var ageLimit: Duration?
    /// The bytes that must stay free on the file system; below it entries are evicted. The default
    /// is nil.
    ///
    /// Looked up at most every five seconds, after a store or a trim, with the share that an
    /// ordinary user may still fill. What is missing is evicted, down to the newest entry if need
    /// be, whoever has filled the file system. A process that has stored nothing since it opened
    /// the directory evicts nothing for it: neither a question nor a read costs entries.
    public var freeSpaceLimit: Int?
    /// The share of a limit that an eviction goes down to. The default is 0.5: down to half.
    ///
    /// 1 evicts just what has to go, a little at nearly every store; less evicts more at once and
    /// more rarely.
    public var trimTarget = 0.5
    /// What `sizeLimit` counts. The default is `.bytes`.
    public var sizeMeasure = SizeMeasure.bytes
    /// How long values stay valid that are stored without an expiration. The default is 7 days.
    ///
    /// Each object on a directory has its own.
    public var expiration = Expiration.days(7)
    /// What an access does to the expiry. The default is `.lifetime`.
    public var extending = ExpirationExtending.lifetime
    /// How far the last access on disk may lag behind; zero stamps at every read. The default is
    /// 60 s, and 1/16 of an entry's lifetime where that is shorter.
    ///
    /// Shorter costs a system call and a journal entry per use; longer means that after a crash,
    /// and to other processes, entries seem unused for longer.
    public var recencyGranularity = Duration.seconds(60)
    /// How often expired entries are swept. The default is 10 minutes.
    public var sweepInterval = Duration.seconds(600)
    /// How long sweeps spare expired entries, so that they can be served while a fresh value is
    /// loaded. The default is zero. A limit that is passed spares none.
    public var expiredGrace = Duration.zero
    /// What survives a power cut. The default is `.relaxed`.
    ///
    /// Durable stores wait for the disk, twice each.
    public var durability = Durability.relaxed
    /// Whether files say which key they are of. The default is `.always`.
    public var recordKeys = KeyRecording.always
    /// Whether a file that does not prove its key is a miss. The default is false, so that files
    /// made by hand or copied without attributes are served.
    ///
    /// With it a miss is counted as `unproven`, and the file stays.
    public var requireProof = false
    /// The extension of this cache's file names, without the dot: 1 to 20 ASCII letters or digits.
    /// The default is nil: none.
    public var fileExtension: String?
    /// Whether a directory is taken that others own or can write to. The default is false.
    public var allowsUnsafeDirectory = false
    /// Whether the directory's group shares the cache: files get 0660 and the directory 2770. The
    /// default is false: 0600 and 0700.
    public var sharesWithGroup = false
    /// The most bytes of values that may wait to be written by another thread, nil for none. The
    /// default is nil: a store returns when the value is visible to others.
    ///
    /// With it a store returns `.pending`, and this process sees the value at once; other processes
    /// do when it is written, a few milliseconds later. Until then reads answer from memory and write
    /// nothing; what tells of the directory, such as `count()` and `entries()`, writes it first. Of
    /// several values of one key the last is written, and those that were being written when the
    /// next came. Stores that find the backlog full wait in the order in which they came, and a
    /// value that is larger than all of it is written at once. `flush()` waits for what was accepted
    /// before it, `close()` for everything, and both throw the first failure of a later write; each
    /// is counted in `lostStores`. What an exit without `close()` loses is what was pending: the
    /// older value stays whole.
    public var writeBehindLimit: Int?
    /// Says whether a value of a number of bytes may be stored under a key. The default is nil:
    /// yes.
    ///
    /// Called in the storing thread, without any lock and before anything is written; for a value
    /// in pieces, after the last of them.
    public var shouldStore: (@Sendable (CacheKey, _ byteCount: Int) -> Bool)?
    /// The threads that run asynchronous operations. The default is 4.
    ///
    /// Started when they are needed and ended after five idle seconds; synchronous operations need
    /// none.
    public var threadCount = 4
    /// The clock of stamps and expiries. The default is the system's.
    ///
    /// Several objects on one directory must be given the same clock.
    public var clock = WallClock.system

    /// Whether opening makes a missing directory and marks an empty one as a cache.
    package var makesDirectory = true

    /// How long an eviction leaves the directory to another process that is evicting.
    package var electionPatience = Duration.seconds(2)

    /// How long after an eviction that did not help no other is made because the disk is full.
    package var fullDiskPause = Duration.seconds(30)

    /// How long after its last store a process without events looks for what others stored.
    package var rescanDelay = Duration.seconds(30)

    /// What tests say that the directory is on; nil to ask the system.
    package var fileSystem: FileSystemKind?

    /// Failures for tests to put in the place of system calls.
    package var faults: FaultInjector?

    /// Creates the default configuration.
    public init() {}

    /// Creates the default configuration with another limit in bytes; nil for none.
    public init(sizeLimit: Int?) {
      self.sizeLimit = sizeLimit
    }
  }

  /// How a directory is held.
  public enum Mode: Sendable, Hashable {
    /// Any number of processes read and write.
    case shared
    /// This process alone writes; a second opener gets an error. Misses need no system call once
    /// the directory has been scanned.
    case exclusive
    /// Nothing in the directory is changed in any way, and no lock is taken.
    case readOnly
    /// Read-only, for directories checked in with tests: the expiry is not enforced, the content
    /// not checked, and empty files are values.
    case fixture

    package var isReadOnly: Bool { self == .readOnly || self == .fixture }
  }

  /// How a process learns of what other processes, and people, do to the directory.
  public enum Coherence: Sendable, Hashable {
    /// The kernel tells, from the first store under a limit or the first value in memory on: one
    /// descriptor and one thread per directory. A hit in memory trails the directory by 50 ms at
    /// most, and totals follow.
    ///
    /// Where there are no events, as on network file systems or when the user has no more of them,
    /// the directory is scanned again after stores of 5 % of a limit and 30 s after the last one,
    /// and a hit in memory may trail by a `recencyGranularity`.
    case events
    /// As `.events`, and a hit in memory asks first whether anything has happened, which costs one
    /// system call: what was complete before the read is seen by it. Where there are no events,
    /// each read goes to the disk.
    case strict
    /// Not at all: for a directory that one process uses at a time. What others do shows when a
    /// read goes to the disk.
    case none
  }

  /// What a limit counts.
  public enum SizeMeasure: Sendable, Hashable {
    /// The lengths of the values.
    case bytes
    /// What the file system sets aside for them, in blocks.
    case allocatedBytes
  }

  /// What survives a power cut.
  public enum Durability: Sendable, Hashable {
    // There is no third level that starts writing back before a file gets its name and does not
    // wait (posix_fadvise DONTNEED, sync_file_range). Measured on ext4 and XFS with files of 8 to
    // 16 KiB, it saves the new values of the seconds before a cut, which otherwise come back empty
    // and are misses: 500 of 500. It makes a store take half to nearly as long again, and writes to
    // disk what is often replaced or evicted before it would have to be.

    /// Recent stores, overwrites and removals may be undone; what is served is never wrong.
    case relaxed
    /// What returned is on the disk: `fdatasync` before and `fsync` of the directory after.
    case durable
  }

  /// Whether files carry their keys.
  public enum KeyRecording: Sendable, Hashable {
    /// The key itself up to 2,000 bytes, so that every tool can say what a file is.
    case always
    /// A digest of the key, which proves it without telling it.
    case never
  }
}

extension DiskCache.Configuration {
  /// Traps on settings that make no sense, with a sentence.
  ///
  /// Misuse and not bad input: no user of a program types these values.
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

  /// The mode of files, whatever the umask says.
  var permissions: UInt32 { sharesWithGroup ? 0o660 : 0o600 }
  /// The mode of the directory. The set-group-id bit gives new files the directory's group. See:
  /// man 7 inode.
  var directoryPermissions: UInt32 { sharesWithGroup ? 0o2770 : 0o700 }
  /// Whether what others do is of interest: an exclusive opener has no neighbours, and a fixture
  /// none that it minds.
  package var followsNeighbours: Bool {
    coherence != .none && (mode == .shared || mode == .readOnly)
  }
  package var recency: Recency { Recency(granularity: recencyGranularity, extending: extending) }
  /// Whether anything has to be evicted, ever, so that the directory has to be scanned.
  var hasLimit: Bool {
    sizeLimit != nil || countLimit != nil || ageLimit != nil || freeSpaceLimit != nil
  }

  /// The longest file that can have been stored under the limit; nil for any. Who only reads keeps
  /// no limit, and blocks can be fewer than bytes where files are compressed.
  var longestEntry: UInt64? {
    guard !mode.isReadOnly, sizeMeasure == .bytes else { return nil }
    return sizeLimit.map(UInt64.init)
  }

  /// The extension as names have it, or the error that it is none.
  func parsedFileExtension() throws(CacheError) -> FileExtension {
    guard let fileExtension else { return .none }
    guard !fileExtension.isEmpty, let parsed = FileExtension(Array(fileExtension.utf8)) else {
      throw CacheError(
        .invalidArgument, operation: "open", underlying: "file extension \(fileExtension)")
    }
    return parsed
  }

  /// Whether two caches of one process can hold one directory together with these settings.
  ///
  /// What one engine can do in one way only is compared. Of the other settings, an object keeps its
  /// own expiration and extension; the rest are those of the first opener.
  func isCompatible(with other: Self) -> Bool {
    mode == other.mode && sizeLimit == other.sizeLimit && countLimit == other.countLimit
      && ageLimit == other.ageLimit && freeSpaceLimit == other.freeSpaceLimit
      && trimTarget == other.trimTarget && sizeMeasure == other.sizeMeasure
      && durability == other.durability && writeBehindLimit == other.writeBehindLimit
      && sharesWithGroup == other.sharesWithGroup
      && recordKeys == other.recordKeys && requireProof == other.requireProof
      && recencyGranularity == other.recencyGranularity && expiredGrace == other.expiredGrace
      && sweepInterval == other.sweepInterval && clock.isSame(as: other.clock)
  }
}
