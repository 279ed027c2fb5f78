package import LarderBasics
import LarderDigest
package import LarderDisk
package import LarderSystem

extension FixtureDirectory {
  /// A value with the data beside it, to be recorded under a key or recorded already.
  package struct Recording: Sendable {
    /// The value's bytes.
    package var value: [UInt8]
    /// The time for which it is valid from the time of the fixture.
    package var expiration: Expiration
    /// The caller's own data, kept in the manifest, up to 1,024 bytes.
    package var extendedData: [UInt8] = []
    /// The extension of the file's name.
    package var fileExtension = FileExtension.none
    /// Whether the load that it came from let the cache keep it.
    var isKept = true
    /// Whether the key is recorded, and not its digest alone.
    var recordsKey = true

    /// Creates a recording.
    package init(_ value: [UInt8], expiration: Expiration) {
      self.value = value
      self.expiration = expiration
    }
  }

  /// Records a value in place of an older one, and its line in the manifest.
  ///
  /// The file is written, the line of an older value goes, and the file gets its name and its line.
  /// If that is interrupted, a check may report a file without one. A second recording mends it.
  ///
  /// - Parameters:
  ///   - now: The time of the fixture, the same on any day: recording again changes nothing.
  ///   - keepsOld: Whether a value that is there stays.
  /// - Returns: Whether the value was recorded.
  @discardableResult
  package func record(
    _ recording: Recording, forKey key: CacheKey, at now: Timestamp, keepsOld: Bool = false
  ) throws(CacheError) -> Bool {
    guard recording.value.count <= Self.longestValue else {
      throw CacheError(.invalidArgument, operation: "record", path: path, underlying: "over 1 GiB")
    }
    let line = FixtureLine(recording, key, at: now)
    // The old line goes in a change of its own: a manifest that was replaced is not locked.
    var staged: StagedFile?
    for publishes in [false, true] {
      let goesOn = try updating("record") { (manifest) throws(CacheError) in
        try onFixture(path, "record") { () throws(Errno) in
          if keepsOld, try hasEntry(line.name) { return false }
          if publishes {
            _ = try staged?.publish(as: line.name.fileName, isExclusive: false)
            manifest.set(line)
            return true
          }
          var file = try stage(permissions: 0o644)
          try file.write(recording.value.span)
          // Without attributes the manifest still has everything.
          _ = try line.seal(file.descriptor)
          staged = consume file
          if manifest.lines[line.name] != [line] { manifest.lines[line.name] = nil }
          return true
        }
      }
      if !goesOn { return false }
    }
    return true
  }

  /// Adds the lines of entries whose recording was interrupted before it wrote them.
  ///
  /// A file without an attribute gets none, because it was made by hand.
  func addMissingLines(of names: [EntryName], at now: Timestamp) throws(CacheError) {
    let known = try manifest()
    guard names.contains(where: { known.candidates(for: $0).isEmpty }) else { return }
    try updating("record") { (manifest) throws(CacheError) in
      let source = FixtureSource(handle, manifest, at: now)
      for name in names where manifest.candidates(for: name).isEmpty {
        guard case .file(_, .stored(var line)) = try source.open(name) else { continue }
        // Any reader may have moved the file's.
        line.lastAccess = now
        manifest.set(line)
      }
    }
  }

  /// Settings that keep git from changing a byte and from merging two recordings of one key into a
  /// value that neither branch made, and that keep the lines of both branches.
  static let gitAttributes = """
    # Entries are read byte for byte: nothing is converted, and of two recordings of one key git
    # asks for one instead of merging them.
    * -text -merge -filter -ident -working-tree-encoding
    # One line an entry: branches that record different ones keep both.
    manifest merge=union

    """

  package static let gitAttributesName = FileName(".gitattributes")
}

extension FixtureLine {
  /// Creates the line of a value recorded at a point in time.
  fileprivate init(_ recording: FixtureDirectory.Recording, _ key: CacheKey, at now: Timestamp) {
    self.init(
      name: EntryName(key, fileExtension: recording.fileExtension),
      proof: recording.recordsKey
        ? .key(key.bytes) : .digest(BLAKE2b.digest(of: key.bytes.span), hint: []),
      expiry: recording.expiration.expiry(at: now), lastAccess: now,
      lifetime: recording.expiration.lifetime,
      contentHash: ContentHash(recording.value.span).finalize(with: recording.extendedData),
      extendedData: recording.extendedData)
  }
}

