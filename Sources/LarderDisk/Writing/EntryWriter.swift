import LarderBasics
import LarderSystem
import Synchronization

/// Writes values into files that nobody sees until they are whole, and publishes them.
final class EntryWriter: Sendable {
  private let permissions: UInt32
  private let isDurable: Bool
  private let recordsKeys: Bool
  /// Whether the file system has turned unnamed files down.
  private let lacksUnnamedFiles: Atomic<Bool>
  /// Who the process is, settled at the opening like whose files are trusted.
  private let user = ProcessIdentity.user

  /// Whether another machine keeps the files: what was written is handed over before it is
  /// published, and what a stamp was set to is asked for again, because the file system may hold
  /// less and not say so.
  private let networkMark: Atomic<Bool>
  private var isOnNetwork: Bool { networkMark.load(ordering: .relaxed) }

  init(_ configuration: DiskCache.Configuration, _ fileSystem: FileSystemKind) {
    permissions = configuration.permissions
    isDurable = configuration.durability == .durable
    recordsKeys = configuration.recordKeys == .always
    lacksUnnamedFiles = Atomic(Self.lacksUnnamedFiles(on: fileSystem))
    networkMark = Atomic(fileSystem.isNetwork)
  }

  /// Whether a file system is known without asking to have no unnamed files.
  private static func lacksUnnamedFiles(on fileSystem: FileSystemKind) -> Bool {
    // Without a privilege, a file gets its name through /proc alone.
    // No network file system has unnamed files; asking would cost each engine a round trip.
    !SystemEnvironment.hasDescriptorPaths || fileSystem.isNetwork
  }

  /// Goes by another file system from now on, which the directory is on that was opened last.
  func note(_ fileSystem: FileSystemKind) {
    networkMark.store(fileSystem.isNetwork, ordering: .relaxed)
    lacksUnnamedFiles.store(Self.lacksUnnamedFiles(on: fileSystem), ordering: .relaxed)
  }

  /// Starts a file. Without a name where the name to be is free and the file system can; otherwise
  /// as a temporary, locked for as long as it is open.
  ///
  /// - Throws: `.noSuchFile` when the directory is gone, `.noSpace` and what else opening says.
  func stage(in handle: DirectoryHandle, isNew: Bool) throws(Errno) -> StagedFile {
    // Without a name a crash leaves nothing behind; but only linkat can give one later, and it
    // replaces nothing. Where the name is taken a temporary saves the second name.
    // A durable file has one from the beginning: on ext4 without a journal the sync would leave it on
    // the disk as a file with no link, which `e2fsck` removes whatever name leads to it.
    let file =
      try isNew && !isDurable
      ? stageUnnamed(in: handle) : StagedFile.named(in: handle, permissions: permissions)
    if user == 0 && handle.owner != 0 {
      // Root works for the directory's owner, who must be able to use and remove the file.
      try file.descriptor.setOwner(handle.owner, group: handle.group)
    }
    // open narrows by the umask; a group's files must not depend on it.
    if permissions != 0o600 { try file.descriptor.setPermissions(permissions) }
    return file
  }

  /// Falls back to a temporary: for good where the filesystem knows no unnamed files, for this time
  /// where the directory is the trouble.
  private func stageUnnamed(in handle: DirectoryHandle) throws(Errno) -> StagedFile {
    if lacksUnnamedFiles.load(ordering: .relaxed) {
      return try StagedFile.named(in: handle, permissions: permissions)
    }
    do throws(Errno) {
      let descriptor = try handle.createUnnamed(permissions: permissions)
      return StagedFile(descriptor, in: handle, temporary: nil)
    } catch .notSupported, .isDirectory, .invalidArgument {
      // See: man 2 open, O_TMPFILE: EOPNOTSUPP, and EISDIR from kernels that do not know it.
      lacksUnnamedFiles.store(true, ordering: .relaxed)
      return try StagedFile.named(in: handle, permissions: permissions)
    } catch .notPermitted, .noSuchFile {
      // In a removed directory O_TMPFILE says EPERM; O_CREAT says ENOENT, which leads to the cure.
      return try StagedFile.named(in: handle, permissions: permissions)
    }
  }

