package import LarderSystem

/// The functions that make a cache's directory and mark it as one.
package enum DirectoryMaking {
  /// The file that tells backups to skip the directory. See: https://bford.info/cachedir/
  static let tagName = FileName("CACHEDIR.TAG")

  /// The text of the tag. The first line is the specification's. The rest names Larder, and the
  /// tool recognises a cache by it.
  package static let tagText = """
    Signature: 8a477f597d28d172789f06886806bc55
    # This directory is a cache made by Larder. Its contents can be deleted at any time.

    """

  /// Makes the directories of a path that are missing.
  ///
  /// - Returns: Whether this call made the last one.
  ///
  /// Tries the last one first, because the parents nearly always exist. A parent that is made gets
  /// 0700, even if the cache is shared with a group.
  package static func makeDirectories(
    _ path: String, permissions: UInt32, _ configuration: DiskCache.Configuration
  ) throws(Errno) -> Bool {
    do throws(Errno) {
      return try makeOne(path, permissions: permissions, configuration)
    } catch .noSuchFile {
      guard let parent = parentPath(of: path), parent != path else { throw .noSuchFile }
      _ = try makeDirectories(parent, permissions: 0o700, configuration)
    }
    // Tried only once more: a dangling link as parent exists, but nothing can be made in it.
    return try makeOne(path, permissions: permissions, configuration)
  }

  /// Makes one directory with exactly the mode asked for; returns false if it exists.
  ///
  /// - Throws: `.noSuchFile` for a missing parent, or another error of the system.
  static func makeOne(
    _ path: String, below parent: DirectoryHandle? = nil, permissions: UInt32,
    _ configuration: DiskCache.Configuration
  ) throws(Errno) -> Bool {
    let faults = configuration.faults
    do throws(Errno) {
      try DirectoryHandle.make(path, below: parent, permissions: permissions, faults: faults)
    } catch .fileExists {
      return false
    }
    guard configuration.durability == .durable else { return true }
    // A parent that is held was not opened to be read, and cannot be synced.
    if let parent {
      try parent.reopen().synchronize()
    } else if let above = parentPath(of: path) {
      try DirectoryHandle.open(path: above, faults: faults).descriptor.synchronize()
    }
    return true
  }

  /// Returns the path without its last component, by the text alone; nil for an empty path.
  static func parentPath(of path: String) -> String? {
    var trimmed = Substring(path)
    while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
    guard let slash = trimmed.lastIndex(of: "/") else { return trimmed.isEmpty ? nil : "." }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
  }

  /// Sets the no-atime flag and writes the tag, in a directory that is new or empty. In any other
  /// directory, rewrites a tag that a power cut has left blank.
  ///
  /// Failures are ignored, because the cache works without the flag and the tag.
  static func mark(
    _ handle: DirectoryHandle, wasMade: Bool, _ configuration: DiskCache.Configuration
  ) throws(Errno) {
    // A tag shows that the directory is not empty. The names are read only without one, because the
    // system reads 32 KiB of them before it returns the first.
    switch wasMade ? .missing : bestEffort(try tagFinding(handle)) {
    case .own, .foreign, nil: return
    case .blank:
      bestEffort(try restoreTag(handle))
      return
    case .missing:
      if !wasMade, try DirectoryStream(handle.reopen()).next() != nil { return }
    }
    // The flag comes first, because only files made after it inherit it, the tag among them. A file
    // system without the flag reports ENOTTY or EOPNOTSUPP. See: man 2 ioctl_iflags.
    if !handle.fileSystem.isNetwork { bestEffort(try handle.descriptor.setNoAtimeFlag()) }
    guard let tag = bestEffort(try handle.create(tagName, permissions: 0o644)) else { return }
    // The group's other users lock bytes of it for their loads.
    if configuration.sharesWithGroup { bestEffort(try tag.setPermissions(0o664)) }
    bestEffort(try writeTag(to: tag))
  }

  /// Writes the text of the tag and waits until it is on disk, once for a directory. Without it the
  /// tool does not recognise a directory after its last entry is gone.
  private static func writeTag(to tag: borrowing FileDescriptor) throws(Errno) {
    try tag.write(tagText.utf8.span)
    try tag.synchronize()
  }

  /// Writes the text into a tag that was found blank.
  ///
  /// The file is written in place, because another program may hold it open or locked. Two
  /// processes that write at once write the same text. A file with a second name is left alone,
  /// because its owner may use it for something else.
  private static func restoreTag(_ handle: DirectoryHandle) throws(Errno) {
    let tag = try handle.openForWriting(tagName)
    let status = try tag.status()
    guard status.isRegular, status.linkCount == 1 else { return }
    try writeTag(to: tag)
  }

  /// The kind of tag that a directory has.
  package enum TagFinding: Sendable {
    /// None.
    case missing
    /// One that another program wrote, or that cannot be read.
    case foreign
    /// The one that this library writes.
    case own
    /// An empty file, or nothing but zeros: what a power cut leaves of a tag that was not synced.
    case blank
  }

  /// Examines the tag. Reads no more bytes than Larder's own tag has.
  package static func tagFinding(_ handle: DirectoryHandle) throws(Errno) -> TagFinding {
    do throws(Errno) {
      let tag = try handle.openForReading(tagName)
      let status = try tag.status()
      // A FIFO or a device under the name is opened without waiting and not read.
      guard status.isRegular else { return .foreign }
      let text = try tag.read(upTo: tagText.utf8.count)
      if text.elementsEqual(tagText.utf8) { return .own }
      let isLonger = status.byteCount > UInt64(tagText.utf8.count)
      return !isLonger && text.allSatisfy { $0 == 0 } ? .blank : .foreign
    } catch .noSuchFile {
      return .missing
    } catch .tooManyLinks, .permissionDenied, .noSuchDeviceOrAddress {
      return .foreign
    }
  }

  /// Runs a step that may fail without breaking a promise of the cache.
  @discardableResult
  private static func bestEffort<Result: ~Copyable>(
    _ step: @autoclosure () throws(Errno) -> Result
  ) -> Result? {
    do throws(Errno) {
      return try step()
    } catch {
      // Without the tag backups include the directory; without the flag `cat` counts as a use.
      // Entries lose nothing.
      return nil
    }
  }
}
