package import LarderBasics
import LarderDigest
package import LarderDisk
package import LarderSystem

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
  /// - Parameters:
  ///   - now: The time of the fixture. The same for the same record on any day, so that recording
  ///     again changes nothing.
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
        // Where there are no attributes the manifest still has it all.
        _ = try line.seal(file.descriptor)
        _ = try file.publish(as: line.name.fileName, isExclusive: false)
        return true
      }
      if isRecorded { manifest.set(line) }
      return isRecorded
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
}

extension FixtureLine {
  /// The line of what is recorded at a point in time.
  fileprivate init(_ recording: FixtureDirectory.Recording, _ key: CacheKey, at now: Timestamp) {
    var hash = XXH64()
    hash.update(recording.value.span)
    hash.update(recording.extendedData.span)
    self.init(
      name: EntryName(key, fileExtension: recording.fileExtension), proof: .key(key.bytes),
      expiry: recording.expiration.expiry(at: now), lastAccess: now,
      lifetime: recording.expiration.lifetime, contentHash: hash.finalize(),
      extendedData: recording.extendedData)
  }
}
