package import LarderBasics
import LarderDisk
package import LarderSystem

extension FixtureDirectory {
  /// Copies the entries of a cache directory into the fixture, expired ones included, and their
  /// lines into the manifest. The cache directory can be the fixture's own: then the manifest is
  /// brought up to date with the files.
  ///
  /// An entry that the manifest lists keeps its line, with the hash of the file's present content,
  /// because its stamps show edits and reads by hand and not the recording. An entry that a read
  /// refuses is left out. Entries that the fixture had before stay; lines without a file are
  /// removed.
  ///
  /// - Parameters:
  ///   - now: The latest valid last access; a later one counts as this time.
  ///   - progress: Is called after each entry.
  /// - Throws: `CacheError`: `.locked` when another process holds the directory exclusively, or the
  ///   manifest for too long; `.invalidArgument` for a malformed manifest; and as opening does.
  @discardableResult
  package func pack(
    from path: String, at now: Timestamp = WallClock.system.now(),
    _ progress: FixtureProgress = { _, _ in }
  ) throws(CacheError) -> FixtureTransfer {
    let origin = try FixtureDirectory(path)
    let isInPlace = origin.handle.identity == handle.identity
    var transfer = FixtureTransfer()
    try updating("pack") { (manifest) throws(CacheError) in
      let source = FixtureSource(
        origin.handle, isInPlace ? manifest : try origin.manifest(), at: now)
      let names = try onFixture(path, "pack") { () throws(Errno) in try origin.names() }
      for (index, name) in names.enumerated() {
        defer { progress(index + 1, names.count) }
        switch try take(name, from: source, isInPlace: isInPlace) {
        case .line(var line):
          line.keepKey(of: manifest.lines[name])
          manifest.set(line)
          transfer.names.append(name)
        case .refused(let reason): transfer.refusals.append(.init(name: name, reason: reason))
        case .gone: break
        }
      }
      manifest.keep(
        only: Set(try onFixture(self.path, "pack") { () throws(Errno) in try self.names() }))
    }
    return transfer
  }

  /// The outcome for one entry.
  private enum Packing {
    case line(FixtureLine)
    case refused(MissReason)
    case gone
  }

  private func take(
    _ name: EntryName, from source: FixtureSource, isInPlace: Bool
  ) throws(CacheError) -> Packing {
    switch try source.open(name) {
    case .gone: return .gone
    case .refused(let reason): return .refused(reason)
    case .file(let file, let testimony):
      return try onFixture(path, "pack") { () throws(Errno) in
        if isInPlace {
          let hash = try ContentHash(ofRest: file)
          guard let line = testimony.line(hash) else { return .refused(.damaged) }
          return .line(line)
        }
        var copy = try stage(permissions: 0o600)
        try copy.copyContent(of: file)
        // The copy is hashed, so that a change of the source meanwhile cannot get into the
        // manifest.
        guard let line = testimony.line(copy.hash) else { return .refused(.damaged) }
        // Without attributes the manifest still has everything.
        _ = try line.seal(copy.descriptor)
        _ = try copy.publish(as: name.fileName, isExclusive: false)
        return .line(line)
      }
    }
  }
}

extension FixtureLine {
  /// Keeps the text of the key from an older line if the file has only the key's digest.
  fileprivate mutating func keepKey(of old: FixtureLine?) {
    guard case .digest = proof, case .key(let key)? = old?.proof, proof.admits(key.span) else {
      return
    }
    proof = .key(key)
  }
}

extension FixtureDirectory {
  /// Makes a cache directory of the fixture: every entry with the attributes and stamps that the
  /// manifest records. It can be the fixture's own directory.
  ///
  /// Content that was edited since it was recorded is taken as it is. A file without a line keeps
  /// what its attribute says; without an attribute it never expires. An entry that a read refuses
  /// is left out.
  ///
  /// - Parameter progress: Is called after each entry.
  /// - Throws: `CacheError`: `.extendedDataUnsupported` if a line has data and the file system no
  ///   attributes; `.invalidArgument` for a malformed manifest; `.locked` when another process
  ///   holds the target exclusively; and as opening a cache does.
  @discardableResult
  package func unpack(
    into path: String, _ progress: FixtureProgress = { _, _ in }
  ) throws(CacheError) -> FixtureTransfer {
    let location = try DirectoryLocation.open(path, DiskCache.Configuration())
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
        let isTaken = try onFixture(path, "unpack") { () throws(Errno) in
          try unpack(file, as: name, testimony, into: target)
        }
        if isTaken {
          transfer.names.append(name)
        } else {
          transfer.refusals.append(.init(name: name, reason: .damaged))
        }
      }
    }
    return transfer
  }

  /// Makes one entry; returns `false` if its content is not the stored one.
  private func unpack(
    _ file: borrowing FileDescriptor, as name: EntryName, _ testimony: FixtureSource.Testimony,
    into target: DirectoryHandle
  ) throws(Errno) -> Bool {
    if target.identity == handle.identity {
      let hash = try ContentHash(ofRest: file)
      guard let line = testimony.line(hash) else { return false }
      try line.sealWithData(file)
      return true
    }
    var copy = try Self.stage(in: target, permissions: 0o600)
    try copy.copyContent(of: file)
    guard let line = testimony.line(copy.hash) else { return false }
    try line.sealWithData(copy.descriptor)
    _ = try copy.publish(as: name.fileName, isExclusive: false)
    return true
  }

  /// Returns what is recorded under a name: the bytes as they are, and the data of its line. Nil if
  /// there is no entry.
  func value(of name: EntryName) throws(CacheError) -> RecordedValue? {
    let source = FixtureSource(handle, try manifest(), at: WallClock.system.now())
    guard case .file(let file, let testimony) = try source.open(name) else { return nil }
    let bytes = try onFixture(path, "read") { () throws(Errno) in
      try file.read(upTo: Int(clamping: try file.status().byteCount))
    }
    var hash = ContentHash()
    hash.update(bytes.span)
    guard let line = testimony.line(hash) else {
      return RecordedValue(bytes: bytes, extendedData: [], expiration: .never)
    }
    return RecordedValue(
      bytes: bytes, extendedData: line.extendedData,
      expiration: Expiration(RecordedLifetime(line.lifetime), until: line.expiry),
      isKept: line.isKept)
  }
}

/// A value and the data beside it, as a fixture has them.
struct RecordedValue: Sendable, Hashable {
  let bytes: [UInt8]
  let extendedData: [UInt8]
  let expiration: Expiration
  /// Whether the load that it came from let the cache keep it.
  var isKept = true
}

extension Expiration {
  /// Returns the expiration of a store from what the entry shows of it.
  init(_ lifetime: RecordedLifetime?, until expiry: Timestamp) {
    self =
      switch lifetime {
      case .seconds(let count): .seconds(count)
      case .never: .never
      case .fixed, nil: expiry < .never ? .date(expiry) : .never
      }
  }
}

extension FixtureLine {
  /// Seals a file. Throws if the file system has no attributes and the line has extended data,
  /// because a test may count on them.
  fileprivate func sealWithData(_ file: borrowing FileDescriptor) throws(Errno) {
    if try !seal(file) && !extendedData.isEmpty { throw .notSupported }
  }
}
