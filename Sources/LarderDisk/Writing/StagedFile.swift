import LarderBasics
import LarderDigest
package import LarderSystem

/// A file in the cache's directory that is being written and is not an entry yet.
///
/// A staged file that is not published leaves nothing behind. The system takes back an unnamed one,
/// a temporary is unlinked when the value ends, and a temporary left by a crash is found unlocked
/// by the next scan.
package struct StagedFile: ~Copyable, Sendable {
  /// Open until the value ends, which also ends the lock on a temporary.
  package let descriptor: FileDescriptor
  /// The directory in which the file was made, even if another is held by now.
  let handle: DirectoryHandle
  /// The name to be unlinked at the end; nil for an unnamed file and after the file is published.
  private(set) var temporary: TemporaryName?
  // Updated as bytes are written, so that no value is read again to be sealed.
  package private(set) var hash = ContentHash()
  private(set) var byteCount = 0
  /// Whether the file has its entry's name.
  private(set) var isPublished = false
  /// Whether a flush was tried, which may have lost what was written.
  var isFlushed = false
  private let forkCount = ProcessIdentity.forkCount

  deinit {
    guard let temporary, forkCount == ProcessIdentity.forkCount else { return }
    // If that fails the file stays, unlocked, for the next scan, and its name is not used again.
    do throws(Errno) { try temporary.remove(in: handle) } catch {}
  }

  /// Makes a temporary and locks it before a scan can take it for one that was left behind.
  package static func named(
    in handle: DirectoryHandle, permissions: UInt32
  ) throws(Errno) -> StagedFile {
    // More than a few scans do not come between. Not for ever, should every lock be refused.
    for _ in 0..<100 {
      let name = TemporaryName(in: handle)
      do throws(Errno) {
        let descriptor = try handle.create(name.fileName, permissions: permissions)
        let file = StagedFile(descriptor: descriptor, handle: handle, temporary: name)
        // A scan between the creation and the lock has removed the file, or is about to.
        guard file.descriptor.tryLockIfAny(.exclusive) else { continue }
        if try file.descriptor.status().linkCount > 0 { return file }
      } catch .fileExists {
        // See `TemporaryName.taken`.
      }
    }
    throw .wouldBlock
  }

  /// Adds bytes to the content.
  ///
  /// After a failure the content is what it was, and the write can be tried again.
  package mutating func write(_ bytes: Span<UInt8>) throws(Errno) {
    do throws(Errno) {
      try descriptor.write(bytes)
    } catch {
      // In this order: a disk that is full may refuse to truncate, and another try writes there.
      try descriptor.seek(to: byteCount)
      try descriptor.truncate(to: byteCount)
      throw error
    }
    hash.update(bytes)
    byteCount += bytes.count
  }

  /// The free bytes with which any file system has a block for extended data that can fit. XFS
  /// keeps some hundred KiB back.
  private static let attributeRoom: UInt64 = 1 << 20

  /// Sets the attributes, with the hash in one of them; false if the file system has none.
  func setAttributes(
    _ seal: Seal, _ form: KeyProof.Form, permissions: UInt32, mayTryAgain: Bool = true
  ) throws(Errno) -> Bool {
    do throws(Errno) {
      // First, because the entry's attribute holds a hash over it.
      do throws(Errno) {
        if !seal.extendedData.isEmpty {
          try descriptor.setAttribute(.data, to: seal.extendedData)
        }
        try setEntryAttribute(seal, form)
      } catch .noSpace where !seal.extendedData.isEmpty {
        // Both may not fit into the blocks for attributes, which no eviction helps. The disk is
        // full only if it lacks a little room. See: man 2 setxattr, ENOSPC.
        let free = try handle.freeByteCount(forAttributes: true)
        throw free < Self.attributeRoom ? .noSpace : .argumentListTooLong
      }
      return true
      // mergerfs answers ENODATA where attributes are switched off.
    } catch .notSupported, .noData {
      return false
    } catch .permissionDenied where mayTryAgain {
      // The umask has taken away the owner's own right to write. The right to set an attribute
      // depends on the mode and not on how the file was opened. See: man 7 xattr.
      try descriptor.setPermissions(permissions)
      return try setAttributes(seal, form, permissions: permissions, mayTryAgain: false)
    }
  }

  /// Records the hash, and the key in a form; if that does not fit, the key's digest.
  private func setEntryAttribute(_ seal: Seal, _ form: KeyProof.Form) throws(Errno) {
    let hash = hash.finalize(with: seal.extendedData)
    func attribute(as form: KeyProof.Form) -> [UInt8] {
      seal.key.withBytes { EntryAttribute.bytes(hash, seal.lifetime, key: $0, as: form) }
    }
    do throws(Errno) {
      try descriptor.setAttribute(.entry, to: attribute(as: form))
    } catch {
      // The key did not fit beside the inode, and the disk need not be full. See: man 2 setxattr. A
      // disk that really is full fails again below, with the shorter attribute.
      let tooLarge: [Errno] = [.argumentListTooLong, .noSpace, .quotaExceeded]
      guard form != .digest, tooLarge.contains(error) else { throw error }
      try descriptor.setAttribute(.entry, to: attribute(as: .keyWithin(0)))
    }
  }

  /// Gives the file its name; false if it must replace no other file and there is one.
  ///
  /// RENAME_NOREPLACE and linkat, not a look and a rename, so that exactly one process wins.
  package mutating func publish(as name: FileName, isExclusive: Bool) throws(Errno) -> Bool {
    do throws(Errno) {
      switch temporary?.fileName {
      case nil: try handle.link(descriptor, as: name)
      case let old? where isExclusive: try handle.renameExclusively(old, to: name)
      case let old?: try handle.rename(old, to: name)
      }
    } catch .fileExists where isExclusive {
      return false
    } catch .fileExists where temporary == nil {
      // linkat replaces nothing, but a rename from another name does. The lock comes first, so that
      // no scan finds the file unlocked.
      descriptor.tryLockIfAny(.exclusive)
      temporary = try TemporaryName.taken(in: handle) { name throws(Errno) in
        try handle.link(descriptor, as: name)
      }
      return try publish(as: name, isExclusive: false)
    }
    // Nothing is left to clean up, and no fork has a copy of the file that keeps the lock.
    if let taken = exchange(&temporary, with: nil) {
      taken.giveBack()
      do throws(Errno) { try descriptor.unlock() } catch {}
    }
    isPublished = true
    return true
  }

  /// Whether the file system finds open files by their paths, tried with two files.
  ///
  /// 1. A second name of a file has an inode of its own. libfuse hides an open file from its
  ///    replacement by this machine, so that sshfs passes the next trial.
  /// 2. A file that has taken the name of an open one shows in the open one, which is opened after
  ///    it is written, because the kernel may keep the pages that were written.
  static func areFoundByPath(in handle: DirectoryHandle) throws(Errno) -> Bool {
    var old = try named(in: handle, permissions: 0o600)
    var new = try named(in: handle, permissions: 0o600)
    guard let name = old.temporary?.fileName, try !old.hasTwoInodes() else { return true }
    try old.write([0].span)
    try new.write([1].span)
    let file = try handle.openForReading(name)
    _ = try new.publish(as: name, isExclusive: false)
    do throws(Errno) {
      return try file.read(upTo: 1) != [0]
    } catch {
      // On some file systems a replaced file cannot be read any more.
      return false
    }
  }

  /// Whether a second name has another inode; false if a file can have no second name.
  private func hasTwoInodes() throws(Errno) -> Bool {
    let second = TemporaryName(in: handle)
    do throws(Errno) {
      try handle.link(descriptor, as: second.fileName)
    } catch {
      return false
    }
    let inode = try handle.status(of: second.fileName).inode
    try second.remove(in: handle)
    return try descriptor.status().inode != inode
  }

  /// Removes the temporaries of writers that are gone, which are those that can be locked.
  ///
  /// - Parameter time: Returns the time by the directory's clock.
  package static func removeLeftovers(
    _ names: [FileName], in handle: DirectoryHandle, at time: () -> Timestamp
  ) {
    for name in names {
      do throws(Errno) {
        let file = try handle.openForLocking(name)
        let status = try file.status()
        guard status.isRegular else { continue }
        // On a network file system it must have been unchanged for an hour in two cases: if another
        // machine's lock may not show, and if it is empty. A writer locks its file before the first
        // byte, and MooseFS shows the links that a file had when it was made, so the writer would
        // not see that its file was removed before the lock.
        let fileSystem = handle.fileSystem
        let showsLocks =
          !fileSystem.isNetwork || fileSystem.sharesFileLocks && status.byteCount > 0
        guard showsLocks || time().duration(since: status.change) > .seconds(3600),
          try file.tryLock(.exclusive)
        else { continue }
        // The name may have passed to another file between the opening and the lock.
        _ = try handle.remove(name) { $0.identity == status.identity }
      } catch {
        // Published or removed meanwhile, or not removable by this process.
      }
    }
  }

  /// Replaces the content with that of another file.
  ///
  /// Shares the blocks or copies inside the kernel if the file system can, and copies in pieces
  /// through memory if it cannot. The hash is of the bytes that arrived. If the source is written
  /// to meanwhile, the value is intact but mixes states of two moments.
  ///
  /// - Complexity: O(bytes) for the hash, which reads the content once, in constant memory.
  package mutating func copyContent(of source: borrowing FileDescriptor) throws(Errno) {
    // Both files start at the beginning, even after an attempt that ended in the middle.
    try startAgain(source)
    var isCopied = false
    do throws(Errno) {
      while try descriptor.copy(from: source, upTo: 1 << 30) > 0 { isCopied = true }
    } catch .noSpace {
      throw .noSpace
    } catch {
      isCopied = false
    }
    guard isCopied else {
      // Files under /proc have the length 0 until they are read.
      try startAgain(source)
      var piece = [UInt8](repeating: 0, count: 256 << 10)
      while true {
        let count = try source.read(into: &piece)
        if count == 0 { return }
        try write(piece.span.extracting(..<count))
      }
    }
    try descriptor.seek(to: 0)
    hash = try ContentHash(ofRest: descriptor)
    byteCount = Int(clamping: try descriptor.status().byteCount)
  }

  private mutating func startAgain(_ source: borrowing FileDescriptor) throws(Errno) {
    try descriptor.truncate(to: 0)
    try descriptor.seek(to: 0)
    (hash, byteCount) = (ContentHash(), 0)
    try source.seek(to: 0)
  }
}

extension FileDescriptor {
  /// Locks the open file for as long as it is open, and returns whether no other process holds the
  /// lock. True also if the file system has no locks, because then no other process has one either.
  @discardableResult
  package func tryLockIfAny(_ lock: FileLock) -> Bool {
    do throws(Errno) {
      return try tryLock(lock)
    } catch {
      return true
    }
  }
}

/// The facts that are written beside the content.
struct Seal: Sendable {
  var key: CacheKey
  var lifetime: Lifetime
  var lastAccess: Timestamp
  var expiry: Timestamp
  var extendedData: [UInt8]
  /// A time before the stamps are set, by this machine's clock.
  var begin: Timestamp
}
