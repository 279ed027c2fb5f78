import LarderDisk

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