  /// Gives a complete file its attributes and stamps, so that it can be published.
  ///
  /// The order matters: attributes change the change time but not the stamps, writing changes the
  /// stamps; so the stamps come last. Then the data is synced, if it has to be, with all of it:
  /// always where the file system refuses attributes, because after a power cut nothing would tell
  /// a file of zeros, or an empty one, from the value.
  func seal(_ file: borrowing StagedFile, _ seal: Seal) throws(CacheError) {
    do throws(Errno) {
      let isTold = try setAttributesWhateverTheUmask(of: file, seal)
      // Without attributes the value alone can be kept, but not what the caller counts on beside
      // it.
      if !isTold && !seal.extendedData.isEmpty { throw .notSupported }
      if isOnNetwork {
        // Before the stamps, which a late write would move; and a write that failed on the server
        // is not known of before.
        try file.descriptor.flush()
        try file.descriptor.setStamps(lastAccess: seal.lastAccess, expiry: seal.expiry)
      } else {
        try file.descriptor.setTimes(access: seal.lastAccess, modification: seal.expiry)
      }
      if isDurable || !isTold { try file.descriptor.synchronizeData() }
    } catch {
      let isData = error == .notSupported || error == .argumentListTooLong
      throw isData && !seal.extendedData.isEmpty
        ? CacheError(.extendedDataUnsupported, operation: "store", errno: error)
        : CacheError(errno: error, operation: "store")
    }
  }

  /// Sets the attributes, also where the umask has taken away the owner's own right to write: an
  /// attribute goes by the mode and not by how the file was opened. See: man 7 xattr.
  private func setAttributesWhateverTheUmask(
    of file: borrowing StagedFile, _ seal: Seal
  ) throws(Errno) -> Bool {
    do throws(Errno) {
      return try setAttributes(of: file, seal)
    } catch .permissionDenied {
      try file.descriptor.setPermissions(permissions)
      return try setAttributes(of: file, seal)
    }
  }

  /// Sets the attributes; false where the file system has none.
  private func setAttributes(
    of file: borrowing StagedFile, _ seal: Seal
  ) throws(Errno) -> Bool {
    do throws(Errno) {
      // First, because the entry's attribute holds a hash over it.
      if !seal.extendedData.isEmpty { try setData(of: file, seal.extendedData) }
      try setEntryAttribute(of: file, seal)
      return true
    } catch .notSupported {
      return false
    }
  }

  /// Sets the caller's attribute. That it does not fit beside the inode says nothing of the disk:
  /// it is reported as too long, so that nobody evicts for it. See: man 2 setxattr, ENOSPC.
  private func setData(of file: borrowing StagedFile, _ data: [UInt8]) throws(Errno) {
    do throws(Errno) {
      try file.descriptor.setAttribute(.data, to: data)
    } catch .noSpace, .quotaExceeded {
      throw .argumentListTooLong
    }
  }

  /// Records the key if it may and can, else its digest.
  private func setEntryAttribute(
    of file: borrowing StagedFile, _ seal: Seal
  ) throws(Errno) {
    let hash = file.contentHash(with: seal.extendedData)
    func attribute(recordsKey: Bool) -> [UInt8] {
      seal.key.withBytes {
        EntryAttribute.bytes(hash, seal.lifetime, key: $0, recordsKey: recordsKey)
      }
    }
    do throws(Errno) {
      try file.descriptor.setAttribute(.entry, to: attribute(recordsKey: recordsKeys))
    } catch {
      // The key did not fit beside the inode: that is not yet a full disk. See: man 2 setxattr.
      // A disk that really is full fails again below, with the shorter attribute.
      let tooLarge: [Errno] = [.argumentListTooLong, .noSpace, .quotaExceeded]
      guard recordsKeys, tooLarge.contains(error) else { throw error }
      try file.descriptor.setAttribute(.entry, to: attribute(recordsKey: false))
    }
  }

  /// What is written beside the content.
  struct Seal: Sendable {
    var key: CacheKey
    var lifetime: Lifetime
    var lastAccess: Timestamp
    var expiry: Timestamp
    var extendedData: [UInt8]
  }

  /// Makes a sealed file visible under its name, in the place of what had it; or, exclusively, only
  /// where nothing has it.
  ///
  /// - Returns: The file's status afterwards; nil when the name was taken.
  func publish(
    _ file: inout StagedFile, as name: FileName, isExclusive: Bool
  ) throws(Errno) -> FileStatus? {
    guard try file.publish(as: name, isExclusive: isExclusive) else { return nil }
    // After the name was given: it is the directory that has to outlast a power cut now.
    if isDurable { try file.handle.descriptor.synchronize() }
    let status = try file.descriptor.status()
    // The umask may have taken bits away. Changing them moves the change time, so the status is
    // asked for again.
    if status.permissions & 0o777 == permissions { return status }
    try file.descriptor.setPermissions(permissions)
    return try file.descriptor.status()
  }
}
