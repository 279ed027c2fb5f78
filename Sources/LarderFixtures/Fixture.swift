public import LarderBasics
import LarderDisk
public import LarderSystem

/// A directory of recorded values that is checked in with tests, and the clock that stands still
/// while they run.
///
/// ```swift
/// let fixture = try Fixture("Fixtures/weather")
/// let cache = try Cache(fixture: fixture, coder: .string)
/// // … test what asks the cache …
/// fixture.clock.advance(by: .seconds(86_400))
/// // … test what it does when everything has expired.
/// ```
///
/// A test works on a copy in the temporary directory, so that whatever it stores, extends or
/// evicts, the repository stays byte for byte what it was. The one exception is recording: with
/// `LARDER_RECORD` set to anything but `0` in the environment, what a test loads and the fixture
/// lacks is recorded in it.
public final class Fixture: Sendable {
  /// The absolute path of the directory.
  public let path: String
  /// The time for every cache that is opened on the fixture.
  ///
  /// It begins at the last use that the manifest tells of, at which everything that was recorded
  /// was valid; in an empty fixture at 2027-01-15T08:00:00Z.
  public let clock: ManualClock
  /// Whether loads record what the fixture lacks.
  public let isRecording: Bool

  /// The environment variable that asks for recording.
  public static let recordingVariable = "LARDER_RECORD"

  /// Where what is recorded is dated: one time for all, so that recording the same values again on
  /// another day gives the same bytes.
  private let start: Timestamp

  /// Opens a fixture.
  ///
  /// - Parameters:
  ///   - path: Where it is. A relative path begins at the directory of the source file that calls.
  ///   - isRecording: Whether loads record what is missing; when nil, the environment decides.
  ///   - sourceFile: The file that a relative path goes by.
  /// - Throws: `CacheError`: `.directoryMissing` unless recording, which makes it;
  ///   `.invalidArgument` for a manifest with a line that is none, and when recording in a directory
  ///   that holds only other things; `.notADirectory`, `.permissionDenied`, `.io`.
  /// - Complexity: O(entries), of which only the manifest is read.
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
    guard let value = SystemEnvironment.variable(recordingVariable) else { return false }
    return !value.isEmpty && value != "0"
  }

  /// Refuses to record in a directory of other things: a `.gitattributes` there would hold for all
  /// of them.
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
  /// - Throws: `CacheError`, `.invalidArgument` too for an entry that a read refuses: a test that
  ///   went on without it would miss it for a wrong reason.
  func copy() throws(CacheError) -> (directory: ScratchDirectory, names: Set<EntryName>) {
    let scratch = try onFixture(path, "open") { () throws(Errno) in
      try ScratchDirectory("larder-fixture")
    }
    let transfer = try FixtureDirectory(path).unpack(into: scratch.path)
    if let refusal = transfer.refusals.first {
      throw CacheError(
        .invalidArgument, operation: "open", path: "\(path)/\(refusal.name)",
        underlying: "a read refuses it: \(refusal.reason.rawValue)")
    }
    return (scratch, Set(transfer.names))
  }

  /// The value of a key's file, fresh or expired; nil where there is none.
  func value(of name: EntryName) throws(CacheError) -> [UInt8]? {
    try FixtureDirectory(path).value(of: name)
  }

  /// Records a value under a key, and its line in the manifest, unless another test was first.
  ///
  /// - Returns: What the fixture has now: the value, or that of the other test.
  func record(
    _ recording: FixtureDirectory.Recording, forKey key: CacheKey
  ) throws(CacheError) -> [UInt8] {
    let directory = try FixtureDirectory(path)
    let isFirst = try directory.record(recording, forKey: key, at: start, keepsOld: true)
    if isFirst { return recording.value }
    let name = EntryName(key, fileExtension: recording.fileExtension)
    return try directory.value(of: name) ?? recording.value
  }
}
