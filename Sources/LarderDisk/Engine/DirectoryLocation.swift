package import LarderBasics
package import LarderSystem
import Synchronization

/// Where a cache lives: the directory held open, and the parent it can be made again in.
package final class DirectoryLocation: Sendable {
  /// The path with links resolved once, at opening.
  let path: String
  /// The directory's name in its parent; nil for `/`, which is never made again.
  private let name: String?
  /// Held open, so that a directory above that is renamed or replaced does not lead elsewhere; nil
  /// where it cannot be opened, and then the directory is not made again.
  private let parent: DirectoryHandle?
  private let configuration: DiskCache.Configuration
  // The handle is a class: who took it before a replacement finishes with the old directory, and
  // the descriptor closes when the last of them has.
  private let current: ForkSafeMutex<DirectoryHandle>
  /// When the path was last looked at, in nanoseconds of the monotonic clock.
  private let lastCheck: Atomic<Int64>
  /// Whether others own or can write to the directory.
  let isUnsafe: Bool

  private init(
    path: String, name: String?, parent: DirectoryHandle?, handle: DirectoryHandle,
    configuration: DiskCache.Configuration, isUnsafe: Bool
  ) {
    self.path = path
    self.name = name
    self.parent = parent
    self.configuration = configuration
    self.isUnsafe = isUnsafe
    current = ForkSafeMutex(handle)
    lastCheck = Atomic(MonotonicTime.coarse.nanoseconds)
  }

  /// The directory as it is held now.
  package var handle: DirectoryHandle { current.withLock { $0 } }

  /// Opens a cache's directory and, unless it is only read, makes it and marks it as a cache.
  ///
  /// - Throws: `CacheError`: `.unsafeDirectory`, `.directoryMissing`, `.notADirectory`,
  ///   `.permissionDenied` and what else the system says.
  package static func open(
    _ path: String, _ configuration: DiskCache.Configuration
  ) throws(CacheError) -> DirectoryLocation {
    // An empty path is none, and what follows a NUL would be cut off and another directory opened.
    if path.isEmpty || path.utf8.contains(0) {
      throw CacheError(
        .invalidArgument, operation: "open", path: path,
        underlying: path.isEmpty ? "the path is empty" : "the path holds a NUL")
    }
    let faults = configuration.faults
    let isReadOnly = configuration.mode.isReadOnly
    let mayMake = !isReadOnly && configuration.makesDirectory
    do throws(Errno) {
      let (handle, resolved, wasMade) = try reach(path, mayMake: mayMake, configuration)
      let (parent, name) = try Self.parent(of: resolved, faults: faults)
      let trust = try trust(in: handle, configuration)
      if !isReadOnly && !configuration.allowsUnsafeDirectory {
        if trust == .refused { throw .notPermitted }
        if trust == .roots { throw .permissionDenied }
      }
      // Only after the directory was found safe: nothing is written into somebody else's.
      if mayMake { try DirectoryMaking.mark(handle, wasMade: wasMade) }
      return DirectoryLocation(
        path: resolved, name: name, parent: parent, handle: handle,
        configuration: configuration, isUnsafe: trust == .refused)
    } catch {
      throw Self.openingError(error, path)
    }
  }

  /// Opens the directory at a path, and makes it if it may.
  ///
  /// - Returns: The directory, its path with links resolved, and whether it was made.
  private static func reach(
    _ path: String, mayMake: Bool, _ configuration: DiskCache.Configuration
  ) throws(Errno) -> (DirectoryHandle, resolved: String, wasMade: Bool) {
    while true {
      let wasMade =
        mayMake
        ? try DirectoryMaking.makeDirectories(
          path, permissions: configuration.directoryPermissions, configuration)
        : false
      let handle = try DirectoryHandle.open(path: path, faults: configuration.faults)
      // From the descriptor, after it was opened: a link that is changed between the two cannot
      // make path and descriptor disagree.
      let resolved = try handle.resolvedPath(openedAs: path)
      if resolved == path { return (handle, resolved, wasMade) }
      // Another path than the one asked for is that of a link's target, or of a directory that was
      // moved away in between. What takes the place of that would never be met.
      do throws(Errno) {
        let present = try DirectoryHandle.open(path: path, faults: configuration.faults)
        if present.identity == handle.identity { return (handle, resolved, wasMade) }
      } catch .noSuchFile where mayMake {
        // It is made again.
      }
    }
  }

  /// EPERM is what `open` above says of an unsafe directory; the system says EACCES of one that it
  /// does not let us open.
  private static func openingError(_ errno: Errno, _ path: String) -> CacheError {
    if errno == .notPermitted {
      return CacheError(.unsafeDirectory, operation: "open", path: path)
    }
    return CacheError(errno: errno, operation: "open", path: path)
  }

  /// Opens the directory above; `/` has none.
  private static func parent(
    of path: String, faults: FaultInjector?
  ) throws(Errno) -> (DirectoryHandle?, String?) {
    guard let slash = path.lastIndex(of: "/"), path != "/" else { return (nil, nil) }
    let above = slash == path.startIndex ? "/" : String(path[..<slash])
    let name = String(path[path.index(after: slash)...])
    do throws(Errno) {
      return (try DirectoryHandle.open(path: above, faults: faults), name)
    } catch .permissionDenied, .noSuchFile {
      // A parent that cannot be read, or whose path is not UTF-8, only means that the directory is
      // not made again.
      return (nil, nil)
    }
  }

  private static func trust(
    in handle: DirectoryHandle, _ configuration: DiskCache.Configuration
  ) throws(Errno) -> DirectoryTrust {
    let status = try handle.descriptor.status()
    let isMember = configuration.sharesWithGroup && ProcessIdentity.isMember(of: status.group)
    return DirectoryTrust(
      status, user: ProcessIdentity.user, group: ProcessIdentity.group,
      sharesWithGroup: configuration.sharesWithGroup, isMember: isMember)
  }
}

