extension String {
  /// The text in lines of at most so many columns, broken at spaces.
  ///
  /// A word that is wider than a line gets one to itself. There is always at least one line.
  func wrapped(toWidth width: Int) -> [String] {
    var lines = [""]
    for word in split(separator: " ") {
      let line = lines[lines.count - 1]
      if line.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if line.displayWidth + 1 + String(word).displayWidth <= width {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
