extension Collection<UInt8> {
  /// The bytes as text in which nothing can command a terminal and nothing is lost.
  ///
  /// Stretches of UTF-8 are escaped as `String.escapedForDisplay` does; each byte that belongs to
  /// no character becomes `\x` and two hexadecimal digits. Different bytes give different texts.
  package var escapedForDisplay: String {
    var text = ""
    var valid: [UInt8] = []
    var parser = UTF8.ForwardParser()
    var source = makeIterator()
    var start = startIndex
    while true {
      switch parser.parseScalar(from: &source) {
      case .valid(let scalar):
        valid.append(contentsOf: scalar)
        start = index(start, offsetBy: scalar.count)
      // Written out as bytes and not as U+FFFD, which would make different names look alike.
      case .error(let length):
        let end = index(start, offsetBy: length)
        text += String(decoding: valid, as: UTF8.self).escapedForDisplay
        text += self[start..<end].map(Self.escape).joined()
        valid.removeAll(keepingCapacity: true)
        start = end
      case .emptyInput:
        return text + String(decoding: valid, as: UTF8.self).escapedForDisplay
      }
    }
  }

  private static func escape(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return digits.count == 1 ? "\\x0" + digits : "\\x" + digits
  }
}
