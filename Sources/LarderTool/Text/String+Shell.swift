import Larder

extension String {
  /// The text as one word of a shell, quoted only if it has to be.
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
  /// The bytes escaped, between single quotes, and cut to what a message can bear.
  ///
  /// Keys of 128 KiB come as arguments; a message shows the first 48 columns of them.
  var quotedForDisplay: String {
    let limit = 48
    let text = prefix(4 * limit).escapedForDisplay
    let shown = text.truncated(toWidth: limit)
    return count > 4 * limit && shown == text ? "'\(shown)\u{2026}'" : "'\(shown)'"
  }
}
