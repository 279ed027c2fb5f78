package import LarderDisk
package import LarderSystem

/// The text beside the entries of a fixture that tells what git does not keep: a line an entry,
/// sorted by name.
///
/// Small and canonical, so that a change can be reviewed in a diff and two branches can be merged.
package struct FixtureManifest: Sendable, Equatable {
  /// The file's name, which is none that an entry can have.
  static let fileName = FileName("manifest")

  /// The lines by the names of their entries.
  package private(set) var lines: [EntryName: FixtureLine] = [:]
  /// Further lines of one name, as the merge of two branches that recorded one key leaves them. The
  /// content of the file tells which of them holds.
  private(set) var rivals: [EntryName: [FixtureLine]] = [:]

  /// Creates the manifest of an empty fixture.
  package init() {}

  /// What is wrong with a text that is no manifest.
  package struct Problem: Error, Sendable, Hashable {
    /// The number of the line, from 1.
    package let lineNumber: Int
    /// What it is, as a clause.
    package let complaint: String
  }

  /// Reads a manifest. The order of the lines does not matter, so that a merge may append; of equal
  /// lines one counts.
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

  /// All lines of a name.
  func candidates(for name: EntryName) -> [FixtureLine] {
    (lines[name].map { [$0] } ?? []) + rivals[name, default: []]
  }

  /// Gives an entry its line, in the place of all that it had.
  package mutating func set(_ line: FixtureLine) {
    lines[line.name] = line
    rivals[line.name] = nil
  }

  /// Drops the lines of all other entries.
  mutating func keep(only names: Set<EntryName>) {
    lines = lines.filter { names.contains($0.key) }
    rivals = rivals.filter { names.contains($0.key) }
  }

  /// The manifest as it is written.
  package var text: String {
    lines.keys.sorted().flatMap { candidates(for: $0).map { "\($0)\n" }.sorted() }.joined()
  }

  /// The last use of all, which is where the clock of a fixture begins.
  package var latestAccess: Timestamp? {
    (lines.values.map(\.lastAccess) + rivals.values.joined().map(\.lastAccess)).max()
  }
}
