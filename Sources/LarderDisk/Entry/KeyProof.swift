import LarderDigest
import LarderSystem

/// The proof of its key in an entry's file, so that a second key with the same MD5 is told apart.
package enum KeyProof: Sendable, Equatable {
  /// The key itself.
  case key([UInt8])
  /// The first 128 bits of the key's SHA-256, as two words.
  case digest(UInt64, UInt64)
  /// Nothing.
  case none
}

extension KeyProof {
  /// The length of the longest key that is recorded as it is. Of a longer key, the digest is
  /// recorded.
  static let maximumRecordedKeyCount = 2000

  private static let keyMark = UInt8(ascii: "=")
  private static let digestMark = UInt8(ascii: "#")
  private static let noneMark = UInt8(ascii: "-")

  /// Makes the proof of a key.
  ///
  /// - Complexity: O(bytes).
  package init(of key: Span<UInt8>, recordsKey: Bool) {
    guard recordsKey, key.count <= Self.maximumRecordedKeyCount else {
      self = .digest(of: key)
      return
    }
    self = .key([UInt8](copying: key))
  }

  private static func digest(of key: Span<UInt8>) -> KeyProof {
    let words = SHA256.digest(of: key).words
    return .digest(words[0], words[1])
  }

  /// Whether a key can be the one that the file was stored under.
  package func admits(_ key: Span<UInt8>) -> Bool {
    switch self {
    case .key(let own): own.span.hasSameBytes(as: key)
    // Half of a SHA-256 is enough to tell apart keys that were made to collide in MD5.
    case .digest: self == .digest(of: key)
    case .none: true
    }
  }

  /// Writes the field of a key that is recorded as it is.
  static func append(key: Span<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(keyMark)
    bytes.append(copying: key)
  }

  /// Writes the field, which is the last one.
  func append(to bytes: inout [UInt8]) {
    switch self {
    case .key(let key): Self.append(key: key.span, to: &bytes)
    case .digest(let first, let second):
      bytes.append(Self.digestMark)
      Hexadecimal.append(first, to: &bytes)
      Hexadecimal.append(second, to: &bytes)
    case .none: bytes.append(Self.noneMark)
    }
  }

  /// Reads the proof; nil when it is malformed.
  init?(_ bytes: Span<UInt8>, at range: Range<Int>) {
    guard let start = range.first else { return nil }
    let rest = (start + 1)..<range.upperBound
    switch bytes[start] {
    case Self.keyMark: self = .key([UInt8](copying: bytes.extracting(rest)))
    case Self.digestMark:
      guard rest.count == 32,
        let first = Hexadecimal.word(of: bytes.extracting(rest.prefix(16))),
        let second = Hexadecimal.word(of: bytes.extracting(rest.suffix(16)))
      else { return nil }
      self = .digest(first, second)
    case Self.noneMark where rest.isEmpty: self = .none
    default: return nil
    }
  }
}
