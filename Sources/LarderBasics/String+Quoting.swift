extension String {
  /// The text between single quotes, which bash, zsh and fish all read back as it was.
  ///
  /// By scalars: a quote that a combining mark follows is another character to Swift, and a quote to
  /// a shell.
  package var singleQuoted: String {
    replacingScalar("'", by: "'\\''", between: "'")
  }

  /// The text with each occurrence of one scalar replaced, whatever stands around it.
  package func replacingScalar(
    _ scalar: Unicode.Scalar, by replacement: String, between ends: String = ""
  ) -> String {
    var text = ends
    for next in unicodeScalars {
      if next == scalar { text += replacement } else { text.unicodeScalars.append(next) }
    }
    return text + ends
  }
}

extension String {
  /// Whether printing the text cannot move the cursor, hide or reorder anything.
  package var isSafeForDisplay: Bool { !unicodeScalars.contains(where: \.isUnsafeForDisplay) }

  /// The text as a word of a shell that is safe to print and stands for every byte of it, but for
  /// newlines at its end.
  package var pasteableWord: String {
    isSafeForDisplay ? singleQuoted : "\"$(printf \(Array(utf8).printfFormat))\""
  }
}

extension Collection<UInt8> {
  /// The format, in single quotes, from which `printf` makes the bytes: printable ASCII as it is, all
  /// else in octal.
  package var printfFormat: String {
    let format = enumerated().map { index, byte in
      switch byte {
      case UInt8(ascii: "%"): "%%"
      // In front it would be taken for an option.
      case UInt8(ascii: "-") where index == 0: Self.octal(byte)
      case UInt8(ascii: "'"), UInt8(ascii: "\\"): Self.octal(byte)
      case 0x20...0x7E: String(UnicodeScalar(byte))
      default: Self.octal(byte)
      }
    }
    return "'" + format.joined() + "'"
  }

  // Three digits, so that one that follows is not taken for a part of it.
  private static func octal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 8)
    return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
  }
}
