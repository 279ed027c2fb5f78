/// A file in the cache's directory that is being written and is not an entry yet.
///
/// One that is not published leaves nothing behind: without a name the system takes it back, a
/// named temporary is unlinked when the value ends, and one left by a crash is found unlocked by
/// the next scan.
struct StagedFile: ~Copyable {
  /// Open until the value ends, and with it the lock on a temporary.
  let descriptor: FileDescriptor
  /// The directory it was made in, also if another is held by now.
  let handle: DirectoryHandle
  /// The name to be unlinked at the end, nil without one and after the file has its own.
  private var temporary: TemporaryName?
  /// Whether a value that is replaced may be exchanged with the new one; see `exchange(with:)`.
  private let exchanges: Bool
  // Taken as the bytes pass by, so that no value is read again to be sealed.
  private var hash = XXH64()
  private(set) var byteCount = 0
  /// Whether the file has the name that it was made for.
  private(set) var isPublished = false

  init(
    _ descriptor: consuming FileDescriptor, in handle: DirectoryHandle, temporary: TemporaryName?,
    exchanges: Bool
  ) {
    self.exchanges = exchanges
    self.descriptor = descriptor
    self.handle = handle
    self.temporary = temporary
  }

  deinit {
    guard let temporary else { return }
    do throws(Errno) {
      try handle.unlink(temporary.fileName)
      temporary.giveBack()
    } catch {
      // It stays, unlocked, for the next scan, and its number is not used again.
    }
  }

  /// Adds bytes to the content.
  ///
  /// After a failure the content is what it was, and the write can be tried again.
  mutating func write(_ bytes: Span<UInt8>) throws(Errno) {
    do throws(Errno) {
      try descriptor.write(bytes)
    } catch {
      try descriptor.truncate(to: byteCount)
      try descriptor.seek(to: byteCount)
      throw error
    }
    hash.update(bytes)
    byteCount += bytes.count
  }

  /// Adds the content of another file, which is read from its start.
  mutating func write(contentOf other: borrowing StagedFile) throws(Errno) {
    try other.descriptor.seek(to: 0)
    var piece = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = try other.descriptor.read(into: &piece)
      if count == 0 { return }
      try write(piece.span.extracting(..<count))
    }
  }

  /// The hash of the content and of extended data after it.
  func contentHash(with extendedData: [UInt8]) -> UInt64 {
    var hash = hash
    hash.update(extendedData.span)
    return hash.finalize()
  }

  /// Gives the file its name; false when it must not take the place of another and there is one.
  mutating func publish(as name: FileName, isExclusive: Bool) throws(Errno) -> Bool {
    if temporary == nil {
      do throws(Errno) {
        try handle.link(descriptor, as: name)
        isPublished = true
        return true
      } catch .fileExists {
        if isExclusive { return false }
        try takeTemporaryName()
      }
    }
    return try rename(to: name, isExclusive: isExclusive)
  }

  /// Gives a file without a name one that a rename can start from, since linkat replaces nothing.
  /// The lock comes first, so that no scan finds it unlocked.
  private mutating func takeTemporaryName() throws(Errno) {
    lock()
    while true {
      let name = TemporaryName()
      do throws(Errno) {
        try handle.link(descriptor, as: name.fileName)
        temporary = name
        return
      } catch .fileExists {
        // Another process namespace shares the directory and our number: take the next.
      }
    }
  }

  /// Locks a temporary for as long as it is open, since who can lock one may delete it.
  ///
  /// - Returns: Whether nobody else holds it. Where files cannot be locked nobody can, and nobody
  ///   deletes it.
  @discardableResult
  func lock() -> Bool {
    do throws(Errno) {
      return try descriptor.tryLock(.exclusive)
    } catch {
      return true
    }
  }

  /// Moves the temporary to its name; from then on there is nothing to clean up.
  private mutating func rename(to name: FileName, isExclusive: Bool) throws(Errno) -> Bool {
    guard let old = temporary else { return false }
    do throws(Errno) {
      if isExclusive {
        try handle.renameExclusively(old.fileName, to: name)
      } else {
        if exchanges && exchange(with: name) { return true }
        try handle.rename(old.fileName, to: name)
      }
    } catch .fileExists where isExclusive {
      // RENAME_NOREPLACE in place of a look and a rename: of several processes exactly one wins.
      return false
    }
    temporary = nil
    isPublished = true
    old.giveBack()
    return true
  }

  /// Takes the place of a value by exchanging the two files' names, and removes the older one under
  /// the name that this had; false where that cannot be done.
  ///
  /// A rename over a file makes ext4 write the new content before anything else may be committed,
  /// which is a quarter of what storing over a value takes. Without it a power cut may find the new
  /// name with a file whose content never reached the disk: its hash tells, and the entry is a
  /// miss. That is what relaxed durability allows; a durable store syncs and renames.
  private mutating func exchange(with name: FileName) -> Bool {
    guard let temporary else { return false }
    do throws(Errno) {
      try handle.exchange(temporary.fileName, with: name)
    } catch {
      // Nothing is there to be replaced, or the file system cannot: a rename says what is wrong.
      return false
    }
    isPublished = true
    do throws(Errno) {
      try handle.unlink(temporary.fileName)
      temporary.giveBack()
      self.temporary = nil
    } catch .isDirectory {
      return undoExchange(with: name)
    } catch .noSuchFile {
      // Another process's scan took the older value for what a crash had left.
      self.temporary = nil
    } catch {
      // Tried once more when this value ends, and after that left to the next scan.
    }
    return true
  }

  /// A directory had the name, which is foreign and stays.
  private mutating func undoExchange(with name: FileName) -> Bool {
    do throws(Errno) {
      try handle.exchange(name, with: temporary?.fileName ?? name)
      isPublished = false
    } catch {
      // The value stays where it is; the directory, under a temporary's name, is nobody's loss.
    }
    return isPublished
  }
}
