import LarderBasics
import LarderDigest
package import LarderDisk
import LarderSystem

/// A directory whose entries are taken over into another one: the files, and the lines that tell of
/// them.
///
/// What a read of the directory refuses is refused here too, so that no copy gives a fresh hash to a
/// file that is damaged or that somebody planted.
package struct FixtureSource: Sendable {
  let handle: DirectoryHandle
  let manifest: FixtureManifest
  /// A last access after this time counts as this time, since the latest is where a fixture's clock
  /// begins.
  let now: Timestamp
  private let reader: EntryReader

  init(_ handle: DirectoryHandle, _ manifest: FixtureManifest, at now: Timestamp) {
    (self.handle, self.manifest, self.now) = (handle, manifest, now)
    reader = EntryReader(forFixtureIn: handle)
  }

  /// What is known of a file beside its content.
  enum Testimony: Sendable {
    /// The lines of the manifest, of which a merge can leave several. They hold for any content,
    /// because values are edited by hand.
    case listed([FixtureLine])
    /// What the file's attribute and stamps say. It holds for the content that was stored.
    case stored(FixtureLine)
    /// Nothing: the line of a file that was made by hand.
    case unknown(FixtureLine)
  }

  /// An open file and what is known of it, or why there is none.
  enum Opening: ~Copyable {
    case file(FileDescriptor, Testimony)
    case refused(MissReason)
    /// It went after its name was read.
    case gone
  }

  /// Opens an entry, unless a read would refuse it for anything but its expiry.
  func open(_ name: EntryName) throws(CacheError) -> Opening {
    switch try reader.open(name.fileName, in: handle) {
    case .missed(let reason, _):
      return reason == .absent || reason == .foreign ? .gone : .refused(reason)
    case .file(let file, let status):
      guard status.isRegular else { return .gone }
      if let reason = reader.trust.objection(to: status, pending: nil, now: now) {
        return .refused(reason)
      }
      do throws(Errno) {
        switch try testimony(of: file, name, status) {
        case .success(let testimony): return .file(file, testimony)
        case .failure(let refusal): return .refused(refusal.reason)
        }
      } catch {
        guard EntryReader.missReason(for: error) != nil else {
          throw CacheError(readFailure: error, name: name.description)
        }
        return .refused(.unreadable)
      }
    }
  }

  private func testimony(
    of file: borrowing FileDescriptor, _ name: EntryName, _ status: FileStatus
  ) throws(Errno) -> Result<Testimony, Refusal> {
    let reading = try reader.attributeReading(of: file)
    if reading == .otherVersion { return .failure(Refusal(reason: .otherVersion)) }
    let lines = manifest.candidates(for: name)
    if !lines.isEmpty { return .success(.listed(lines)) }
    switch reading {
    case .attribute(let attribute):
      let line = FixtureLine(
        name, attribute, status, extendedData: try reader.extendedData(of: file), now: now)
      // A key of another name: the file was renamed by hand, and no read would serve it.
      return line.isNamedByItsKey ? .success(.stored(line)) : .failure(Refusal(reason: .otherKey))
    case nil:
      // In a fixture an empty file without an attribute was made by hand.
      if manifest.lines.isEmpty, try reader.isRemnant(file, status) {
        return .failure(Refusal(reason: .damaged))
      }
      return .success(
        .unknown(
          FixtureLine(
            unlisted: name, lastAccess: manifest.latestAccess ?? FixtureDirectory.start,
            contentHash: 0)))
    case .malformed, .otherVersion: return .failure(Refusal(reason: .damaged))
    }
  }

  private struct Refusal: Error {
    let reason: MissReason
  }
}

extension FixtureSource.Testimony {
  /// The line of a file with a content; nil when the content is not the one that was stored.
  ///
  /// - Parameter hash: The state of the hash after the content.
  func line(_ hash: XXH64) -> FixtureLine? {
    switch self {
    case .stored(let line): return hash.with(line.extendedData) == line.contentHash ? line : nil
    case .unknown(var line):
      line.contentHash = hash.finalize()
      return line
    case .listed(let lines):
      // Of the lines that a merge left, the one whose content is there.
      if let line = lines.first(where: { $0.contentHash == hash.with($0.extendedData) }) {
        return line
      }
      var line = lines.max { ($0.lastAccess, $0.description) < ($1.lastAccess, $1.description) }
      if let data = line?.extendedData { line?.contentHash = hash.with(data) }
      return line
    }
  }
}

/// What taking the entries of one directory over into another came to.
package struct FixtureTransfer: Sendable, Hashable {
  /// The entries taken, in the order of their names.
  package internal(set) var names: [EntryName] = []
  /// The entries that a read refuses and that were left out, with the reasons.
  package internal(set) var refusals: [Refusal] = []

  /// An entry that was left out.
  package struct Refusal: Sendable, Hashable {
    /// The file.
    package let name: EntryName
    /// What a read would say.
    package let reason: MissReason
  }
}
