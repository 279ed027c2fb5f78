import LarderBasics
package import LarderDigest
import LarderSystem

/// The proof of its key in an entry's file, so that a second key with the same MD5 is told apart.
package enum KeyProof: Sendable, Equatable {
  /// The key itself.
  case key([UInt8])
  /// The key's digest, and the end of the key for people to read, empty if there is none. The end
  /// proves nothing, and no key is ever made of it.
  case digest(BLAKE2bDigest, hint: [UInt8])
  /// Nothing.
  case none

  /// A way of writing the proof of a key.
  package enum Form: Sendable, Equatable {
    /// The key itself, if it has at most `maximumRecordedKeyCount` bytes.
    case key
    /// The key itself if the whole attribute has at most so many bytes.
    case keyWithin(Int)
    /// The digest alone.
    case digest
  }

  /// The length of the longest key that is recorded as it is. Of a longer key, the digest is
  /// recorded.
  static let maximumRecordedKeyCount = 2000

  private static let keyMark = UInt8(ascii: "=")
  private static let digestMark = UInt8(ascii: "#")
  private static let noneMark = UInt8(ascii: "-")
  private static let space = UInt8(ascii: " ")

  /// Whether a key can be the one that the file was stored under.
  package func admits(_ key: Span<UInt8>) -> Bool {
    switch self {
    case .key(let own): own.span.hasSameBytes(as: key)
    // To make two keys that collide in MD5 and in 96 bits of BLAKE2b takes 2⁴⁸ steps.
    case .digest(let digest, _): digest == BLAKE2b.digest(of: key)
    case .none: true
    }
  }

  /// The end of a key that is not recorded, for people to read: `…` and the end, escaped.
  package var hintForDisplay: String? {
    guard case .digest(_, let hint) = self, !hint.isEmpty else { return nil }
    return "\u{2026}" + hint.escapedForDisplay
  }

  /// The number of bytes that `append(to:)` writes.
  var byteCount: Int {
    switch self {
    case .key(let key): 1 + key.count
    case .digest(_, let hint): 1 + Base64URL.digestCount + (hint.isEmpty ? 0 : 1 + hint.count)
    case .none: 1
    }
  }

  /// Writes the field, which is the last one.
  func append(to bytes: inout OutputSpan<UInt8>) {
    switch self {
    case .key(let key): Self.append(key: key.span, to: &bytes)
    case .digest(let digest, let hint):
      bytes.append(Self.digestMark)
      Base64URL.append(digest, to: &bytes)
      Self.append(hint: hint.span, to: &bytes)
    case .none: bytes.append(Self.noneMark)
    }
  }

  /// Writes the field of a key behind the other fields.
  ///
  /// - Parameter limit: The bytes of the whole attribute up to which a hint may reach.
  static func append(
    _ key: Span<UInt8>, as form: Form, to bytes: inout OutputSpan<UInt8>, upTo limit: Int
  ) {
    let isRecorded =
      switch form {
      case .key: true
      case .keyWithin(let most): bytes.count + 1 + key.count <= most
      case .digest: false
      }
    if isRecorded && key.count <= maximumRecordedKeyCount {
      append(key: key, to: &bytes)
      return
    }
    bytes.append(digestMark)
    Base64URL.append(BLAKE2b.digest(of: key), to: &bytes)
    if form == .digest { return }
    let start = startOfHint(in: key, upTo: limit - bytes.count - 1)
    append(hint: key.extracting(droppingFirst: start), to: &bytes)
  }

  private static func append(key: Span<UInt8>, to bytes: inout OutputSpan<UInt8>) {
    bytes.append(keyMark)
    bytes.append(copying: key)
  }

  private static func append(hint: Span<UInt8>, to bytes: inout OutputSpan<UInt8>) {
    if hint.isEmpty { return }
    bytes.append(space)
    bytes.append(copying: hint)
  }

  /// Returns the offset of the longest end of a key that fits into a number of bytes and begins
  /// with a whole character.
  static func startOfHint(in key: Span<UInt8>, upTo count: Int) -> Int {
    if key.count <= count { return 0 }
    var start = key.count - max(0, count)
    // Bytes that continue a character: at most three in UTF-8.
    var skipped = 0
    while skipped < 3, start < key.count, key[start] & 0xC0 == 0x80 {
      start += 1
      skipped += 1
    }
    // No character begins with ASCII after another one, except the newline of "\r\n".
    guard start < key.count, key[start] >= 0x80,
      let text = String(validating: [UInt8](copying: key), as: UTF8.self)
    else { return start }
    var index = text.utf8.index(text.startIndex, offsetBy: start)
    while index < text.endIndex, index.samePosition(in: text) == nil {
      index = text.unicodeScalars.index(after: index)
    }
    // Of a character that does not fit, its last scalars are shown.
    return index < text.endIndex ? text.utf8.distance(from: text.startIndex, to: index) : start
  }

  /// Reads the proof; nil when it is malformed.
  init?(_ bytes: Span<UInt8>, at range: Range<Int>) {
    guard let start = range.first else { return nil }
    let rest = bytes.extracting((start + 1)..<range.upperBound)
    switch bytes[start] {
    case Self.keyMark: self = .key([UInt8](copying: rest))
    case Self.digestMark:
      let digest = Base64URL.digest(of: rest.extracting(first: Base64URL.digestCount))
      guard let digest else { return nil }
      let end = rest.extracting(droppingFirst: Base64URL.digestCount)
      guard end.isEmpty || end[0] == Self.space && end.count > 1 else { return nil }
      self = .digest(digest, hint: [UInt8](copying: end.extracting(droppingFirst: 1)))
    case Self.noneMark where rest.isEmpty: self = .none
    default: return nil
    }
  }
}
