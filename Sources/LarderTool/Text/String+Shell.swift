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
