public import Larder
public import LarderBasics
import LarderDisk
public import LarderSystem

/// A directory of recorded values, checked in with tests, and a clock that stands still meanwhile.
///
/// ```swift
/// let fixture = try Fixture("Fixtures/weather")
/// let cache = try Cache(fixture: fixture, coder: .string)
/// // … test what asks the cache …
/// fixture.clock.advance(by: .seconds(86_400))
/// // … test what it does when everything has expired.
/// ```
///
/// A test works on a copy in the temporary directory, so that whatever the test stores, extends or
/// evicts, the repository stays byte for byte the same. The one exception is recording: if
/// `LARDER_RECORD` is set in the environment, but not to `0`, `false`, `no` or `off`, each value
/// that a test loads and the fixture lacks is recorded in it.
public final class Fixture: Sendable {
  /// The absolute path of the directory.
  public let path: String
  /// The clock of every cache that is opened on the fixture.
  ///
  /// It starts at the latest last use in the manifest, when all that was recorded was valid, though
  /// not all of a cache that was packed; in an empty fixture at 2027-01-15T08:00:00Z.
  public let clock: ManualClock
  /// Whether loads record values that the fixture lacks.
  public let isRecording: Bool

  /// The environment variable that asks for recording.
  static let recordingVariable = "LARDER_RECORD"

  /// The date of all recordings, so that the same values give the same bytes on any day.
  private let start: Timestamp

  /// Opens a fixture.
  ///
  /// - Parameters:
  ///   - path: The fixture's path. A relative one begins at the calling source file's directory.
  ///   - isRecording: Whether loads record what is missing; when nil, the environment decides.
  ///   - sourceFile: The source file for a relative path.
  /// - Throws: `CacheError`: `.directoryMissing` unless recording, which makes the directory;
  ///   `.invalidArgument` for a manifest with a malformed line, and when recording in a directory
  ///   that holds only other things; `.notADirectory`, `.permissionDenied`, `.io`.
  /// - Complexity: O(entries); reads only the manifest.
  public init(
    _ path: String, isRecording: Bool? = nil, relativeTo sourceFile: String = #filePath
  ) throws(CacheError) {
    self.path = Self.absolute(path, relativeTo: sourceFile)
    self.isRecording = isRecording ?? Self.isRecordingAskedFor
    let manifest: FixtureManifest
    do throws(CacheError) {
      if self.isRecording { try Self.checkKind(of: self.path) }
      let directory = try FixtureDirectory(self.path, makesDirectory: self.isRecording)
      manifest = try directory.manifest()
    } catch  where error.code == .directoryMissing {
      throw CacheError(
        .directoryMissing, operation: "open", path: self.path, errno: error.errno,
        underlying: "\(Self.recordingVariable)=1 in the environment makes and fills it")
    }
    start = manifest.latestAccess ?? FixtureDirectory.start
    clock = ManualClock(start)
  }

  private static var isRecordingAskedFor: Bool {
    let value = SystemEnvironment.variable(recordingVariable) ?? ""
    return !["", "0", "false", "no", "off"].contains(value.lowercased())
  }

  /// Refuses to record in a directory of other things: a `.gitattributes` would apply to them all.
  private static func checkKind(of path: String) throws(CacheError) {
    guard try FixtureDirectory.kind(ofDirectory: path) == .foreign else { return }
    throw CacheError(
      .invalidArgument, operation: "open", path: path,
      underlying: "it holds only other things; an empty file named manifest makes a fixture of it")
  }

  private static func absolute(_ path: String, relativeTo sourceFile: String) -> String {
    if path.hasPrefix("/") { return path }
    let directory = sourceFile.utf8.lastIndex(of: UInt8(ascii: "/")).map { sourceFile[..<$0] }
    return directory.map { "\($0)/\(path)" } ?? path
  }
}

