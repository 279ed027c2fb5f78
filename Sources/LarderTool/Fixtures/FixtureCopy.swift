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
      // Not as of a cache that is missing.
      throw CacheError(.io, operation: "open", path: ScratchDirectory.parent, errno: error)
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

extension Call {
  /// Returns the call with a copy of DIR to read in its place if DIR is a fixture, whose files have
  /// the stamps of a checkout.
  func readingFixture() throws(Failure) -> Call {
    try requireCache()
    let path = try Self.path(of: arguments.directory)
    var call = self
    call.fixtureCopy = try onFixture { () throws(CacheError) in try FixtureCopy(of: path) }
    if let fixture = call.fixtureCopy, console.isTerminal, !isJSON {
      let line = "a fixture: its clock stands at \(fixture.now.rfc3339)"
      console.talk(console.style.dim(line) + "\n")
    }
    return call
  }

  /// Returns the cache in DIR itself, for what the copy of a fixture does not show: its path and
  /// its file system.
  func original(of cache: DiskCache) throws(Failure) -> DiskCache {
    if fixtureCopy == nil { return cache }
    return try Call(arguments: arguments, console: console).openForReading()
  }

  /// Reports the entries of a fixture that a read refuses.
  func sayRefusals() {
    for refusal in fixtureCopy?.refusals ?? [] {
      console.say("\(refusal.name) is left out: \(refusal.reason.sentenceInFixture)")
    }
  }

  /// The member of an object that has the time at which a fixture's clock stands.
  var clockMembers: [JSONValue.Member] {
    fixtureCopy.map { [JSONValue.Member(name: "clock", value: .time($0.now))] } ?? []
  }
}
