package import LarderBasics
package import LarderDisk
package import LarderSystem

// The protocol between writers of one fixture:
//
// 1. A writer holds the directory with a shared lock, and fails at once if a cache has it alone.
// 2. It locks the file `manifest` exclusively while it changes files and lines. No cache takes that
//    lock, so a fixture can be packed in a directory that a cache uses.
// 3. The manifest is replaced by renaming. If the file was replaced while a writer waited for its
//    lock, the writer starts again with the file that has the name now.

extension FixtureDirectory {
  /// Changes files and the manifest while no other process and no other thread changes them.
  ///
  /// - Throws: `.locked` if another process has the directory exclusively or the manifest too long.
  package func updating<Result>(
    _ operation: String, _ change: (inout FixtureManifest) throws(CacheError) -> Result
  ) throws(CacheError) -> Result {
    // Opened again, because threads that share an open directory would share its lock.
    let writer = try onFixture(path, operation) { () throws(Errno) in
      try DirectoryHandle.open(path: path, faults: nil)
    }
    try Self.lockAsWriter(writer, path, operation)
    let lock = try lockManifest(operation)
    try onFixture(path, operation) { () throws(Errno) in
      let leftovers = try fileNames().filter(\.isTemporary)
      StagedFile.removeLeftovers(leftovers, in: handle) { WallClock.system.now() }
    }
    var manifest = try manifest()
    let result = try change(&manifest)
    try onFixture(path, operation) { () throws(Errno) in
      // Before the lines, so that a fixture with lines is always protected.
      if try handle.text(of: Self.gitAttributesName) == nil {
        try write(Self.gitAttributes, to: Self.gitAttributesName)
      }
      // Compared as text, so that lines which a merge left out of order are sorted now.
      if try handle.text(of: FixtureManifest.fileName) != manifest.text {
        try write(manifest.text, to: FixtureManifest.fileName)
      }
    }
    withExtendedLifetime((writer, lock)) {}
    return result
  }

  /// Locks a directory as every writer does, until the handle is released.
  static func lockAsWriter(
    _ handle: DirectoryHandle, _ path: String, _ operation: String
  ) throws(CacheError) {
    guard handle.descriptor.tryLockIfAny(.shared) else {
      throw CacheError(lockOn: handle.identity, operation: operation, path: path)
    }
  }

  /// Locks the manifest, and makes an empty one if there is none.
  private func lockManifest(_ operation: String) throws(CacheError) -> LockedFile {
    let deadline = MonotonicTime.now.advanced(by: patience)
    while true {
      let (file, held) = try onFixture("\(path)/manifest", operation) { () throws(Errno) in
        do throws(Errno) {
          return try tryManifestLock()
        } catch .tooManyLinks {
          throw .invalidArgument
        }
      }
      if let file { return file }
      guard let held else { continue }
      guard MonotonicTime.now < deadline else {
        throw CacheError(lockOn: held, operation: operation, path: "\(path)/manifest")
      }
      // Another process is recording or packing, which takes moments.
      pause(for: .milliseconds(5))
    }
  }

  /// - Returns: The locked file, or the one that another process holds; neither if it was replaced.
  private func tryManifestLock() throws(Errno) -> (LockedFile?, held: FileIdentity?) {
    let file = try openManifest()
    let identity = try file.status().identity
    guard file.tryLockIfAny(.exclusive) else { return (nil, identity) }
    let present = try handle.statusIfPresent(of: FixtureManifest.fileName)?.identity
    return (present == identity ? LockedFile(file) : nil, nil)
  }

  private func openManifest() throws(Errno) -> FileDescriptor {
    while true {
      do throws(Errno) {
        return try handle.openForLocking(FixtureManifest.fileName)
      } catch .noSuchFile {
        do throws(Errno) {
          return try handle.create(FixtureManifest.fileName, permissions: 0o644)
        } catch .fileExists {
          // Another writer made it, so open that one.
        }
      }
    }
  }

  /// Starts a file of the fixture.
  package func stage(permissions: UInt32) throws(Errno) -> StagedFile {
    try Self.stage(in: handle, permissions: permissions)
  }

  /// Starts a file in a directory. What root makes belongs to the directory's owner.
  static func stage(in handle: DirectoryHandle, permissions: UInt32) throws(Errno) -> StagedFile {
    let file = try StagedFile.named(in: handle, permissions: permissions)
    if ProcessIdentity.user == 0 && handle.owner != 0 {
      try file.descriptor.setOwner(handle.owner, group: handle.group)
    }
    return file
  }

  func write(_ text: String, to name: FileName) throws(Errno) {
    var file = try stage(permissions: 0o644)
    try file.write(Array(text.utf8).span)
    _ = try file.publish(as: name, isExclusive: false)
    // A child that was forked meanwhile would keep the lock, which writers want.
    do throws(Errno) { try file.descriptor.unlock() } catch {}
  }
}
