package import LarderDisk
package import LarderSystem

/// The text file beside the entries of a fixture that records what git does not keep: a line per
/// entry, sorted by name.
///
/// It is small and canonical, so that changes can be reviewed in a diff and two branches can be
/// merged.
package struct FixtureManifest: Sendable, Equatable {
  /// The file's name, which no entry can have.
  static let fileName = FileName("manifest")

  /// The lines by the names of their entries.
  package private(set) var lines: [EntryName: FixtureLine] = [:]
  /// Further lines of one name, left by the merge of two branches that recorded one key. The line
  /// that fits the file's content is the valid one.
  private(set) var rivals: [EntryName: [FixtureLine]] = [:]

  /// Creates the manifest of an empty fixture.
  package init() {}

  /// An error in the text of a manifest.
  package struct Problem: Error, Sendable, Hashable {
    /// The number of the line, from 1.
    package let lineNumber: Int
    /// The error, as a clause.
    package let complaint: String
  }

  /// Reads a manifest. The order of the lines does not matter, so that a merge may append. Equal
  /// lines count once.
  package init(parsing text: String) throws(Problem) {
    var number = 0
    for text in text.split(separator: "\n", omittingEmptySubsequences: false) {
      number += 1
      if text.isEmpty { continue }
      guard let line = FixtureLine(text) else {
        throw Problem(lineNumber: number, complaint: "is not the line of an entry")
      }
      let known = candidates(for: line.name)
      if known.isEmpty {
        lines[line.name] = line
      } else if !known.contains(line) {
        rivals[line.name, default: []].append(line)
      }
    }
  }

  /// Returns all lines of a name.
  func candidates(for name: EntryName) -> [FixtureLine] {
    (lines[name].map { [$0] } ?? []) + rivals[name, default: []]
  }

  /// Sets the line of an entry, in place of all lines that it had.
  package mutating func set(_ line: FixtureLine) {
    lines[line.name] = line
    rivals[line.name] = nil
  }

  /// Drops the lines of all other entries.
  mutating func keep(only names: Set<EntryName>) {
    lines = lines.filter { names.contains($0.key) }
    rivals = rivals.filter { names.contains($0.key) }
  }

  /// The manifest as written to its file.
  package var text: String {
    lines.keys.sorted().flatMap { candidates(for: $0).map { "\($0)\n" }.sorted() }.joined()
  }

  /// The latest last use of all entries, at which the clock of a fixture starts.
  package var latestAccess: Timestamp? {
    (lines.values.map(\.lastAccess) + rivals.values.joined().map(\.lastAccess)).max()
  }
}
