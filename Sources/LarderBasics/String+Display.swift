extension String {
  /// The text with everything that a terminal might obey spelled out.
  ///
  /// Control characters, escapes, bidirectional marks, line separators and other invisible format
  /// characters become `\u{…}`, a backslash doubles. Applies to every key, name and path printed.
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
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned,
      .privateUse:
      true
    default:
      properties.isDefaultIgnorableCodePoint
    }
  }
}
