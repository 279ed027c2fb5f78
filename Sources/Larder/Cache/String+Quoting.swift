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
