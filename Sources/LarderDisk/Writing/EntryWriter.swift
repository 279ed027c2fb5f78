import LarderBasics
import LarderSystem
import Synchronization

/// The writer of entries' files, which become visible only when they are whole.
final class EntryWriter: Sendable {
  private let configuration: DiskCache.Configuration
  /// Whether the file system is known to have no unnamed files. Without a privilege, a file gets
  /// its name only through /proc.
  private let lacksUnnamedFiles = Atomic<Bool>(!SystemEnvironment.hasDescriptorPaths)
  /// The process's user at the opening, like the trusted user of `EntryTrust`.
  private let user = ProcessIdentity.user
  /// The seconds of the latest expiry that can be held; 0 while that is unknown.
  private let latestExpiry = Atomic<Int64>(0)

  init(_ configuration: DiskCache.Configuration) { self.configuration = configuration }

  /// Forgets what was tried out, because another file system may be mounted over the path.
  func directoryChanged() {
    latestExpiry.store(0, ordering: .relaxed)
    lacksUnnamedFiles.store(!SystemEnvironment.hasDescriptorPaths, ordering: .relaxed)
  }

  /// Starts a file. It has no name if the entry's name is free and the file system has unnamed
  /// files; otherwise it is a temporary, locked for as long as it is open.
  ///
  /// - Throws: `.noSuchFile` if the directory is gone, `.noSpace`, and errors of opening a file.
  func stage(in handle: DirectoryHandle, isNew: Bool) throws(Errno) -> StagedFile {
    // A crash leaves nothing of an unnamed file behind. But only linkat can give it a name later,
    // and linkat replaces nothing, so a temporary is used if the name is taken. A durable file has
    // a name from the beginning: on ext4 without a journal the sync would otherwise leave it on the
    // disk as a file with no link, which `e2fsck` removes whatever name leads to it.
    let file =
      if isNew, configuration.durability == .relaxed, let unnamed = try stageUnnamed(in: handle) {
        unnamed
      } else {
        try StagedFile.named(in: handle, permissions: configuration.permissions)
      }
    if user == 0 && handle.owner != 0 {
      // Root writes for the directory's owner: that user must be able to use and remove the file.
      try file.descriptor.setOwner(handle.owner, group: handle.group)
    }
    // open applies the umask, and files that a group shares must not depend on it.
    if configuration.sharesWithGroup {
      try file.descriptor.setPermissions(configuration.permissions)
    }
    return file
  }

  /// Makes an unnamed file; returns nil if the file system has none, or the directory is at fault.
  private func stageUnnamed(in handle: DirectoryHandle) throws(Errno) -> StagedFile? {
    // No network file system has unnamed files; trying would cost each engine a round trip.
    if lacksUnnamedFiles.load(ordering: .relaxed) || handle.fileSystem.isNetwork { return nil }
    do throws(Errno) {
      let descriptor = try handle.createUnnamed(permissions: configuration.permissions)
      return StagedFile(descriptor: descriptor, handle: handle)
    } catch .notSupported, .isDirectory, .invalidArgument {
      // See: man 2 open, O_TMPFILE: EOPNOTSUPP, and EISDIR from kernels that do not know it.
      lacksUnnamedFiles.store(true, ordering: .relaxed)
    } catch .notPermitted, .noSuchFile {
      // In a removed directory O_TMPFILE gives EPERM, but O_CREAT ENOENT, and it is made again.
    }
    return nil
  }

  /// Gives a complete file its attributes and stamps, so that it can be published.
  ///
  /// The stamps are set last, because writing changes them; setting attributes changes only the
  /// change time. Then the data is synced if the cache is durable. It is always synced if the file
  /// system refuses attributes, because after a power cut nothing would distinguish a file of
  /// zeros, or an empty one, from the value.
  func seal(_ file: inout StagedFile, _ seal: Seal) throws(CacheError) {
    do throws(Errno) {
      let isTold = try file.setAttributes(
        seal, form(of: seal, file), permissions: configuration.permissions)
      // Without attributes the value can be stored, but not the data that the caller relies on.
      if !isTold && !seal.extendedData.isEmpty { throw .notSupported }
      let isNetwork = file.handle.fileSystem.isNetwork
      file.isFlushed = isNetwork || !isTold || configuration.durability == .durable
      if isNetwork {
        // Before the stamps are set, because a late write would move them, and because a write that
        // failed on the server is reported only here.
        try file.descriptor.flush()
      }
      let expiry = holdable(seal.expiry, in: file.handle)
      try file.descriptor.setTimes(access: seal.lastAccess, modification: expiry)
      if configuration.durability == .relaxed && isTold { return }
      if isNetwork {
        // The stamps too, which is more than `fdatasync` promises: ceph-fuse keeps them to itself,
        // and an entry without them has expired.
        try file.descriptor.synchronize()
      } else {
        try file.descriptor.synchronizeData()
      }
    } catch {
      let isData = error == .notSupported || error == .argumentListTooLong
      throw isData && !seal.extendedData.isEmpty
        ? CacheError(.extendedDataUnsupported, operation: "store", errno: error)
        : CacheError(errno: error, operation: "store")
    }
  }

