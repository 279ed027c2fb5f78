extension FixtureDirectory {
  /// What is recorded under a key.
  package struct Recording: Sendable {
    /// The value's bytes.
    package var value: [UInt8]
    /// How long it is valid from the time of the fixture.
    package var expiration: Expiration
    /// Kept in the manifest beside the value, up to 1,024 bytes.
    package var extendedData: [UInt8] = []
    /// The extension of the file's name.
    package var fileExtension = FileExtension.none

    /// Creates what is to be recorded.
    package init(_ value: [UInt8], expiration: Expiration) {
      self.value = value
      self.expiration = expiration
    }
  }

  /// Records a value in place of what was there, and its line in the manifest.
  ///
  /// The file comes before its line: a record that is cut short leaves a file that no line lists,
  /// which a check reports and a second record mends.
  ///
  /// - Parameter now: The time of the fixture. The same for the same record on any day, so that
  ///   recording again changes nothing.
  package func record(
    _ recording: Recording, forKey key: CacheKey, at now: Timestamp
  ) throws(CacheError) {
    var hash = XXH64()
    hash.update(recording.value.span)
    hash.update(recording.extendedData.span)
    let line = FixtureLine(
      name: EntryName(key, fileExtension: recording.fileExtension), proof: .key(key.bytes),
      expiry: recording.expiration.expiry(at: now), lastAccess: now,
      lifetime: recording.expiration.lifetime, contentHash: hash.finalize(),
      extendedData: recording.extendedData)
    try onFixture(path, "record") { () throws(Errno) in
      // Where there are no attributes the manifest still has it all.
      _ = try handle.replace(line.name.fileName, with: recording.value, sealedBy: line)
      try writeGitAttributes()
    }
    try updateManifest { $0.lines[line.name] = line }
  }

  /// Changes the manifest while no other process and no other thread does.
  func updateManifest(_ change: (inout FixtureManifest) -> Void) throws(CacheError) {
    let lock = try onFixture(path, "record") { () throws(Errno) in
      // Opened anew: threads that share an open directory would share its lock.
      let lock = try DirectoryHandle.open(path: path, faults: nil)
      try lock.descriptor.lock(.exclusive)
      return lock
    }
    let old = try manifest()
    var new = old
    change(&new)
    // Compared as text: lines that a merge has left out of order are sorted now.
    let text = try onFixture(path, "record") { () throws(Errno) in
      try self.text(of: FixtureManifest.fileName)
    }
    guard new.text != text else { return }
    try onFixture(path, "record") { () throws(Errno) in
      _ = try lock.replace(FixtureManifest.fileName, with: Array(new.text.utf8), sealedBy: nil)
    }
  }

  /// What keeps git from changing a byte, and lets branches that record different keys merge.
  static let gitAttributes = """
    # Entries are read byte for byte: no line ending is ever converted.
    * -text
    # One line an entry: branches that record different ones keep both.
    manifest merge=union

    """

  static let gitAttributesName = FileName(".gitattributes")

  /// Writes the attributes unless the fixture has its own.
  func writeGitAttributes() throws(Errno) {
    guard try text(of: Self.gitAttributesName) == nil else { return }
    _ = try handle.replace(
      Self.gitAttributesName, with: Array(Self.gitAttributes.utf8), sealedBy: nil)
  }
}

extension DirectoryHandle {
  /// Gives a name to a new file with some content, in the place of what had it.
  ///
  /// - Returns: Whether the file has the attributes of the line, if there is one.
  func replace(
    _ name: FileName, with content: [UInt8], sealedBy line: FixtureLine?
  ) throws(Errno) -> Bool {
    let temporary = TemporaryName().fileName
    let file = try create(temporary, permissions: line == nil ? 0o644 : 0o600)
    do throws(Errno) {
      try file.write(content.span)
      let isTold = try line.map { (line) throws(Errno) in try line.seal(file) }
      try rename(temporary, to: name)
      return isTold ?? true
    } catch {
      try unlink(temporary)
      throw error
    }
  }
}