extension FixtureDirectory {
  /// Makes a cache directory of the fixture: every entry with the attributes and stamps that the
  /// manifest records. It can be the fixture's own directory.
  ///
  /// Content that was edited since it was recorded is taken as it is. A file without a line keeps
  /// what its attribute says; without one it never expires. What a read refuses is left out.
  ///
  /// - Parameter progress: Is called after each entry.
  /// - Throws: `CacheError`: `.extendedDataUnsupported` if a line has data and the file system no
  ///   attributes; `.invalidArgument` for a malformed manifest; `.locked` when another process
  ///   holds the target exclusively; and as opening a cache does.
  @discardableResult
  package func unpack(
    into path: String, _ progress: FixtureProgress = { _, _ in }
  ) throws(CacheError) -> FixtureTransfer {
    let location = try DirectoryLocation(path, DiskCache.Configuration())
    let target = location.handle
    try Self.lockAsWriter(target, path, "unpack")
    // The names before the lines. A recording writes the file first, so a file that is listed here
    // and has no line yet is described by its own attribute.
    let names = try onFixture(self.path, "unpack") { () throws(Errno) in try self.names() }
    let source = FixtureSource(handle, try manifest(), at: WallClock.system.now())
    var transfer = FixtureTransfer()
    for (index, name) in names.enumerated() {
      defer { progress(index + 1, names.count) }
      switch try source.open(name) {
      case .gone: break
      case .refused(let reason): transfer.refusals.append(.init(name: name, reason: reason))
      case .file(let file, let testimony):
        let isMade = try onFixture(path, "unpack") { () throws(Errno) in
          try unpack(file, as: name, testimony, into: target)
        }
        if isMade == true { transfer.names.append(name) }
        if isMade == nil { transfer.refusals.append(.init(name: name, reason: .damaged)) }
      }
    }
    return transfer
  }

  /// Makes one entry; false if a cache did not keep it, nil if the content is not the stored one.
  private func unpack(
    _ file: borrowing FileDescriptor, as name: EntryName, _ testimony: FixtureSource.Testimony,
    into target: DirectoryHandle
  ) throws(Errno) -> Bool? {
    if target.identity == handle.identity {
      let line = testimony.line(try ContentHash(ofRest: file))
      try line?.sealWithData(file)
      return line.map { _ in true }
    }
    var copy = try Self.stage(in: target, permissions: 0o600)
    try copy.copyContent(of: file)
    guard let line = testimony.line(copy.hash) else { return nil }
    guard line.isKept else { return false }
    try line.sealWithData(copy.descriptor)
    _ = try copy.publish(as: name.fileName, isExclusive: false)
    return true
  }

  /// Returns what is recorded under a name: the bytes as they are, and the data of its line. Nil if
  /// there is no entry, or its content is none of those that were recorded.
  func value(of name: EntryName) throws(CacheError) -> Recording? {
    let source = FixtureSource(handle, try manifest(), at: WallClock.system.now())
    guard case .file(let file, let testimony) = try source.open(name) else { return nil }
    let bytes = try onFixture(path, "read") { () throws(Errno) in
      try file.read(upTo: Int(clamping: try file.status().byteCount))
    }
    guard let line = testimony.line(ContentHash(bytes.span)) else { return nil }
    var recording = Recording(
      bytes, expiration: Expiration(line.lifetime, until: line.expiry) ?? .never)
    (recording.extendedData, recording.isKept) = (line.extendedData, line.isKept)
    return recording
  }
}

extension FixtureLine {
  /// Seals a file. Throws if the line has data and the file system no attributes to keep them.
  fileprivate func sealWithData(_ file: borrowing FileDescriptor) throws(Errno) {
    // A file in place can have the data of an earlier line, which would count as this one's.
    if extendedData.isEmpty, try !EntryReader.extendedData(of: file).isEmpty {
      try file.setAttribute(.data, to: [])
    }
    if try !seal(file) && !extendedData.isEmpty { throw .notSupported }
  }
}
