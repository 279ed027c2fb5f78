public import LarderBasics
import LarderDisk

/// A load that a fixture does not allow: a test asked for a value that was never recorded, or that
/// has expired by the fixture's clock.
///
/// The load throws it, which fails the test. Its description says how to record the value.
public struct FixtureMiss: Error, Sendable, Hashable {
  /// The key that was asked for.
  public let key: CacheKey
  /// The fixture's directory.
  public let path: String
  /// Whether the fixture has the key, but its value has expired by the fixture's clock or the test
  /// removed it from the copy.
  public let isRecorded: Bool
  /// The extension of the file's name.
  let fileExtension: FileExtension
}

extension FixtureMiss: CustomStringConvertible {
  /// The missing value, and the two commands that would record it.
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
        \(command)
      """
  }

  /// The command that records a file under the key. The key comes through stdin if it cannot be an
  /// argument that is safe to print.
  private var command: String {
    let directory = path.pasteableWord
    let text = String(decoding: fileExtension.bytes, as: UTF8.self)
    let end = text.isEmpty ? "" : " --ext \(text)"
    guard let key = String(validating: key.bytes, as: UTF8.self), key.isSafeForDisplay else {
      return
        "printf \(self.key.bytes.printfFormat) | larder record --key-file - \(directory) FILE\(end)"
    }
    if key.utf8.first == UInt8(ascii: "-") {
      return "larder record\(end) -- \(directory) \(key.singleQuoted) FILE"
    }
    return "larder record \(directory) \(key.singleQuoted) FILE\(end)"
  }
}
