import LarderBasics
import LarderSystem

/// A name that this thread holds: the only way to give it to a file, or to take it away.
///
/// Meanwhile no other thread of this process changes the file; another process may.
struct HeldName: ~Copyable {
  let name: EntryName
  /// The numbers of clearings and of directory replacements when the name was taken.
  let epoch: NameLocks.Epoch
  /// The phase of the engine then.
  let phase: Phase

  /// What a look at a file must show, so that the file goes.
  enum Judged {
    /// That it is an entry's.
    case entry
    /// The file that was judged. Every store, stamp and use changes the inode or the change time.
    ///
    /// On CephFS the change time can be the expiry, and a use that extends nothing moves the last
    /// access alone: a file with a use since the last that the judgement knew, and until now, is
    /// not meant. Nil if uses do not matter.
    case exactly(
      inode: UInt32, changeTime: Timestamp, used: (last: Timestamp, now: Timestamp)? = nil)
    /// The file that was met, whatever stamp, link, owner or attribute it has been given since.
    case unwritten(IndexedEntry)

    static func exactly(_ status: FileStatus) -> Judged {
      .exactly(inode: status.inodeMark, changeTime: status.change)
    }

    fileprivate func admits(_ status: FileStatus, _ trust: EntryTrust) -> Bool {
      switch self {
      case .entry: return status.isRegular && trust.isTrusted(status)
      case .exactly(let inode, let changeTime, let used):
        let isKnown = status.inodeMark == inode && status.change == changeTime
        guard isKnown, status.change == status.modification, let used else { return isKnown }
        let isAhead = status.lastAccess >= used.now.adding(seconds: 1)
        return status.lastAccess <= used.last || isAhead
      case .unwritten(let entry):
        return status.inodeMark == entry.inode
          && min(status.byteCount, IndexedEntry.maximumByteCount) == entry.byteCount
      }
    }
  }

  /// Gives a sealed file the name, in place of any file there, or only if the name is free.
  ///
  /// - Returns: The file's status afterwards; nil if the name was not free.
  func publish(
    _ file: inout StagedFile, mustBeFree: Bool, _ configuration: DiskCache.Configuration
  ) throws(Errno) -> FileStatus? {
    guard try file.publish(as: name.fileName, isExclusive: mustBeFree) else { return nil }
    // After the file has its name, the directory has to survive a power cut too.
    if configuration.durability == .durable { try file.handle.descriptor.synchronize() }
    let status = try file.descriptor.status()
    // The umask may have taken bits. Setting them moves the change time: the status is read again.
    if status.permissions & 0o777 == configuration.permissions { return status }
    try file.descriptor.setPermissions(configuration.permissions)
    return try file.descriptor.status()
  }

  /// Removes the file if it is still the one that was judged, and never another one.
  ///
  /// A value that another process stores between a look and an unlink would be removed. So the file
  /// is moved aside first and looked at under a name that no other process uses. If it is not the
  /// judged file, it is moved back unless a newer one has come. A reader may miss it meanwhile.
  ///
  /// The caller keeps the judged file open, so that no other file gets its inode number.
  ///
  /// - Returns: Whether it was removed; false if the name has no file or another one now.
  func withdraw(_ judged: FileStatus, in handle: DirectoryHandle) throws(Errno) -> Bool {
    // A directory could be moved aside but not removed.
    if judged.isDirectory { throw .isDirectory }
    let aside: TemporaryName
    do throws(Errno) {
      aside = try TemporaryName.taken(in: handle) { aside throws(Errno) in
        try handle.renameExclusively(name.fileName, to: aside)
      }
    } catch .noSuchFile {
      return false
    }
    // Another expiry shows that another process has touched the file.
    let isRemoved = try aside.remove(in: handle) {
      $0.identity == judged.identity && $0.modification == judged.modification
    }
    if isRemoved { return true }
    do throws(Errno) {
      try handle.renameExclusively(aside.fileName, to: name.fileName)
      aside.giveBack()
    } catch .fileExists {
      try aside.remove(in: handle)
    }
    return false
  }

