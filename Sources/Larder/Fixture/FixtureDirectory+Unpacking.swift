extension FixtureDirectory {
  /// Makes a cache directory of the fixture: every entry with the attributes and the stamps that
  /// the manifest tells of. The fixture's own directory can be the one.
  ///
  /// A file that no line lists becomes an entry that never expires. Content that was edited since
  /// it was recorded is taken as it is.
  ///
  /// - Returns: The number of entries.
  /// - Throws: `CacheError`: `.extendedDataUnsupported` where a line has data and the file system
  ///   no attributes; `.invalidArgument` for a manifest that is none; and as opening does.
  @discardableResult
  package func unpack(into target: String) throws(CacheError) -> Int {
    let manifest = try manifest()
    return try onFixture(path, "unpack") { () throws(Errno) in
      let target = try Self.makeCache(target)
      let names = try names()
      for name in names { try unpack(name, manifest, into: target) }
      return names.count
    }
  }

  /// Opens a cache directory, and makes and marks it where there is none.
  private static func makeCache(_ path: String) throws(Errno) -> DirectoryHandle {
    let wasMade = try DirectoryMaking.makeDirectories(
      path, permissions: 0o700, DiskCache.Configuration())
    let handle = try DirectoryHandle.open(path: path, faults: nil)
    try DirectoryMaking.mark(handle, wasMade: wasMade)
    return handle
  }

  private func unpack(
    _ name: EntryName, _ manifest: FixtureManifest, into target: DirectoryHandle
  ) throws(Errno) {
    let file = try handle.openForReading(name.fileName)
    let content = try file.read(upTo: Int(try file.status().byteCount))
    let unlisted = FixtureLine(
      unlisted: name, lastAccess: manifest.latestAccess ?? Self.start, contentHash: 0)
    var line = manifest.lines[name] ?? unlisted
    line.contentHash = line.hash(with: content)
    let isTold: Bool
    if target.identity == handle.identity {
      isTold = try line.seal(file)
    } else {
      isTold = try target.replace(name.fileName, with: content, sealedBy: line)
    }
    // The value alone can be told without attributes, but not what a test counts on beside it.
    if !isTold, !line.extendedData.isEmpty { throw .notSupported }
  }
}

extension FixtureLine {
  /// The hash of a content with the line's extended data.
  func hash(with content: [UInt8]) -> UInt64 {
    var hash = XXH64()
    hash.update(content.span)
    hash.update(extendedData.span)
    return hash.finalize()
  }
}
