/// A file in the cache's directory that is being written and is not an entry yet.
///
/// One that is not published leaves nothing behind: without a name the system takes it back, a named
/// temporary is unlinked when the value ends, and one left by a crash is found unlocked by the next
/// scan.
struct StagedFile: ~Copyable {
  let descriptor: FileDescriptor
  let handle: DirectoryHandle
  private var temporary: FileName?
  private var hash = XXH64()
  private(set) var byteCount = 0

  init(_ descriptor: consuming FileDescriptor, in handle: DirectoryHandle, temporary: FileName?) {
    self.descriptor = descriptor
    self.handle = handle
    self.temporary = temporary
  }

  deinit {
    guard let temporary else { return }
    do throws(Errno) {
      try handle.unlink(temporary)
    } catch {
      // It stays, unlocked, for the next scan.
    }
  }

  /// Adds bytes to the content.
  mutating func write(_ bytes: Span<UInt8>) throws(Errno) {
    try descriptor.write(bytes)
    hash.update(bytes)
    byteCount += bytes.count
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
        return true
      } catch .fileExists {
        if isExclusive { return false }
        try takeTemporaryName()
      }
    }
    return try rename(to: name, isExclusive: isExclusive)
  }

  private mutating func takeTemporaryName() throws(Errno) {
    _ = try descriptor.tryLock(.exclusive)
    let name = EntryWriter.temporaryName()
    try handle.link(descriptor, as: name)
    temporary = name
  }

  private mutating func rename(to name: FileName, isExclusive: Bool) throws(Errno) -> Bool {
    guard let old = temporary else { return false }
    do throws(Errno) {
      if isExclusive {
        try handle.renameExclusively(old, to: name)
      } else {
        try handle.rename(old, to: name)
      }
    } catch .fileExists where isExclusive {
      return false
    }
    temporary = nil
    return true
  }
}
