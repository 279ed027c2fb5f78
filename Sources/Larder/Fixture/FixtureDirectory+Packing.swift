extension FixtureDirectory {
  /// Takes the entries of a cache directory into the fixture, expired ones included, and their
  /// lines into the manifest. The fixture's own directory can be the one: then the manifest is
  /// brought up to what the files are.
  ///
  /// Entries that the fixture had before stay; lines whose files are gone go. A file without an
  /// attribute, as git leaves it, keeps the line that it had.
  ///
  /// - Returns: The number of entries taken.
  @discardableResult
  package func pack(from source: String) throws(CacheError) -> Int {
    let old = try manifest()
    let source = try FixtureDirectory(source)
    let packed = try onFixture(path, "pack") { () throws(Errno) in
      var packed: [FixtureLine] = []
      for name in try source.names() { packed.append(try pack(name, from: source.handle, old)) }
      try writeGitAttributes()
      return packed
    }
    let kept = Set(try onFixture(path, "pack") { () throws(Errno) in try names() })
    try updateManifest { manifest in
      for line in packed { manifest.lines[line.name] = line }
      manifest.lines = manifest.lines.filter { kept.contains($0.key) }
    }
    return packed.count
  }

  private func pack(
    _ name: EntryName, from source: DirectoryHandle, _ old: FixtureManifest
  ) throws(Errno) -> FixtureLine {
    let file = try source.openForReading(name.fileName)
    let status = try file.status()
    let content = try file.read(upTo: Int(status.byteCount))
    var line =
      try Self.line(of: file, name, status) ?? old.lines[name]
      ?? FixtureLine(
        unlisted: name, lastAccess: old.latestAccess ?? Self.start, contentHash: 0)
    line.contentHash = line.hash(with: content)
    if source.identity != handle.identity {
      _ = try handle.replace(name.fileName, with: content, sealedBy: line)
    }
    return line
  }

  /// What a file says of itself; nil without an attribute of this format.
  private static func line(
    of file: borrowing FileDescriptor, _ name: EntryName, _ status: FileStatus
  ) throws(Errno) -> FixtureLine? {
    let reading = try file.withAttribute(.entry) { EntryAttribute.read($0) }
    guard case .attribute(let attribute)? = reading else { return nil }
    let data = try file.withAttribute(.data) { [UInt8](copying: $0) }
    return FixtureLine(name, attribute, status, extendedData: data ?? [])
  }
}
