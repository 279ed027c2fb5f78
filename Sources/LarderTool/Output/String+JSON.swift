import Larder

extension String {
  /// The text as a JSON string with its quotes.
  ///
  /// Besides what JSON demands, everything that a terminal might obey or that hides is escaped:
  /// controls, bidirectional marks, line separators. Reading it back gives the same scalars.
  var quotedForJSON: String {
    var text = "\""
    text.reserveCapacity(utf8.count + 2)
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where !scalar.isASCII || scalar.value < 0x20 || scalar.value == 0x7F:
        scalar.appendForJSON(to: &text)
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}

extension Unicode.Scalar {
  /// Appends the character, or its escape by UTF-16 units if it is unsafe.
  fileprivate func appendForJSON(to text: inout String) {
    guard isUnsafeForDisplay else { return text.unicodeScalars.append(self) }
    // JSON escapes by UTF-16: a character beyond U+FFFF is two escapes.
    for unit in String(self).utf16 {
      let digits = String(unit, radix: 16)
      text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
  }
}
