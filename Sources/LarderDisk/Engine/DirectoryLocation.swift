package import LarderBasics
package import LarderSystem
import Synchronization

/// The location of a cache: the open directory, and the parent in which it can be made again.
package final class DirectoryLocation: Sendable {
  /// The path of the directory. Links were resolved once, at opening. If the path was longer then
  /// than the system takes, it is as the caller gave it.
  package let path: String
  /// The directory's name in its parent. It is nil for `/`, and if the parent cannot be opened.
  private let name: String?
  /// The directory that is held now, and the parent directory, held open because a directory
  /// further up may be renamed or replaced. It is replaced only if it is removed or its mount lost.
  // A handle is a class. An operation that took it before a replacement finishes with the old
  // directory, and the descriptor closes when the last such operation has ended.
  private let held: ForkSafeMutex<(directory: DirectoryHandle, parent: DirectoryHandle?)>
  private let configuration: DiskCache.Configuration
  /// The time of the last check of the path, in nanoseconds of the monotonic clock.
  private let lastCheck: Atomic<Int64>
  private let checkPause: Int64
  private let unsafeMark: Atomic<Bool>
  // Apart from the handle, which is behind a lock.
  private let networkMark: Atomic<Bool>
  /// Whether the directory was moved away, and its path has not led to one again since.
  let isAstray = Atomic<Bool>(false)

  /// The directory that is held now.
  package var handle: DirectoryHandle { held.withLock { $0.directory } }
  private var parent: DirectoryHandle? { held.withLock { $0.parent } }

  /// Gives the descriptors back. A call that runs keeps those that it took, and one that takes the
  /// directory later fails with EBADF.
  func close() {
    let closed = DirectoryHandle(afterClosing: handle)
    // Closed outside of the lock, because closing can take long.
    _ = held.withLock { exchange(&$0, with: (closed, nil)) }
  }

  /// Whether an untrusted user owns the directory that is held now or can write to it.
  var isUnsafe: Bool { unsafeMark.load(ordering: .relaxed) }
  /// Whether other machines may share the directory that is held now.
  var isOnNetwork: Bool { networkMark.load(ordering: .relaxed) }

  /// Opens a cache's directory; if the configuration allows it, makes and marks a missing one.
  ///
  /// - Throws: `CacheError`: `.unsafeDirectory`, `.directoryMissing`, `.notADirectory`,
  ///   `.permissionDenied`, or the code of another system error.
  package init(_ path: String, _ configuration: DiskCache.Configuration) throws(CacheError) {
    // An empty path names no directory. A NUL would cut the path off and open another directory.
    if path.isEmpty || path.utf8.contains(0) {
      throw CacheError(
        .invalidArgument, operation: "open", path: path,
        underlying: path.isEmpty ? "the path is empty" : "the path holds a NUL")
    }
    do throws(Errno) {
      let (handle, resolved, wasMade) = try Self.reach(path, configuration)
      let (parent, name) = try Self.parent(of: resolved, faults: configuration.faults)
      unsafeMark = Atomic(try Self.claim(handle, wasMade: wasMade, configuration))
      networkMark = Atomic(handle.fileSystem.isNetwork)
      (self.path, self.name, self.configuration) = (resolved, name, configuration)
      held = ForkSafeMutex((handle, parent))
      lastCheck = Atomic(MonotonicTime.coarse.nanoseconds)
      checkPause = Int64(configuration.pathCheckPause / .nanoseconds(1))
    } catch {
      throw Self.error(error, "open", path)
    }
  }

  /// Opens the directory at a path. If it is missing and may be made, makes it first.
  ///
  /// - Returns: The directory, its path with links resolved, and whether it was made.
  private static func reach(
    _ path: String, _ configuration: DiskCache.Configuration
  ) throws(Errno) -> (DirectoryHandle, resolved: String, wasMade: Bool) {
    let mayMake = mayMake(configuration)
    var (wasMade, attempts) = (false, 0)
    while true {
      do throws(Errno) {
        let handle = try DirectoryHandle.open(path: path, faults: configuration.faults)
        // The path is read from the open descriptor, so that the two agree if a link changes.
        let resolved = try handle.resolvedPath(openedAs: path)
        if resolved == path { return (handle, resolved, wasMade) }
        // A link was followed, or the directory was moved after it was opened. Then the path is
        // opened again, because a new directory there would never be noticed.
        let present = try DirectoryHandle.open(path: path, faults: configuration.faults)
        if present.identity == handle.identity { return (handle, resolved, wasMade) }
        wasMade = false
      } catch .noSuchFile where mayMake && attempts < 10 {
        // Only if it is missing: NFS refuses to make what exists where the parent is not writable.
        // A dangling link gives the same error every time, so the rounds are limited.
        attempts += 1
        wasMade = try DirectoryMaking.makeDirectories(
          path, permissions: configuration.directoryPermissions, configuration)
      }
    }
  }

  private static func mayMake(_ configuration: DiskCache.Configuration) -> Bool {
    !configuration.mode.isReadOnly && configuration.makesDirectory
  }

  /// What `claim` throws for an unsafe directory: a number that no system call fails with.
  static let refusal = Errno(rawValue: 0)

  /// Returns the error for a directory that cannot be opened or followed.
  private static func error(_ errno: Errno, _ operation: String, _ path: String) -> CacheError {
    errno == refusal
      ? CacheError(.unsafeDirectory, operation: operation, path: path)
      : CacheError(errno: errno, operation: operation, path: path)
  }

  /// Opens the parent directory, and returns it with the directory's name in it. Both are nil for
  /// `/` and for a parent that cannot be opened.
  private static func parent(
    of path: String, faults: FaultInjector?
  ) throws(Errno) -> (DirectoryHandle?, String?) {
    // The text of a path that is not UTF-8, as a link may lead to, names another directory.
    guard path.hasPrefix("/"), !path.unicodeScalars.contains("\u{FFFD}"),
      let name = path.split(separator: "/").last, let above = DirectoryMaking.parentPath(of: path)
    else { return (nil, nil) }
    do throws(Errno) {
      // The dot asks for the right to search it. A parent like /home need not be readable.
      let parent = try DirectoryHandle.open(path: above + "/.", toRead: false, faults: faults)
      return (parent, String(name))
    } catch .permissionDenied, .noSuchFile {
      // The cache works without its parent, but its directory is not made again.
      return (nil, nil)
    }
  }

  /// Checks the trust in a directory, and marks it as a cache if it may be made.
  ///
  /// - Returns: Whether an untrusted user owns the directory or can write to it.
  /// - Throws: `refusal` for such a directory, and `.permissionDenied` for one of the system,
  ///   unless the configuration accepts them or the cache only reads.
  private static func claim(
    _ handle: DirectoryHandle, wasMade: Bool, _ configuration: DiskCache.Configuration
  ) throws(Errno) -> Bool {
    let status = try handle.descriptor.status()
    let isMember = configuration.sharesWithGroup && ProcessIdentity.isMember(of: status.group)
    let objection = objection(
      to: status, user: ProcessIdentity.user, group: ProcessIdentity.group,
      sharesWithGroup: configuration.sharesWithGroup, isMember: isMember)
    let accepts = configuration.mode.isReadOnly || configuration.allowsUnsafeDirectory
    if let objection, !accepts { throw objection }
    // Only after the check, because nothing is written into an untrusted directory.
    if mayMake(configuration) { try DirectoryMaking.mark(handle, wasMade: wasMade, configuration) }
    return objection == refusal
  }

  /// Returns the error of a directory whose owner and mode let other users plant entries in it, or
  /// the caller store nothing; nil if only the caller, root, and the caller's own group or the
  /// group that the cache is shared with can write to it.
  ///
  /// Access lists are not read, because their mask shows in the group's bits. See: man 5 acl.
  ///
  /// - Parameters:
  ///   - user: The caller.
  ///   - group: The caller's own group.
  ///   - sharesWithGroup: Whether the cache is shared with the directory's group.
  ///   - isMember: Whether the caller is a member of that group.
  /// - Returns: `refusal` if another user owns it or can write to it; `.permissionDenied` for a
  ///   system directory, to which only root can write.
  static func objection(
    to status: FileStatus, user: UInt32, group: UInt32, sharesWithGroup: Bool, isMember: Bool
  ) -> Errno? {
    let isOwn = status.owner == user
    if status.isWritableByOthers { return refusal }
    if status.owner == 0 && !isOwn && !status.isWritableByGroup { return .permissionDenied }
    // A cache that is shared with a group trusts its members, and one of them made the directory.
    if sharesWithGroup && isMember { return nil }
    if status.owner != 0 && !isOwn { return refusal }
    let isOthersGroup = status.isWritableByGroup && !sharesWithGroup && status.group != group
    return isOthersGroup ? refusal : nil
  }

  /// Takes the lock that the mode asks for on the directory that is held.
  ///
  /// - Returns: The error of a lock that cannot be had, as on a file system without locks, where no
  ///   other process holds one either; nil if it is held or the mode asks for none.
  func lock() throws(CacheError) -> Errno? {
    let lock: FileLock
    switch configuration.mode {
    case .readOnly, .fixture: return nil
    case .shared: lock = .shared
    case .exclusive:
      // On a network file system, a lock on a directory does not exclude other machines.
      guard !isOnNetwork else {
        throw CacheError(.exclusiveUnsupported, operation: "open", path: path)
      }
      lock = .exclusive
    }
    // Tried with two files if the name of the file system does not tell.
    let findsFilesByPath =
      if let known = handle.fileSystem.findsFilesByPath {
        known
      } else {
        try attempt("open", at: path, StagedFile.areFoundByPath(in: handle))
      }
    guard !findsFilesByPath else {
      throw CacheError(.writingUnsupported, operation: "open", path: path)
    }
    do throws(Errno) {
      if try handle.descriptor.tryLock(lock) { return nil }
    } catch {
      return error
    }
    throw CacheError(lockOn: handle.identity, operation: "open", path: path)
  }

  /// Whether the path leads to the directory that is held.
  var isAtPath: Bool {
    guard let parent, let name else { return true }
    do throws(Errno) {
      return try parent.statusFollowingLinks(of: name).identity == handle.identity
    } catch {
      return false
    }
  }

  /// Checks that the path still leads to the directory that is held. If not, holds the directory
  /// that it leads to. If there is none and `mayMake` is true, makes it first.
  ///
  /// Checks once a second at most, unless `isUrgent` or if the path is known to lead elsewhere.
  ///
  /// - Returns: Whether another directory is held now.
  func revalidate(isUrgent: Bool, mayMake: Bool, _ operation: String) throws(CacheError) -> Bool {
    let wasAstray = isAstray.load(ordering: .relaxed)
    guard isCheckDue(isUrgent || wasAstray) else { return false }
    do throws(Errno) {
      let isReplaced = try revalidate(mayMake: mayMake)
      if wasAstray && isAtPath { isAstray.store(false, ordering: .relaxed) }
      // The event of a move since that look may have been followed before the store.
      if wasAstray && !isAtPath { isAstray.store(true, ordering: .relaxed) }
      return isReplaced
    } catch {
      // Every call fails, not only one a second: the directory that is held is not the cache's.
      isAstray.store(true, ordering: .relaxed)
      throw Self.error(error, operation, path)
    }
  }

  private func revalidate(mayMake: Bool) throws(Errno) -> Bool {
    // What the engine has planned may wait for a thread.
    JobTimer.own.tryAgain()
    guard let parent, let name else { return false }
    do throws(Errno) {
      return try follow(name, in: parent, mayMake: mayMake)
    } catch .notConnected, .shutDown, .connectionAborted, .staleHandle {
      // The mount is lost, and the parent directory with it. The path may lead to a new mount.
      guard let fresh = try renewedParent() else { throw .notConnected }
      return try follow(name, in: fresh, mayMake: mayMake)
    } catch .noSuchFile {
      // The parent directory was removed. It is made again like the cache's own.
      let fresh = try renewedParent(mayMake: mayMake && configuration.makesDirectory)
      return if let fresh { try follow(name, in: fresh, mayMake: mayMake) } else { false }
    }
  }

  /// Holds the parent directory to which the path leads now, and returns it; nil if there is none.
  private func renewedParent(mayMake: Bool = false) throws(Errno) -> DirectoryHandle? {
    guard let fresh = try Self.parent(of: path, faults: configuration.faults).0 else {
      guard mayMake, let above = DirectoryMaking.parentPath(of: path) else { return nil }
      _ = try DirectoryMaking.makeDirectories(above, permissions: 0o700, configuration)
      return try renewedParent()
    }
    try checkMount(of: fresh)
    _ = held.withLock { exchange(&$0.parent, with: fresh) }
    return fresh
  }

  /// Checks that a directory which takes the place of a held one is on a mount as good.
  ///
  /// Between the loss of a mount and a new one, the path leads to what the mount covered. Nothing
  /// may be stored there, because no machine would find it later.
  ///
  /// - Throws: `.notConnected`.
  private func checkMount(of fresh: DirectoryHandle) throws(Errno) {
    let lost = handle.fileSystem
    if lost.isNetwork && !fresh.fileSystem.canReplace(lost) { throw .notConnected }
  }

  /// Holds the directory of a name in the parent, unless it is held already.
  ///
  /// - Returns: Whether another directory is held now.
  private func follow(
    _ name: String, in parent: DirectoryHandle, mayMake: Bool
  ) throws(Errno) -> Bool {
    var wasMade = false
    do throws(Errno) {
      // At most once a second, this is all that following a replaced directory costs.
      let status = try parent.statusFollowingLinks(of: name)
      if status.identity == handle.identity { return false }
    } catch .noSuchFile {
      guard mayMake, configuration.makesDirectory else {
        if try parent.descriptor.status().linkCount > 0 { return false }
        throw .noSuchFile
      }
      wasMade = try DirectoryMaking.makeOne(
        name, below: parent, permissions: configuration.directoryPermissions, configuration)
    }
    // No link is followed: the path was resolved, so another program put one there.
    let fresh = try parent.openDirectory(name)
    try checkMount(of: fresh)
    let isUnsafe = try Self.claim(fresh, wasMade: wasMade, configuration)
    // The one before is returned, because closing it under the lock can take long.
    let old = held.withLock { held -> DirectoryHandle? in
      // Another thread has replaced it already, or has closed both.
      if held.parent == nil || held.directory.identity == fresh.identity { return nil }
      unsafeMark.store(isUnsafe, ordering: .relaxed)
      networkMark.store(fresh.fileSystem.isNetwork, ordering: .relaxed)
      return exchange(&held.directory, with: fresh)
    }
    // A forked child would keep the lock.
    do throws(Errno) { try old?.descriptor.unlock() } catch {}
    return old != nil
  }

  /// Whether some thread has to check the path.
  var mustCheck: Bool {
    isAstray.load(ordering: .relaxed)
      || MonotonicTime.coarse.nanoseconds - lastCheck.load(ordering: .relaxed) >= checkPause
  }

  /// Whether this thread has to check the path: one thread a pause has to, and every urgent one.
  private func isCheckDue(_ isUrgent: Bool) -> Bool {
    let now = MonotonicTime.coarse.nanoseconds
    let last = lastCheck.load(ordering: .relaxed)
    guard isUrgent || now - last >= checkPause else { return false }
    // If several threads arrive at once, the one that moves the time checks the path.
    let isFirst = lastCheck.compareExchange(expected: last, desired: now, ordering: .relaxed)
    return isUrgent || isFirst.exchanged
  }
}
