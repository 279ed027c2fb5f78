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

/// A scanner that reads the fields of a manifest's line from the left.
struct FixtureScanner {
  private var rest: Substring

  init(_ line: some StringProtocol) {
    rest = Substring(line)
  }

  var isAtEnd: Bool { rest.isEmpty }

  /// Returns the text before the next space, and skips the space.
  mutating func word() -> Substring {
    let word = rest.prefix { $0 != " " }
    rest = rest.dropFirst(word.count + 1)
    return word
  }

  /// Returns the value of the field with a name; nil if another field comes next.
  mutating func field(_ name: String) -> Substring? {
    guard rest.hasPrefix("\(name)=") else { return nil }
    return word().dropFirst(name.count + 1)
  }

  /// Returns the bytes of the field with a name whose value is in quotes.
  mutating func quotedField(_ name: String) -> [UInt8]? {
    guard rest.hasPrefix("\(name)=") else { return nil }
    rest = rest.dropFirst(name.count + 1)
    return quoted()
  }

  /// Returns the key in quotes, its digest, or the mark that it is unknown.
  mutating func proof() -> KeyProof? {
    if rest.hasPrefix("\"") { return quoted().map { .key($0) } }
    let word = word()
    if word == "-" { return KeyProof.none }
    guard word.hasPrefix("#"), word.utf8.count == 33,
      let first = FixtureLine.word(word.dropFirst().prefix(16)),
      let second = FixtureLine.word(word.suffix(16))
    else { return nil }
    return .digest(first, second)
  }

  /// Returns the bytes between two quotes. A quote or a backslash among them is escaped.
  private mutating func quoted() -> [UInt8]? {
    guard rest.popFirst() == "\"", let end = rest.firstIndex(of: "\"") else { return nil }
    let text = rest[..<end]
    rest = rest[rest.index(after: end)...]
    guard rest.isEmpty || rest.popFirst() == " " else { return nil }
    do throws(EscapedText.Malformed) {
      return try EscapedText.bytes(of: text)
    } catch {
      return nil
    }
  }
}

/// The spelling of bytes in a manifest: printable ASCII as it is, all other bytes as `\xHH`.
///
/// So an entry stays one line of text whatever bytes a key or a name has, and different bytes have
/// different spellings.
enum EscapedText {
  /// The error for a text that is not such a spelling.
  struct Malformed: Error {
    let text: String
  }

  /// Spells bytes. A name's spaces are escaped, an attribute's are not.
  static func spelling(of bytes: some Sequence<UInt8>, escapingSpaces: Bool) -> String {
    bytes.map { byte in
      let isPlain = (escapingSpaces ? 0x21 : 0x20)...0x7E ~= byte && byte != 0x22 && byte != 0x5C
      if isPlain { return String(UnicodeScalar(byte)) }
      let digits = String(byte, radix: 16)
      return "\\x" + (digits.count == 1 ? "0" : "") + digits
    }.joined()
  }

  /// Reads a spelling.
  static func bytes(of text: some StringProtocol) throws(Malformed) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Substring(text)
    while let character = rest.popFirst() {
      guard character == "\\" else {
        bytes += character.utf8
        continue
      }
      guard rest.popFirst() == "x", let byte = UInt8(rest.prefix(2), radix: 16) else {
        throw Malformed(text: String(text))
      }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}
