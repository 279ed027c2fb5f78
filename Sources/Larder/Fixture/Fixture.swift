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
  ///   `.invalidArgument` for a manifest with a line that is none; `.notADirectory`,
  ///   `.permissionDenied`, `.io`.
  /// - Complexity: O(entries), of which only the manifest is read.
  public init(
    _ path: String, isRecording: Bool? = nil, relativeTo sourceFile: String = #filePath
  ) throws(CacheError) {
    self.path = Self.absolute(path, relativeTo: sourceFile)
    self.isRecording = isRecording ?? Self.isRecordingAskedFor
    let manifest: FixtureManifest
    do throws(CacheError) {
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

  private static func absolute(_ path: String, relativeTo sourceFile: String) -> String {
    if path.hasPrefix("/") { return path }
    let directory = sourceFile.utf8.lastIndex(of: UInt8(ascii: "/")).map { sourceFile[..<$0] }
    return directory.map { "\($0)/\(path)" } ?? path
  }
}

extension Fixture {
  /// Makes a copy that a cache can work on.
  func copy() throws(CacheError) -> ScratchDirectory {
    let scratch = try onFixture(path, "open") { () throws(Errno) in
      try ScratchDirectory("larder-fixture")
    }
    try FixtureDirectory(path).unpack(into: scratch.path)
    return scratch
  }

  /// Whether the fixture has a file for a key, fresh or expired.
  func hasEntry(_ name: EntryName) throws(CacheError) -> Bool {
    let directory = try FixtureDirectory(path)
    return try onFixture(path, "open") { () throws(Errno) in try directory.hasEntry(name) }
  }

  /// Records a value under a key, and its line in the manifest.
  func record(
    _ recording: FixtureDirectory.Recording, forKey key: CacheKey
  ) throws(CacheError) {
    try FixtureDirectory(path).record(recording, forKey: key, at: start)
  }
}
