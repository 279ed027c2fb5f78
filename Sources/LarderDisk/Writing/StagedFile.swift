package import LarderDigest
package import LarderSystem

/// A file in the cache's directory that is being written and is not an entry yet.
///
/// One that is not published leaves nothing behind: without a name the system takes it back, a
/// named temporary is unlinked when the value ends, and one left by a crash is found unlocked by
/// the next scan.
package struct StagedFile: ~Copyable, Sendable {
  /// Open until the value ends, and with it the lock on a temporary.
  package let descriptor: FileDescriptor
  /// The directory it was made in, also if another is held by now.
  let handle: DirectoryHandle
  /// The name to be unlinked at the end, nil without one and after the file has its own.
  private var temporary: TemporaryName?
  // Taken as the bytes pass by, so that no value is read again to be sealed.
  private var hash = XXH64()
  private(set) var byteCount = 0
  /// Whether the file has the name that it was made for.
  private(set) var isPublished = false

  init(
    _ descriptor: consuming FileDescriptor, in handle: DirectoryHandle, temporary: TemporaryName?
  ) {
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

  /// Makes a temporary and locks it before anybody can take it for one that was left behind.
  package static func named(
    in handle: DirectoryHandle, permissions: UInt32
  ) throws(Errno) -> StagedFile {
    while true {
      let name = TemporaryName()
      do throws(Errno) {
        let file = StagedFile(
          try handle.create(name.fileName, permissions: permissions), in: handle, temporary: name)
        // A scan that came between the making and the lock has removed the file, or is about to.
        guard file.lock() else { continue }
        if try file.descriptor.status().linkCount > 0 { return file }
      } catch .fileExists {
        // Numbers are unique within a process and processes within a namespace, so this ends soon.
        // Another process namespace shares the directory and our number: take the next.
      }
    }
  }

  /// Adds bytes to the content.
  ///
  /// After a failure the content is what it was, and the write can be tried again.
  package mutating func write(_ bytes: Span<UInt8>) throws(Errno) {
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
    try write(contentOf: other.descriptor)
  }

  /// Adds the content of another file from where it stands.
  mutating func write(contentOf other: borrowing FileDescriptor) throws(Errno) {
    var piece = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = try other.read(into: &piece)
      if count == 0 { return }
      try write(piece.span.extracting(..<count))
    }
  }

  /// Gives up what was written.
  mutating func empty() throws(Errno) {
    try descriptor.truncate(to: 0)
    try descriptor.seek(to: 0)
    hash = XXH64()
    byteCount = 0
  }

  /// Hashes and counts content that was not written through this value.
  mutating func takeContent() throws(Errno) {
    try descriptor.seek(to: 0)
    hash = XXH64()
    byteCount = 0
    var piece = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = try descriptor.read(into: &piece)
      if count == 0 { return }
      hash.update(piece.span.extracting(..<count))
      byteCount += count
    }
  }

  /// The state of the hash after the content.
  package var contentState: XXH64 { hash }

  /// The hash of the content and of extended data after it.
  func contentHash(with extendedData: [UInt8]) -> UInt64 {
    var hash = hash
    hash.update(extendedData.span)
    return hash.finalize()
  }

  /// Gives the file its name; false when it must not take the place of another and there is one.
  package mutating func publish(as name: FileName, isExclusive: Bool) throws(Errno) -> Bool {
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
}

extension StagedFile {
  /// Takes the whole content of another file over, in the place of what this one has.
  ///
  /// By sharing its blocks or inside the kernel where the file system can, and in pieces through
  /// memory where it cannot. What is hashed is what arrived: a file that somebody writes to
  /// meanwhile gives a value that is whole, if not of one moment.
  ///
  /// - Complexity: O(bytes) for the hash, which reads the content once, in the memory of a piece.
  package mutating func copyContent(of source: borrowing FileDescriptor) throws(Errno) {
    // From the beginning in both, also after a try that ended in the middle.
    try startAgain(source)
    if sharesBlocks(of: source) { return try takeContent() }
    if try hasCopied(source) { return try takeContent() }
    try write(contentOf: source)
  }

  /// Whether the two files share their blocks now.
  private func sharesBlocks(of source: borrowing FileDescriptor) -> Bool {
    do throws(Errno) {
      try descriptor.clone(source)
      return true
    } catch {
      // Another file system, or one that cannot; ENOSPC and EIO show again in what is tried next.
      return false
    }
  }

  /// Whether the kernel has copied everything; if not, both files stand at their beginning.
  private mutating func hasCopied(_ source: borrowing FileDescriptor) throws(Errno) -> Bool {
    var count = 0
    do throws(Errno) {
      while true {
        let copied = try descriptor.copy(from: source, upTo: 1 << 30)
        if copied == 0 { break }
        count += copied
      }
    } catch .noSpace {
      throw .noSpace
    } catch {
      count = 0
    }
    // Files under /proc say that they are empty before they are read.
    if count == 0 { try startAgain(source) }
    return count > 0
  }

  private mutating func startAgain(_ source: borrowing FileDescriptor) throws(Errno) {
    try empty()
    try source.seek(to: 0)
  }
}
