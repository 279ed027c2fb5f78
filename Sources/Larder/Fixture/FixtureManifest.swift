/// The text beside the entries of a fixture that tells what git does not keep: a line an entry,
/// sorted by name.
///
/// Small and canonical, so that a change can be reviewed in a diff and two branches can be merged.
package struct FixtureManifest: Sendable, Equatable {
  /// The file's name, which is none that an entry can have.
  static let fileName = FileName("manifest")

  /// The lines by the names of their entries.
  package var lines: [EntryName: FixtureLine] = [:]

  /// Creates the manifest of an empty fixture.
  package init() {}

  /// What is wrong with a text that is no manifest.
  package struct Problem: Error, Sendable, Hashable {
    /// The number of the line, from 1.
    package let lineNumber: Int
    /// What it is, as a clause.
    package let complaint: String
  }

  /// Reads a manifest. The order of the lines does not matter, so that a merge may append.
  package init(parsing text: String) throws(Problem) {
    var number = 0
    for text in text.split(separator: "\n", omittingEmptySubsequences: false) {
      number += 1
      if text.isEmpty { continue }
      guard let line = FixtureLine(text) else {
        throw Problem(lineNumber: number, complaint: "is not the line of an entry")
      }
      guard lines.updateValue(line, forKey: line.name) == nil else {
        throw Problem(lineNumber: number, complaint: "is a second line for \(line.name)")
      }
    }
  }

  /// The manifest as it is written.
  package var text: String {
    lines.keys.sorted().compactMap { lines[$0].map { "\($0)\n" } }.joined()
  }

  /// The last use of all, which is where the clock of a fixture begins.
  package var latestAccess: Timestamp? { lines.values.map(\.lastAccess).max() }
}
