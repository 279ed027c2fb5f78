package import LarderBasics
package import LarderDisk
package import LarderSystem

extension FixtureDirectory {
  /// A value to record under a key.
  package struct Recording: Sendable {
    /// The value's bytes.
    package var value: [UInt8]
    /// The time for which it is valid from the time of the fixture.
    package var expiration: Expiration
    /// The caller's own data, kept in the manifest, up to 1,024 bytes.
    package var extendedData: [UInt8] = []
    /// The extension of the file's name.
    package var fileExtension = FileExtension.none

    /// Creates a recording.
    package init(_ value: [UInt8], expiration: Expiration) {
      self.value = value
      self.expiration = expiration
    }
  }

  /// Records a value in place of an older one, and its line in the manifest.
  ///
  /// The file is written before its line. If recording is interrupted in between, the file has no
  /// line, which a check reports and a second recording repairs.
  ///
  /// - Parameters:
  ///   - now: The time of the fixture. It is the same on any day, so that recording again changes
  ///     nothing.
  ///   - keepsOld: Whether a value that is there stays.
  /// - Returns: Whether the value was recorded.
  @discardableResult
  package func record(
    _ recording: Recording, forKey key: CacheKey, at now: Timestamp, keepsOld: Bool = false
  ) throws(CacheError) -> Bool {
    let line = FixtureLine(recording, key, at: now)
    return try updating("record") { (manifest) throws(CacheError) in
      let isRecorded = try onFixture(path, "record") { () throws(Errno) in
        if keepsOld, try hasEntry(line.name) { return false }
        var file = try stage(permissions: 0o600)
        try file.write(recording.value.span)
        // Without attributes the manifest still has everything.
        _ = try line.seal(file.descriptor)
        _ = try file.publish(as: line.name.fileName, isExclusive: false)
        return true
      }
      if isRecorded { manifest.set(line) }
      return isRecorded
    }
  }

  /// Settings that keep git from changing a byte and from merging two recordings of one key into a
  /// value that neither branch made, and that merge the lines of branches with different
  /// recordings.
  static let gitAttributes = """
    # Entries are read byte for byte: no line ending is converted, and of two recordings of one
    # key git asks for one instead of merging them.
    * -text -merge
    # One line an entry: branches that record different ones keep both.
    manifest merge=union

    """

  /// The settings of earlier versions, which are replaced.
  static let earlierGitAttributes = """
    # Entries are read byte for byte: no line ending is ever converted.
    * -text
    # One line an entry: branches that record different ones keep both.
    manifest merge=union

    """

  static let gitAttributesName = FileName(".gitattributes")
}

extension FixtureLine {
  /// Creates the line of a value recorded at a point in time.
  fileprivate init(_ recording: FixtureDirectory.Recording, _ key: CacheKey, at now: Timestamp) {
    self.init(
      name: EntryName(key, fileExtension: recording.fileExtension), proof: .key(key.bytes),
      expiry: recording.expiration.expiry(at: now), lastAccess: now,
      lifetime: recording.expiration.lifetime,
      contentHash: ContentHash.of(recording.value.span, recording.extendedData.span),
      extendedData: recording.extendedData)
  }
}