  /// Removes a file that holds no value, for a store that must find none.
  ///
  /// - Parameter isHidden: Whether the file counts as gone here. It may then be locked by the store
  ///   that published it, which has not returned yet.
  /// - Returns: Whether it is gone; false if the name has another file, nil if it is being removed.
  func makeWay(
    of occupant: FileStatus, in handle: DirectoryHandle, isHidden: @autoclosure () -> Bool
  ) throws(Errno) -> Bool? {
    do throws(Errno) {
      let file = try handle.openForLocking(name.fileName)
      // Locked, so that only one of several exclusive stores removes it.
      guard try file.tryLock(.exclusive) || isHidden() else { return nil }
      guard try file.status().identity == occupant.identity else { return false }
      let isGone = try withdraw(occupant, in: handle)
      // Keeps the file open and locked until here.
      _ = file.rawValue
      return isGone
    } catch .noSuchFile {
      return true
    } catch {
      // It cannot be opened, or cannot be locked, as on some network file systems.
      return try withdraw(occupant, in: handle)
    }
  }

  /// Returns the status of a file that was just published.
  ///
  /// If `fstat` fails, the status of the name is taken, provided that it has this store's length
  /// and stamps. Two stores have the same last access only within one tick of the clock.
  func status(of file: borrowing StagedFile, _ seal: Seal) throws(Errno) -> FileStatus {
    do throws(Errno) {
      return try file.descriptor.status()
    } catch {
      let status = try file.handle.status(of: name.fileName)
      guard status.byteCount == UInt64(file.byteCount), status.lastAccess == seal.lastAccess,
        status.modification.asExpiry == seal.expiry
      else { throw error }
      return status
    }
  }
}

extension HeldName {
  /// Removes the file if a look at it shows what was judged.
  func unlink(
    _ judged: Judged, in handle: DirectoryHandle, trusting trust: EntryTrust
  ) throws(Errno) -> RemovalOutcome {
    do throws(Errno) {
      // `remove` stands at the end of this file.
      let other = try handle.remove(name.fileName) { judged.admits($0, trust) }
      return other.map { .changed(trust.entry(name, $0)) } ?? .removed
    } catch .noSuchFile, .staleHandle {
      return .changed(nil)
    }
  }
}

/// The outcome of a removal.
enum RemovalOutcome: Sendable {
  case removed
  /// The file was used, changed or replaced since it was judged, and stays. With nil, the name
  /// has no entry now, or was passed over.
  case changed(IndexedEntry?)
  /// The file stays, because it could not be removed.
  case failed(Errno)

  /// Whether the file's blocks are free.
  var hasFreed: Bool {
    switch self {
    case .removed, .changed(nil): true
    case .changed, .failed: false
    }
  }

  var isRemoved: Bool { if case .removed = self { true } else { false } }

  /// Whether the directory or its mount refuses every removal. A single file that is immutable, or
  /// another user's in a sticky directory, fails with EPERM.
  var isRefusal: Bool {
    switch self {
    case .failed(.permissionDenied), .failed(.readOnlyFileSystem): true
    default: false
    }
  }
}

extension BulkRemoval {
  /// Makes the outcome of the removal of one entry.
  init(_ outcome: RemovalOutcome, of byteCount: UInt64) {
    switch outcome {
    case .removed: (removed, self.byteCount) = (1, Int(clamping: byteCount))
    case .failed: failed = 1
    case .changed: break
    }
  }
}

extension DirectoryHandle {
  /// Removes a file if a look at it shows what is meant. The one place in LarderDisk that unlinks,
  /// but for a rename where there is no RENAME_NOREPLACE (`DirectoryHandle.renameExclusively`).
  ///
  /// There is no unlink by descriptor, so a file that another process puts under the name between
  /// the look and the unlink is lost: a value, as if evicted.
  ///
  /// - Returns: The status of a file that is not meant and stays; nil if it was removed.
  @inline(__always)
  func remove(_ name: FileName, if isMeant: (FileStatus) -> Bool) throws(Errno) -> FileStatus? {
    let status = try self.status(of: name)
    guard isMeant(status) else { return status }
    try unlink(name)
    return nil
  }
}
