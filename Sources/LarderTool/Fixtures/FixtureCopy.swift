import Larder
import LarderFixtures

/// A copy of a fixture in the temporary directory, with the stamps and attributes that its manifest
/// records and git does not keep: what a test would read.
///
/// The copy is removed with the object.
final class FixtureCopy: Sendable {
  /// What the fixture records.
  let manifest: FixtureManifest
  /// The time at which the fixture's clock stands: the last of its uses.
  let now: Timestamp
  /// The entries that a read refuses, which the copy lacks.
  let refusals: [FixtureTransfer.Refusal]
  private let directory: ScratchDirectory

  /// The path of the copy.
  var path: String { directory.path }

  /// Whether a directory has a manifest of its own, with or without lines.
  static func isFixture(_ path: String) throws(CacheError) -> Bool {
    let fixture = try FixtureDirectory(path)
    guard try fixture.hasManifest() else { return false }
    return try fixture.manifestIfOwn() != nil
  }

  /// Copies a fixture; nil if the directory is none, or one without a recorded entry.
  init?(of path: String) throws(CacheError) {
    let fixture = try FixtureDirectory(path)
    guard let manifest = try fixture.manifestIfOwn(), let now = manifest.latestAccess else {
      return nil
    }
    self.manifest = manifest
    self.now = now
    do throws(Errno) {
      directory = try ScratchDirectory("larder-fixture")
    } catch {
      throw CacheError(errno: error, operation: "open", path: ScratchDirectory.parent)
    }
    EndingSignals.remove { [weak directory] in directory?.remove() }
    refusals = try fixture.unpack(into: directory.path).refusals
  }

  /// Returns the reason for which a read refuses an entry of the fixture; nil if none does.
  func refusal(of name: EntryName) -> MissReason? {
    refusals.first { $0.name == name }?.reason
  }

  /// Returns an entry of the copy with its key from the manifest. A long one may not fit into the
  /// copy's attribute.
  func entry(_ entry: DiskEntry) -> DiskEntry {
    guard entry.key == nil, let name = EntryName(Array(entry.name.utf8)),
      let line = manifest.candidates(for: name).first
    else { return entry }
    var entry = entry
    entry.key = line.key
    entry.keyHint = line.proof.hintForDisplay
    return entry
  }
}
