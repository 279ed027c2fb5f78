/// Bytes as a manifest spells them: printable ASCII as it is, all else as `\xHH`.
///
/// What a manifest holds stays one line of text whatever a key or a name is made of, and different
/// bytes have different spellings.
enum EscapedText {
  /// A text that is no such spelling.
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
