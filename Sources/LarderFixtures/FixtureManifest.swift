import LarderBasics
import LarderDigest
package import LarderDisk
package import LarderSystem

/// The text file beside a fixture's entries with what git does not keep: a line each, by name.
///
/// Small and canonical, so that changes can be reviewed in a diff, and two branches be merged.
package struct FixtureManifest: Sendable, Equatable {
  /// The file's name, which no entry can have.
  package static let fileName = FileName("manifest")

  /// The lines by the names of their entries. A name has several after the merge of two branches
  /// that recorded one key. The line that fits the file's content is the valid one.
  package var lines: [EntryName: [FixtureLine]] = [:]

  /// Creates the manifest of an empty fixture.
  package init() {}

  /// An error in the text of a manifest.
  package struct Problem: Error, Sendable, Hashable {
    /// The number of the line, from 1, which is not the line of an entry.
    package let lineNumber: Int
  }

  /// Reads a manifest. Lines may stand in any order, as after a merge. Equal lines count once.
  package init(parsing text: String) throws(Problem) {
    var number = 0
    // To Swift the line ending of Windows is one character.
    for text in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      number += 1
      if text.isEmpty { continue }
      guard let line = FixtureLine(text) else { throw Problem(lineNumber: number) }
      if !candidates(for: line.name).contains(line) { lines[line.name, default: []].append(line) }
    }
  }

  /// Returns all lines of a name.
  package func candidates(for name: EntryName) -> [FixtureLine] {
    lines[name, default: []]
  }

  /// Sets the line of an entry, in place of all lines that it had.
  package mutating func set(_ line: FixtureLine) {
    lines[line.name] = [line]
  }

  /// The manifest as written to its file.
  package var text: String {
    lines.keys.sorted().flatMap { candidates(for: $0).map { "\($0)\n" }.sorted() }.joined()
  }

  /// The latest last use of all entries, at which the clock of a fixture starts.
  package var latestAccess: Timestamp? {
    lines.values.joined().map(\.lastAccess).max()
  }
}

/// A scanner that reads the fields of a manifest's line from the left.
///
/// It works on bytes, because a combining mark would make one character of a quote and itself.
struct FixtureScanner {
  private var rest: ArraySlice<UInt8>

  init(_ line: some StringProtocol) {
    rest = ArraySlice(line.utf8)
  }

  var isAtEnd: Bool { rest.isEmpty }

  /// Returns the bytes before the next space, and skips the space.
  mutating func word() -> ArraySlice<UInt8> {
    let word = rest.prefix { $0 != UInt8(ascii: " ") }
    rest = rest.dropFirst(word.count + 1)
    return word
  }

  /// Returns the value of the field with a name; nil if another field comes next.
  mutating func field(_ name: String) -> ArraySlice<UInt8>? {
    guard rest.starts(with: "\(name)=".utf8) else { return nil }
    return word().dropFirst(name.utf8.count + 1)
  }

  /// Returns the value of the field with a name as text; nil if another field comes next.
  mutating func textField(_ name: String) -> Substring? {
    field(name).map { Substring(decoding: $0, as: UTF8.self) }
  }

  /// Returns the bytes of the field with a name whose value is in quotes.
  mutating func quotedField(_ name: String) -> [UInt8]? {
    guard rest.starts(with: "\(name)=".utf8) else { return nil }
    rest = rest.dropFirst(name.utf8.count + 1)
    return quoted()
  }

  /// Returns the key in quotes, its digest, or the mark that it is unknown.
  mutating func proof() -> KeyProof? {
    if rest.first == UInt8(ascii: "\"") { return quoted().map { .key($0) } }
    if rest.first != UInt8(ascii: "#") {
      return word().elementsEqual("-".utf8) ? KeyProof.none : nil
    }
    guard rest.count > Base64URL.digestCount,
      let digest = Base64URL.digest(
        of: Array(rest.dropFirst().prefix(Base64URL.digestCount)).span)
    else { return nil }
    rest = rest.dropFirst(1 + Base64URL.digestCount)
    if rest.first == UInt8(ascii: "\"") { return quoted().map { .digest(digest, hint: $0) } }
    return word().isEmpty ? .digest(digest, hint: []) : nil
  }

  /// Returns the bytes between two quotes. A quote or a backslash among them is escaped.
  private mutating func quoted() -> [UInt8]? {
    let quote = UInt8(ascii: "\"")
    guard rest.popFirst() == quote, let end = rest.firstIndex(of: quote) else { return nil }
    let text = rest[..<end]
    rest = rest[(end + 1)...]
    guard rest.isEmpty || rest.popFirst() == UInt8(ascii: " ") else { return nil }
    return EscapedText.bytes(of: text)
  }
}

/// The spelling of bytes in a manifest: visible text in UTF-8 as it is, all other bytes as `\xHH`.
///
/// So an entry stays one line of text whatever bytes a key or a name has, and different bytes have
/// different spellings. If bytes are not UTF-8 from end to end, only their ASCII is kept.
enum EscapedText {
  /// The characters past ASCII that show nothing, look like a space, join the one before or reorder
  /// the line. A fixed list, because the tables of Unicode grow with each toolchain and a manifest
  /// must not change with them.
  private static let hidden: [ClosedRange<UInt32>] = [
    0x80...0xA0, 0xAD...0xAD, 0x300...0x36F, 0x61C...0x61C, 0x115F...0x1160, 0x17B4...0x17B5,
    0x180B...0x180F, 0x2000...0x200F, 0x2028...0x202F, 0x205F...0x206F, 0x2800...0x2800,
    0x3000...0x3000, 0x3164...0x3164, 0xE000...0xF8FF, 0xFDD0...0xFDEF, 0xFE00...0xFE0F,
    0xFEFF...0xFEFF, 0xFFA0...0xFFA0, 0xFFF0...0xFFFF, 0x1D173...0x1D17A, 0xE0000...0x10FFFF,
  ]

  /// Spells bytes.
  static func spelling(of bytes: [UInt8]) -> String {
    guard let valid = String(validating: bytes, as: UTF8.self) else {
      return bytes.map { byte in
        let isText = byte < 0x80 && isVisible(Unicode.Scalar(byte))
        return isText ? String(Unicode.Scalar(byte)) : escape(byte)
      }.joined()
    }
    var text = String.UnicodeScalarView()
    for scalar in valid.unicodeScalars {
      if isVisible(scalar) {
        text.append(scalar)
      } else {
        for byte in String(scalar).utf8 { text += escape(byte).unicodeScalars }
      }
    }
    return String(text)
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x22, 0x5C: false
    case 0..<0x80: 0x20...0x7E ~= scalar.value
    default: !hidden.contains { $0.contains(scalar.value) }
    }
  }

  private static func escape(_ byte: UInt8) -> String { "\\x" + byte.digits(2, radix: 16) }

  /// Reads a spelling, whose text is UTF-8; nil for any other text.
  static func bytes(of text: some Collection<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = ArraySlice(text)
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      let isEscape = rest.popFirst() == UInt8(ascii: "x")
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard isEscape, let byte = UInt8(digits, radix: 16) else { return nil }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}
