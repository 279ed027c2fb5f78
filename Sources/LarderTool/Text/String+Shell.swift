import Larder

extension String {
  /// The text as one word of a shell, quoted only if necessary.
  var shellWord: String {
    let isPlain = !isEmpty && unicodeScalars.allSatisfy(Self.isPlain)
    return isPlain ? self : singleQuoted
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "/", ".", "_", "-", "+", ",", ":", "@", "%": true
    default: false
    }
  }
}

extension Collection<UInt8> {
  /// The bytes for a message: escaped, in single quotes, and cut to 48 columns.
  ///
  /// The limit is needed because keys of 128 KiB can be given as arguments.
  var quotedForDisplay: String {
    let limit = 48
    let text = prefix(4 * limit).escapedForDisplay
    let shown = text.truncated(toWidth: limit)
    return count > 4 * limit && shown == text ? "'\(shown)\u{2026}'" : "'\(shown)'"
  }
}