/// What the owner and the mode of a directory say of those who can plant entries in it.
///
/// Access lists are not looked at; their mask shows in the group's bits. See: man 5 acl.
enum DirectoryTrust: Sendable, Hashable {
  /// The caller, root, and the group that it is shared with.
  case safe
  /// Others, who own it or can write to it.
  case refused
  /// Root alone: a directory of the system's, in which the caller can store nothing.
  case roots

  /// - Parameters:
  ///   - user: The caller.
  ///   - group: The caller's own group.
  ///   - sharesWithGroup: Whether the cache is shared with the directory's group.
  ///   - isMember: Whether the caller is a member of that group.
  init(
    _ status: FileStatus, user: UInt32, group: UInt32, sharesWithGroup: Bool, isMember: Bool
  ) {
    let isOwn = status.owner == user
    if status.isWritableByOthers {
      self = .refused
    } else if status.owner == 0 && !isOwn && !status.isWritableByGroup {
      self = .roots
    } else if sharesWithGroup && isMember {
      // Those who share with a group trust its members, one of whom made the directory.
      self = .safe
    } else if status.owner != 0 && !isOwn {
      self = .refused
    } else {
      let isOthersGroup = status.isWritableByGroup && !sharesWithGroup && status.group != group
      self = isOthersGroup ? .refused : .safe
    }
  }
}

extension DirectoryLocation {
  /// Whether the path leads to the directory that is held.
  var isAtPath: Bool {
    guard let parent, let name else { return true }
    do throws(Errno) {
      return try parent.statusFollowingLinks(of: name).identity == handle.identity
    } catch {
      return false
    }
  }

