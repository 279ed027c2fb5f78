import LarderSystem

extension String {
  /// The text between single quotes, which bash, zsh and fish all read back unchanged.
  ///
  /// Quotes by scalars, because a quote and a combining mark after it are one character to Swift,
  /// but a quote to a shell.
  package var singleQuoted: String {
    replacingScalar("'", by: "'\\''", between: "'")
  }

  /// Returns the text with each occurrence of one scalar replaced, also within a character.
  package func replacingScalar(
    _ scalar: Unicode.Scalar, by replacement: String, between ends: String = ""
  ) -> String {
    var text = ends
    for next in unicodeScalars {
      if next == scalar { text += replacement } else { text.unicodeScalars.append(next) }
    }
    return text + ends
  }

  /// Whether printing the text cannot move the cursor, hide or reorder anything.
  package var isSafeForDisplay: Bool { !unicodeScalars.contains(where: \.isUnsafeForDisplay) }

  /// The text as a shell word that is safe to print and stands for every byte of it, except
  /// newlines at its end.
  package var pasteableWord: String {
    isSafeForDisplay ? singleQuoted : "\"$(printf \(Array(utf8).printfFormat))\""
  }
}

extension Collection<UInt8> {
  /// The format, in single quotes, from which `printf` makes the bytes: printable ASCII as it is,
  /// all other bytes in octal.
  package var printfFormat: String {
    let format = enumerated().map { index, byte in
      switch byte {
      case UInt8(ascii: "%"): "%%"
      // As the first byte it would be taken for an option.
      case UInt8(ascii: "-") where index == 0: Self.octal(byte)
      case UInt8(ascii: "'"), UInt8(ascii: "\\"): Self.octal(byte)
      case 0x20...0x7E: String(UnicodeScalar(byte))
      default: Self.octal(byte)
      }
    }
    return "'" + format.joined() + "'"
  }

  // Three digits, so that a digit after them is not taken for a part of the number.
  private static func octal(_ byte: UInt8) -> String { "\\" + byte.digits(3, radix: 8) }

  /// The bytes as text that keeps every byte and holds no command to a terminal.
  ///
  /// UTF-8 is escaped as by `String.escapedForDisplay`; each byte that belongs to no character
  /// becomes `\x` and two hexadecimal digits. Different bytes give different texts.
  package var escapedForDisplay: String {
    // Most keys need no escapes, and the properties of characters take long to look up.
    if allSatisfy({ 0x20...0x7E ~= $0 && $0 != UInt8(ascii: "\\") }) {
      return String(decoding: self, as: UTF8.self)
    }
    var text = ""
    var parser = UTF8.ForwardParser()
    var source = makeIterator()
    var start = startIndex
    while true {
      switch parser.parseScalar(from: &source) {
      case .valid(let scalar):
        text += String(UTF8.decode(scalar)).escapedForDisplay
        start = index(start, offsetBy: scalar.count)
      // As bytes and not as U+FFFD, which would make different names look alike.
      case .error(let length):
        let end = index(start, offsetBy: length)
        text += self[start..<end].map { "\\x" + $0.digits(2, radix: 16) }.joined()
        start = end
      case .emptyInput: return text
      }
    }
  }
}

extension String {
  /// The text with everything escaped that a terminal might obey.
  ///
  /// Control characters, escapes, bidirectional marks, line separators and other invisible format
  /// characters become `\u{…}`, and a backslash is doubled. For every key, name and path printed.
  package var escapedForDisplay: String {
    var text = ""
    text.reserveCapacity(utf8.count)
    for scalar in unicodeScalars {
      // Doubled, so that no name can pretend to be an escape.
      if scalar == "\\" {
        text += "\\\\"
      } else if scalar.isUnsafeForDisplay {
        text += "\\u{" + String(scalar.value, radix: 16) + "}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

extension Unicode.Scalar {
  /// Whether printing the character could move the cursor, hide or reorder text.
  package var isUnsafeForDisplay: Bool {
    if value < 0x7F { return value < 0x20 }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned,
      .privateUse:
      true
    default:
      properties.isDefaultIgnorableCodePoint
    }
  }
}