  /// Returns the form in which a file records its key, as far as it fits.
  private func form(of seal: Seal, _ file: borrowing StagedFile) -> KeyProof.Form {
    switch configuration.recordKeys {
    case .always: .key
    case .never: .digest
    case .automatic:
      // Both attributes never fit into an inode of 256 bytes together with a digest, so extended
      // data cost the block anyway. A joined key is what `removeVariants(of:)` looks for.
      file.byteCount >= Self.roomyByteCount || !seal.extendedData.isEmpty || seal.key.isJoined
        ? .key : .keyWithin(file.handle.fileSystem.freeAttributeCount)
    }
  }

  /// From this length on, the extra block for the key takes at most a quarter of the value's size.
  private static let roomyByteCount = 16 << 10

  /// Gives an entry's file new stamps, and a new attribute unless that is nil.
  ///
  /// The attribute is set first. If the stamps cannot be set after it, the entry keeps its older
  /// expiry, and the new lifetime cannot extend it beyond what was asked for.
  ///
  /// - Returns: The file's status afterwards.
  func stamp(
    _ file: borrowing FileDescriptor, _ attribute: EntryAttribute?, access: Timestamp,
    expiry: Timestamp, in handle: DirectoryHandle
  ) throws(Errno) -> FileStatus {
    do throws(Errno) {
      if let attribute { try file.setAttribute(.entry, to: attribute.fitted.bytes) }
    } catch .notSupported, .noData {
      // A file system without attributes: name and stamps alone make the file an entry.
    }
    try file.setTimes(access: access, modification: holdable(expiry, in: handle))
    if configuration.durability == .durable { try file.synchronize() }
    return try file.status()
  }
}

// The range of the expiries that a network file system can hold.
//
// CephFS and SFTP keep seconds in 32 bits without an error for more: never, 2³³ seconds, becomes
// 1970. A reader on another machine that meets such a stamp misses the entry, and a sweep there
// removes it. So the range is tried out on files that are no entries yet, and a published file
// never gets a stamp outside of it.
extension EntryWriter {
  /// 2³¹ − 1 s: every file system can hold it, and readers take it for never.
  private static let heldEverywhere = Timestamp(seconds: 1 << 31 - 1)
  /// The ends of the ranges with more bits. The last one is read as never too.
  private static let ends = [Timestamp.never, Timestamp(seconds: 1 << 32 - 1)]

  /// Returns the expiry to set on a file: the one that is meant, or the latest that the file system
  /// can hold, which is read as never. If that is unknown, tries it out on a temporary.
  func holdable(_ expiry: Timestamp, in handle: DirectoryHandle) -> Timestamp {
    if !handle.fileSystem.isNetwork || expiry <= Self.heldEverywhere { return expiry }
    var latest = Timestamp(seconds: latestExpiry.load(ordering: .relaxed))
    if latest.seconds == 0 {
      latest = Self.heldEverywhere
      do throws(Errno) {
        let file = try StagedFile.named(in: handle, permissions: configuration.permissions)
        for end in Self.ends where latest == Self.heldEverywhere {
          try file.descriptor.setTimes(access: nil, modification: end)
          // Some file systems clamp a stamp to one that is read as never.
          if try file.descriptor.status().modification.asExpiry == .never { latest = end }
        }
        latestExpiry.store(latest.seconds, ordering: .relaxed)
      } catch {
        // No file could be made or stamped. The value is kept for good rather than lost.
      }
    }
    return min(expiry, latest)
  }
}