  /// Makes sure, at most once a second unless asked to, that the path still leads to the directory
  /// that is held; opens the one that it leads to if not, and makes it if it may.
  ///
  /// - Returns: Whether another directory is held now.
  func revalidate(isUrgent: Bool, mayMake: Bool) throws(Errno) -> Bool {
    guard let parent, let name, isCheckDue(isUrgent) else { return false }
    var wasMade = false
    do throws(Errno) {
      // One call, at most once a second: this is all that following a replaced directory costs.
      let status = try parent.statusFollowingLinks(of: name)
      if status.identity == handle.identity { return false }
    } catch .noSuchFile {
      guard mayMake, configuration.makesDirectory else { return false }
      wasMade = try make(name, in: parent)
    }
    // Without following a link this time: what was resolved at opening was no link, and one that
    // appears now was put there by somebody.
    let fresh = try parent.openDirectory(name)
    let trust = try Self.trust(in: fresh, configuration)
    if trust == .refused && !configuration.allowsUnsafeDirectory { throw .notPermitted }
    let mayMark = !configuration.mode.isReadOnly && configuration.makesDirectory
    if mayMark { try DirectoryMaking.mark(fresh, wasMade: wasMade) }
    return current.withLock { held in
      // Another thread was quicker.
      if held.identity == fresh.identity { return false }
      held = fresh
      return true
    }
  }

  /// Makes the directory again with the mode it would get at opening.
  ///
  /// - Returns: Whether this call made it.
  private func make(_ name: String, in parent: DirectoryHandle) throws(Errno) -> Bool {
    let permissions = configuration.directoryPermissions
    do throws(Errno) {
      try parent.makeDirectory(name, permissions: permissions)
    } catch .fileExists {
      // Another process made it first, and marks it.
      return false
    }
    // mkdir's mode is narrowed by the umask and has no set-group-id bit.
    try parent.openDirectory(name).descriptor.setPermissions(permissions)
    if configuration.durability == .durable { try parent.descriptor.synchronize() }
    return true
  }

  /// Whether it is this thread's turn to look: one thread a second, and any whose look is urgent.
  private func isCheckDue(_ isUrgent: Bool) -> Bool {
    let now = MonotonicTime.coarse.nanoseconds
    let last = lastCheck.load(ordering: .relaxed)
    guard isUrgent || now - last >= 1_000_000_000 else { return false }
    // Of several threads that come at once, the one that moves the time looks.
    let isFirst = lastCheck.compareExchange(expected: last, desired: now, ordering: .relaxed)
    return isUrgent || isFirst.exchanged
  }
}

/// What a directory is to a cache, as its names tell.
package enum DirectoryKind: Sendable, Hashable {
  /// It holds nothing.
  case empty
  /// It has the tag that this library writes, or a blank one, an entry, or what a write left behind.
  case cache
  /// It holds only other things.
  case foreign
}

extension DirectoryKind {
  /// Looks at a directory; nothing in it is read but the tag.
  ///
  /// The tag is looked at first, and the walk ends at the first name of an entry, so that the
  /// answer comes at once for a cache of any size. Other programs mark their caches with
  /// CACHEDIR.TAG too; ours says who wrote it, or is blank after a power cut.
  ///
  /// - Throws: `CacheError`: `.directoryMissing`, `.notADirectory`, `.permissionDenied`, `.io`.
  package init(ofDirectory path: String) throws(CacheError) {
    do throws(Errno) {
      self = try Self.kind(of: try DirectoryHandle.open(path: path, faults: nil))
    } catch {
      throw CacheError(errno: error, operation: "open", path: path)
    }
  }

  /// Names alone decide: something foreign that is named like an entry makes a cache of the
  /// directory, which is harmless, since foreign things are never touched.
  private static func kind(of handle: DirectoryHandle) throws(Errno) -> DirectoryKind {
    if try DirectoryMaking.tagFinding(handle) != .none { return .cache }
    let stream = try DirectoryStream(handle.reopen())
    var kind = DirectoryKind.empty
    while let found = try stream.next() {
      if case .name(let name) = found, EntryName(name) != nil || name.isTemporary {
        return .cache
      }
      kind = .foreign
    }
    return kind
  }
}
