package import LarderBasics
import LarderDigest
package import LarderDisk
package import LarderSystem

/// A directory whose entries are copied to another: the files, and the lines that describe them.
///
/// Refuses what a read of the directory refuses, so that no copy gives a fresh hash to a file that
/// is damaged or was planted by an attacker.
package struct FixtureSource: Sendable {
  let handle: DirectoryHandle
  package let manifest: FixtureManifest
  /// The latest valid last access. A later one, at which a clock would start, counts as this.
  let now: Timestamp
  private let reader: EntryReader

  package init(_ handle: DirectoryHandle, _ manifest: FixtureManifest, at now: Timestamp) {
    (self.handle, self.manifest, self.now) = (handle, manifest, now)
    reader = EntryReader(forFixtureIn: handle)
  }

  /// The record about a file beside its content.
  package enum Testimony: Sendable {
    /// The lines of the manifest; a merge can leave several. A single one holds for any content,
    /// because values are edited by hand; of several, one has to fit it.
    case listed([FixtureLine])
    /// A line from the file's attribute and stamps. It holds only for the content that was stored.
    case stored(FixtureLine)
    /// No record: the line of a file that was made by hand.
    case unknown(FixtureLine)
  }

  /// An open file and its record, or the reason why there is none.
  package enum Opening: ~Copyable {
    case file(FileDescriptor, Testimony)
    case refused(MissReason)
    /// The file was removed after its name was read.
    case gone
  }

  /// Opens an entry, unless a read would refuse it for a reason other than its expiry.
  package func open(_ name: EntryName) throws(CacheError) -> Opening {
    switch try reader.open(name.fileName, in: handle) {
    case .missed(let reason, _):
      return reason == .absent || reason == .foreign ? .gone : .refused(reason)
    case .file(let file, let status):
      guard status.isRegular else { return .gone }
      if let reason = reader.trust.missReason(for: status, pending: nil, now: now) {
        return .refused(reason)
      }
      do throws(Errno) {
        return try describe(file, name, status)
      } catch {
        try EntryReader.missReason(for: error, of: name)
        return .refused(.unreadable)
      }
    }
  }

  /// Finds the record of an open file.
  private func describe(
    _ file: consuming FileDescriptor, _ name: EntryName, _ status: FileStatus
  ) throws(Errno) -> Opening {
    let reading = try reader.attributeReading(of: file)
    if reading == .otherVersion { return .refused(.otherVersion) }
    let lines = manifest.candidates(for: name)
    if !lines.isEmpty { return .file(file, .listed(lines)) }
    switch reading {
    case .attribute(let attribute):
      let line = FixtureLine(
        name, attribute, status, extendedData: try EntryReader.extendedData(of: file), now: now)
      // If the key has another name, the file was renamed by hand, and no read would serve it.
      return line.isNamedByItsKey ? .file(file, .stored(line)) : .refused(.otherKey)
    case nil:
      // Without an attribute it can be the rest of a store; in a fixture it was made by hand.
      let isFixture = try handle.statusIfPresent(of: FixtureManifest.fileName) != nil
      if !isFixture, try reader.isRemnant(file, status) { return .refused(.damaged) }
      let line = FixtureLine(
        name: name, proof: .none, expiry: .never,
        lastAccess: manifest.latestAccess ?? FixtureDirectory.start, lifetime: .fixed,
        contentHash: 0)
      return .file(file, .unknown(line))
    case .malformed, .otherVersion: return .refused(.damaged)
    }
  }
}

extension FixtureSource.Testimony {
  /// Returns the line of a file with a given content; nil if the content is not a stored one.
  ///
  /// - Parameter hash: The state of the hash after the content.
  package func line(_ hash: ContentHash) -> FixtureLine? {
    switch self {
    case .stored(let line):
      return hash.finalize(with: line.extendedData) == line.contentHash ? line : nil
    case .unknown(var line):
      line.contentHash = hash.finalize(with: [])
      return line
    case .listed(let lines):
      // Of the lines that a merge left, the one that fits the content.
      if let line = lines.first(where: { $0.contentHash == hash.finalize(with: $0.extendedData) }) {
        return line
      }
      // A merge of two contents, which neither branch recorded.
      guard lines.count == 1, var line = lines.first else { return nil }
      line.contentHash = hash.finalize(with: line.extendedData)
      return line
    }
  }
}

/// The result of copying the entries of one directory into another.
package struct FixtureTransfer: Sendable, Hashable {
  /// The copied entries, in the order of their names.
  package var names: [EntryName] = []
  /// Those left out of a manifest because several of their lines fit the content.
  package var doubled: [EntryName] = []
  /// The entries left out because a read refuses them, with the reasons.
  package var refusals: [Refusal] = []

  package init() {}

  /// An entry that was left out.
  package struct Refusal: Sendable, Hashable {
    /// The file.
    package let name: EntryName
    /// The reason that a read would give.
    package let reason: MissReason

    package init(name: EntryName, reason: MissReason) {
      (self.name, self.reason) = (name, reason)
    }
  }
}
