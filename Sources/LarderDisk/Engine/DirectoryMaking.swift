package import LarderSystem

/// Makes a cache's directory and marks it as one.
package enum DirectoryMaking {
  /// The file that tells backups to skip the directory. See: https://bford.info/cachedir/
  static let tagName = FileName("CACHEDIR.TAG")

  /// The first line is the specification's; the rest says whose cache it is, which the tool goes
  /// by.
  static let tagText = """
    Signature: 8a477f597d28d172789f06886806bc55
    # This directory is a cache made by Larder. Its contents can be deleted at any time.

    """

  /// Makes the directories of a path that are missing.
  ///
  /// - Returns: Whether the last one was made now.
  ///
  /// Tries the last one first, for nearly always the others are there. A parent that is made gets
  /// 0700, whatever the cache itself is shared with.
  ///
  /// - Complexity: O(components), one system call for a directory that exists.
  package static func makeDirectories(
    _ path: String, permissions: UInt32, _ configuration: DiskCache.Configuration
  ) throws(Errno) -> Bool {
    do throws(Errno) {
      try makeOne(path, permissions: permissions, configuration)
      return true
    } catch .fileExists {
      return false
    } catch .noSuchFile {
      guard let parent = parentPath(of: path), parent != path else { throw .noSuchFile }
      _ = try makeDirectories(parent, permissions: 0o700, configuration)
    }
    // Once more and not for ever: a parent that is a link to nothing is there, and nothing can be
    // made in it.
    do throws(Errno) {
      try makeOne(path, permissions: permissions, configuration)
      return true
    } catch .fileExists {
      return false
    }
  }

  /// Makes one directory with exactly the mode asked for.
  ///
  /// - Throws: `.fileExists`, `.noSuchFile` for a missing parent, and what else the system says.
  private static func makeOne(
    _ path: String, permissions: UInt32, _ configuration: DiskCache.Configuration
  ) throws(Errno) {
    try DirectoryHandle.makeDirectory(
      path: path, permissions: permissions, faults: configuration.faults)
    let handle = try openMade(path, permissions: permissions, configuration)
    // mkdir's mode is narrowed by the umask and has no set-group-id bit.
    let status = try handle.descriptor.status()
    // Through the descriptor, so that nothing that takes the path's place meanwhile is changed.
    if status.permissions != permissions { try handle.descriptor.setPermissions(permissions) }
    if configuration.durability == .durable, let parent = parentPath(of: path) {
      try DirectoryHandle.open(path: parent, faults: configuration.faults).descriptor.synchronize()
    }
  }

  /// Opens a directory that was just made.
  ///
  /// A umask that takes the owner's own rights away leaves one that its maker cannot open; then its
  /// mode is set by the path, under which nobody else can have put another meanwhile who could not
  /// as well have made it first.
  private static func openMade(
    _ path: String, permissions: UInt32, _ configuration: DiskCache.Configuration
  ) throws(Errno) -> DirectoryHandle {
    do throws(Errno) {
      return try DirectoryHandle.open(path: path, faults: configuration.faults)
    } catch .permissionDenied {
      try DirectoryHandle.setMode(path: path, permissions, faults: configuration.faults)
      return try DirectoryHandle.open(path: path, faults: configuration.faults)
    }
  }

  /// The path without its last component, by the text alone; nil for no path.
  private static func parentPath(of path: String) -> String? {
    var trimmed = Substring(path)
    while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
    guard let slash = trimmed.lastIndex(of: "/") else { return trimmed.isEmpty ? nil : "." }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
  }

  /// Writes the tag and sets the no-atime flag, in a directory that we made or found empty.
  /// Elsewhere, writes the text of a tag that a power cut has left without it.
  ///
  /// Both are a service: a file system that refuses them is no reason not to cache.
  static func mark(_ handle: DirectoryHandle, wasMade: Bool) throws(Errno) {
    if !wasMade, try !isEmpty(handle) {
      return bestEffort { () throws(Errno) in try restoreTag(handle) }
    }
    // The flag first: it is inherited only by files made after it, the tag among them. ENOTTY or
    // EOPNOTSUPP where the filesystem has none. See: man 2 ioctl_iflags.
    if !handle.fileSystem.isNetwork {
      bestEffort { () throws(Errno) in try handle.descriptor.setNoAtimeFlag() }
    }
    bestEffort { () throws(Errno) in
      try writeTag(to: try handle.create(tagName, permissions: 0o644))
    }
  }

  /// Writes the text of the tag and waits until it is on the disk, once for a directory: without it
  /// the tool does not know a directory whose last entry is gone.
  private static func writeTag(to tag: borrowing FileDescriptor) throws(Errno) {
    try tag.write(tagText.utf8.span)
    try tag.synchronize()
  }

  /// Writes the text into a tag that has lost it.
  ///
  /// In place, because evictors of other processes may hold a lock on the file. Two processes that
  /// write at once write the same. A file with a second name may be something else to its owner.
  private static func restoreTag(_ handle: DirectoryHandle) throws(Errno) {
    guard try tagFinding(handle) == .blank else { return }
    let tag = try handle.openForWriting(tagName)
    let status = try tag.status()
    guard status.isRegular, status.linkCount == 1 else { return }
    try writeTag(to: tag)
  }

  /// What a directory has for a tag.
  enum TagFinding: Sendable {
    /// None, or one that another program wrote.
    case none
    /// The one that this library writes.
    case own
    /// An empty file, or nothing but zeros: what a power cut leaves of a tag that was not synced.
    case blank
  }

  /// Looks at the tag, of which no more is read than ours is long.
  static func tagFinding(_ handle: DirectoryHandle) throws(Errno) -> TagFinding {
    do throws(Errno) {
      let tag = try handle.openForReading(tagName)
      let status = try tag.status()
      // A FIFO or a device under the name is opened without waiting and not read.
      guard status.isRegular else { return .none }
      let text = try tag.read(upTo: tagText.utf8.count)
      if text.elementsEqual(tagText.utf8) { return .own }
      let isLonger = status.byteCount > UInt64(tagText.utf8.count)
      return !isLonger && text.allSatisfy { $0 == 0 } ? .blank : .none
    } catch .noSuchFile, .tooManyLinks, .permissionDenied, .noSuchDeviceOrAddress {
      return .none
    }
  }

  /// - Complexity: O(1): one name decides.
  private static func isEmpty(_ handle: DirectoryHandle) throws(Errno) -> Bool {
    let stream = try DirectoryStream(handle.reopen())
    return try stream.next() == nil
  }

  /// Takes a step whose failure changes nothing of what the cache promises.
  private static func bestEffort(_ step: () throws(Errno) -> Void) {
    do throws(Errno) {
      try step()
    } catch {
      // Refused: backups include the directory or `cat` counts as a use; entries lose nothing.
    }
  }
}
