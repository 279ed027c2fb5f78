/// A load that a fixture does not allow: a test asked for what was never recorded, or for what has
/// expired by the fixture's clock.
///
/// Its description says how to record the value, and fails a test with it.
public struct FixtureMiss: Error, Sendable, Hashable {
  /// The key that was asked for.
  public let key: CacheKey
  /// The fixture's directory.
  public let path: String
  /// Whether the fixture has the key and its value has expired by the fixture's clock, or was
  /// removed from the copy by the test.
  public let isRecorded: Bool
}

extension FixtureMiss: CustomStringConvertible {
  /// What is missing, and the two commands that would record it.
  public var description: String {
    let name = "\"\(key.bytes.escapedForDisplay)\""
    let directory = path.escapedForDisplay
    if isRecorded {
      return """
        the fixture \(directory) has a value for \(name), which has expired by its clock or was \
        removed: a real program would load it now
        """
    }
    return """
      the fixture \(directory) has no value for \(name). Record what the test loads:
        \(Fixture.recordingVariable)=1 swift test
      or a file:
        larder record \(directory.singleQuoted) \(key.bytes.escapedForDisplay.singleQuoted) FILE
      """
  }
}
