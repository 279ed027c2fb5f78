import Larder
import LarderFixtures

extension FixtureDirectory {
  /// Whether there is a file with the name of the manifest, readable or not.
  func hasManifest() throws(CacheError) -> Bool {
    try onFixture(path, "open") { () throws(Errno) in
      try handle.statusIfPresent(of: FixtureManifest.fileName) != nil
    }
  }

  /// Copies the entries of a cache directory into the fixture, expired ones included, and their
  /// lines into the manifest. The cache directory can be the fixture's own: then the manifest is
  /// brought up to date with the files.
  ///
  /// An entry that the manifest lists keeps its line, with the hash of the file's present content,
  /// because its stamps show edits and reads by hand and not the recording. An entry that a read
  /// refuses is left out, and one of which several lines fit the content. Entries that the fixture
  /// had before stay; lines without a file are removed.
  ///
  /// - Parameters:
  ///   - now: The latest valid last access; a later one counts as this time.
  ///   - progress: Is called after each entry.
  /// - Throws: `CacheError`: `.locked` when another process holds the directory exclusively, or the
  ///   manifest for too long; `.invalidArgument` for a malformed manifest; and as opening does.
  @discardableResult
  func pack(
    from path: String, at now: Timestamp = WallClock.system.now(),
    _ progress: FixtureProgress = { _, _ in }
  ) throws(CacheError) -> FixtureTransfer {
    let origin = try FixtureDirectory(path)
    let isInPlace = origin.handle.identity == handle.identity
    let isAdopted = try !origin.hasManifest()
    let names = try onFixture(path, "pack") { () throws(Errno) in try origin.names() }
    let listed = try origin.manifest()
    let old = isInPlace ? FixtureManifest() : try takeLines(of: names)
    var transfer = FixtureTransfer()
    try updating("pack") { (manifest) throws(CacheError) in
      manifest.lines.merge(old.lines) { new, _ in new }
      let source = FixtureSource(origin.handle, isInPlace ? manifest : listed, at: now)
      for (index, name) in names.enumerated() {
        defer { progress(index + 1, names.count) }
        switch try take(name, from: source, isInPlace: isInPlace, isAdopted: isAdopted) {
        case .line(var line):
          line.keepKey(of: manifest.candidates(for: name).first)
          manifest.set(line)
          transfer.names.append(name)
        case .doubled: transfer.doubled.append(name)
        case .refused(let reason): transfer.refusals.append(.init(name: name, reason: reason))
        case .gone: break
        }
      }
      let left = Set(try onFixture(self.path, "pack") { () throws(Errno) in try self.names() })
      manifest.lines = manifest.lines.filter { left.contains($0.key) }
    }
    return transfer
  }

  /// Removes the lines of entries before their files are replaced, and returns what the manifest
  /// had: if packing is interrupted, no line tells of another content.
  ///
  /// A change of its own, because a manifest that was replaced is no longer locked.
  private func takeLines(of names: [EntryName]) throws(CacheError) -> FixtureManifest {
    try updating("pack") { (manifest) throws(CacheError) in
      let old = manifest
      for name in names { manifest.lines[name] = nil }
      return old
    }
  }

  /// The outcome for one entry.
  private enum Packing {
    case line(FixtureLine)
    case doubled
    case refused(MissReason)
    case gone
  }

  private func take(
    _ name: EntryName, from source: FixtureSource, isInPlace: Bool, isAdopted: Bool
  ) throws(CacheError) -> Packing {
    switch try source.open(name) {
    case .gone: return .gone
    case .refused(let reason): return .refused(reason)
    case .file(let file, let testimony):
      return try onFixture(path, "pack") { () throws(Errno) in
        // The manifest that makes the source a fixture can be the one that this call has made.
        if isAdopted, case .unknown = testimony,
          try EntryReader(forFixtureIn: handle).isRemnant(file, file.status())
        {
          return .refused(.damaged)
        }
        if isInPlace { return try update(file, testimony, source) }
        var copy = try stage(permissions: 0o644)
        try copy.copyContent(of: file)
        if testimony.isDoubled(copy.hash) { return .doubled }
        // The copy is hashed, so that a change of the source meanwhile cannot get into the
        // manifest.
        guard var line = testimony.line(copy.hash) else { return .refused(.damaged) }
        // An entry of a cache that `touch` has ended was kept.
        if case .stored = testimony, !line.isKept {
          line.expiry = line.expiry.adding(.nanoseconds(-1))
        }
        // Without attributes the manifest still has everything.
        _ = try line.seal(copy.descriptor)
        _ = try copy.publish(as: name.fileName, isExclusive: false)
        return .line(line)
      }
    }
  }
}

extension FixtureDirectory {
  /// Returns the outcome for an entry that stays in its place.
  private func update(
    _ file: borrowing FileDescriptor, _ testimony: FixtureSource.Testimony, _ source: FixtureSource
  ) throws(Errno) -> Packing {
    let hash = try ContentHash(ofRest: file)
    if testimony.isDoubled(hash) { return .doubled }
    guard var line = testimony.line(hash) else { return .refused(.damaged) }
    // A recording that was interrupted. Any reader may have moved the file's stamp.
    if case .stored = testimony, let used = source.manifest.latestAccess { line.lastAccess = used }
    return .line(line)
  }
}

extension FixtureSource.Testimony {
  /// Whether several lines fit a content. They differ in what a value has beside it.
  fileprivate func isDoubled(_ hash: ContentHash) -> Bool {
    guard case .listed(let lines) = self else { return false }
    return lines.count { $0.contentHash == hash.finalize(with: $0.extendedData) } > 1
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