extension Fixture {
  /// Makes a copy that a cache can work on.
  ///
  /// - Returns: The copy, and the names of the entries in it.
  /// - Throws: `CacheError`, also `.invalidArgument` for an entry that a read refuses, which a test
  ///   would miss for the wrong reason; with the path of the temporary directory if that fails.
  func copy() throws(CacheError) -> (directory: ScratchDirectory, names: Set<EntryName>) {
    let scratch = try onFixture(ScratchDirectory.parent, "open") { () throws(Errno) in
      try ScratchDirectory("larder-fixture")
    }
    let directory = try FixtureDirectory(path)
    let transfer = try directory.unpack(into: scratch.path)
    if let refusal = transfer.refusals.first {
      throw CacheError(
        .invalidArgument, operation: "open", path: "\(path)/\(refusal.name)",
        underlying: "a read refuses it: \(refusal.reason.rawValue)")
    }
    if isRecording { try directory.addMissingLines(of: transfer.names, at: start) }
    return (scratch, Set(transfer.names))
  }

  /// Records a value under a key, and its line in the manifest, unless another test has done so.
  ///
  /// - Returns: What the fixture has now: this value or the other test's.
  func record(
    _ recording: FixtureDirectory.Recording, forKey key: CacheKey
  ) throws(CacheError) -> FixtureDirectory.Recording {
    let directory = try FixtureDirectory(path)
    var lasting = recording
    // No cache keeps a value that has expired when it is loaded.
    if recording.expiration.expiry(at: start) <= start { lasting.expiration = .expired }
    let isFirst = try directory.record(lasting, forKey: key, at: start, keepsOld: true)
    if isFirst { return recording }
    let name = EntryName(key, fileExtension: recording.fileExtension)
    return try directory.value(of: name) ?? recording
  }

  /// Whether what was recorded of a value has expired by now, and was valid at the start.
  func hasOutlived(_ expiration: Expiration) -> Bool {
    let end = expiration.expiry(at: start)
    return start < end && end <= clock.now
  }
}

/// A load that a fixture does not allow: a test asked for a value that was never recorded, that has
/// expired by the fixture's clock, or that the cache's coder cannot decode.
///
/// The load throws it, which fails the test. Its description says how to record the value.
public struct FixtureMiss: Error, LoadRefusal, Sendable, Hashable {
  /// The key that was asked for.
  public let key: CacheKey
  /// The fixture's directory.
  public let path: String
  /// Whether the fixture has the key, but its value has expired by the fixture's clock, was removed
  /// from the copy by the test, or does not decode.
  public var isRecorded: Bool { cause != .unrecorded }
  /// The reason why the fixture has no answer.
  let cause: Cause
  /// The extension of the file's name.
  let fileExtension: FileExtension

  /// A reason why a fixture has no answer to a load.
  enum Cause: Sendable, Hashable {
    case unrecorded
    case expired
    /// No longer in the copy.
    case removed
    /// With the coder's error.
    case undecodable(String)
  }
}

extension FixtureMiss: CustomStringConvertible {
  /// The missing value, and the two commands that would record it.
  public var description: String {
    let name = "\"\(key.bytes.escapedForDisplay)\""
    let directory = path.escapedForDisplay
    switch cause {
    case .expired:
      return """
        the fixture \(directory) has a value for \(name), which has expired by its clock: a real \
        program would load it now
        """
    case .removed:
      return """
        the fixture \(directory) has a value for \(name), which is in the test's copy no more: it \
        was removed, evicted or kept in memory alone, and a real program would load it now
        """
    case .undecodable(let error):
      return """
        the fixture \(directory) has a value for \(name) that does not decode: \(error). Remove \
        its file \(EntryName(key, fileExtension: fileExtension)) and record it anew with \
        \(Fixture.recordingVariable)=1
        """
    case .unrecorded: break
    }
    return """
      the fixture \(directory) has no value for \(name). Record what the test loads:
        \(Fixture.recordingVariable)=1 swift test
      or a file:
        \(command)
      """
  }

  /// The command that records a file under the key, which it reads if that is unsafe to print.
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
