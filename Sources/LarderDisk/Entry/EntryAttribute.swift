package import LarderBasics
package import LarderDigest
import LarderSystem

/// The content of an entry's attribute `user.larder`: `1 <hash> <lifetime> <proof>`.
///
/// The text is untrusted, because any program that can write to the file can change it. It is read
/// as bytes and within bounds, and no text traps the process.
package struct EntryAttribute: Sendable, Equatable {
  /// XXH64 of the content followed by the extended data.
  package var contentHash: UInt64
  /// The lifetime by which an extending use sets the expiry.
  package var lifetime: Lifetime
  /// The proof of the key that the file was stored under.
  package var proof: KeyProof

  package init(contentHash: UInt64, lifetime: Lifetime, proof: KeyProof) {
    self.contentHash = contentHash
    self.lifetime = lifetime
    self.proof = proof
  }

  /// The outcome of reading an attribute.
  package enum Reading: Sendable, Equatable {
    case attribute(EntryAttribute)
    /// The attribute of another version of the format, by which no file is judged or removed.
    case otherVersion
    /// A text that this format does not know. Where the content is checked, this is damage.
    case malformed

    /// The attribute, if this format knows it.
    package var attribute: EntryAttribute? {
      if case .attribute(let attribute) = self { attribute } else { nil }
    }
  }

  /// The version of the format that this code writes and reads.
  static let version = UInt8(ascii: "1")

  fileprivate static let space = UInt8(ascii: " ")

  /// The largest number of bytes that ext4 keeps in an inode of 256 bytes: what is larger costs the
  /// entry a block of its own. Measured with `Tests/Reliability/inode-room`.
  package static let inodeByteCount = 64

  /// The bytes before the proof with the longest lifetime.
  private static let maximumHeadCount = 25

  /// The attribute as it is stored.
  package var bytes: [UInt8] {
    [UInt8](capacity: Self.maximumHeadCount + proof.byteCount) { bytes in
      Self.appendHead(contentHash, lifetime, to: &bytes)
      proof.append(to: &bytes)
    }
  }

  /// The attribute with as much of the hint as fits into `inodeByteCount`, after the lifetime was
  /// changed to one of more characters.
  package var fitted: EntryAttribute {
    let excess = bytes.count - Self.inodeByteCount
    guard excess > 0, case .digest(let digest, let hint) = proof else { return self }
    let start = KeyProof.startOfHint(in: hint.span, upTo: hint.count - excess)
    var fitted = self
    fitted.proof = .digest(digest, hint: Array(hint.dropFirst(start)))
    return fitted
  }

  /// Returns the attribute as it is stored: at most `inodeByteCount` bytes without the key.
  ///
  /// - Complexity: O(bytes of the key), with one allocation.
  package static func bytes(
    _ contentHash: UInt64, _ lifetime: Lifetime, key: Span<UInt8>, as form: KeyProof.Form
  ) -> [UInt8] {
    let longest = min(key.count, KeyProof.maximumRecordedKeyCount)
    return [UInt8](capacity: max(inodeByteCount, maximumHeadCount + 1 + longest)) { bytes in
      appendHead(contentHash, lifetime, to: &bytes)
      KeyProof.append(key, as: form, to: &bytes, upTo: inodeByteCount)
    }
  }

  /// Appends the fields before the proof.
  private static func appendHead(
    _ contentHash: UInt64, _ lifetime: Lifetime, to bytes: inout OutputSpan<UInt8>
  ) {
    bytes.append(version)
    bytes.append(space)
    Base64URL.append(contentHash, to: &bytes)
    bytes.append(space)
    lifetime.append(to: &bytes)
    bytes.append(space)
  }

  /// Reads an attribute.
  ///
  /// - Complexity: O(bytes), at most 4,096 of them.
  static func read(_ bytes: Span<UInt8>) -> Reading {
    var start = 0
    guard let version = field(of: bytes, from: &start, upTo: 20) else { return .malformed }
    // "01" and "12" are other versions, not damage: a later program's file must not be removed.
    guard version.count == 1, bytes[version.lowerBound] == Self.version else {
      return version.isEmpty || version.contains { !bytes[$0].isDigit }
        ? .malformed : .otherVersion
    }
    guard let hashField = field(of: bytes, from: &start, upTo: Base64URL.wordCount),
      let hash = Base64URL.word(of: bytes.extracting(hashField)),
      let lifetimeField = field(of: bytes, from: &start, upTo: 21),
      let lifetime = Lifetime(bytes, at: lifetimeField),
      // The proof is the rest, spaces included, because a key may hold any byte.
      let proof = KeyProof(bytes, at: start..<bytes.count)
    else { return .malformed }
    return .attribute(EntryAttribute(contentHash: hash, lifetime: lifetime, proof: proof))
  }

  /// Returns the range of the next field; nil if no space ends it within a number of bytes.
  private static func field(
    of bytes: Span<UInt8>, from start: inout Int, upTo limit: Int
  ) -> Range<Int>? {
    let end = (start..<min(bytes.count, start + limit + 1)).first { bytes[$0] == space }
    guard let end else { return nil }
    defer { start = end + 1 }
    return start..<end
  }
}

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
    /// The key itself, if it has at most `maximumRecordedKeyCount` bytes and the whole attribute at
    /// most so many.
    case keyWithin(Int)
    /// The digest alone.
    case digest
    /// The key itself, whatever room it takes.
    package static let key = Form.keyWithin(.max)
  }

  /// The length of the longest key that is recorded as it is. Of a longer one, its digest is.
  static let maximumRecordedKeyCount = 2000

  private static let keyMark = UInt8(ascii: "=")
  private static let digestMark = UInt8(ascii: "#")
  private static let noneMark = UInt8(ascii: "-")

  /// The key, if all of it is recorded. A digest proves a key but does not contain it.
  package var key: CacheKey? { if case .key(let bytes) = self { CacheKey(bytes) } else { nil } }

  /// Whether a file of a name can have this proof: the recorded key, if any, has that name.
  package func fits(_ name: EntryName) -> Bool {
    guard case .key(let key) = self else { return true }
    return MD5.digest(of: key.span) == name.digest
  }

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
    if case .keyWithin(let most) = form, key.count <= maximumRecordedKeyCount,
      bytes.count + 1 + key.count <= most
    {
      return append(key: key, to: &bytes)
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
    bytes.append(EntryAttribute.space)
    bytes.append(copying: hint)
  }

  /// Returns where the longest end of a key begins that fits and begins with a whole character.
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
      guard end.isEmpty || end[0] == EntryAttribute.space && end.count > 1 else { return nil }
      self = .digest(digest, hint: [UInt8](copying: end.extracting(droppingFirst: 1)))
    case Self.noneMark where rest.isEmpty: self = .none
    default: return nil
    }
  }
}

extension Lifetime {
  private static let neverText = "never"
  private static let fixedText = "fixed"
  /// The marks and the seconds of the units beside seconds, the longest first.
  private static let units: [(mark: UInt8, seconds: UInt32)] = [
    (UInt8(ascii: "d"), 86_400), (UInt8(ascii: "h"), 3_600),
  ]

  /// Writes the field: whole days, else whole hours, else seconds. An unknown lifetime is written
  /// as fixed, which no access extends.
  fileprivate func append(to bytes: inout OutputSpan<UInt8>) {
    switch self {
    case .seconds(let count):
      let unit = Self.units.first { count > 0 && count % $0.seconds == 0 }
      Self.append(decimal: count / (unit?.seconds ?? 1), to: &bytes)
      if let unit { bytes.append(unit.mark) }
    case .never: bytes.append(copying: Self.neverText.utf8.span)
    case .fixed, .unknown: bytes.append(copying: Self.fixedText.utf8.span)
    }
  }

  private static func append(decimal number: UInt32, to bytes: inout OutputSpan<UInt8>) {
    if number > 9 { append(decimal: number / 10, to: &bytes) }
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }

  /// Reads the field; a number of seconds beyond the longest counts as the longest.
  fileprivate init?(_ bytes: Span<UInt8>, at range: Range<Int>) {
    if range.count == 5, !bytes[range.lowerBound].isDigit {
      let text = String(decoding: range.map { bytes[$0] }, as: UTF8.self)
      guard text == Self.neverText || text == Self.fixedText else { return nil }
      self = text == Self.neverText ? .never : .fixed
      return
    }
    let unit = Self.units.first { unit in range.last.map { bytes[$0] } == unit.mark }
    let digits = unit == nil ? range : range.dropLast()
    guard (1...20).contains(digits.count) else { return nil }
    let longest = UInt64(Expiration.maximumLifetime)
    var count: UInt64 = 0
    for index in digits {
      guard bytes[index].isDigit else { return nil }
      count = min(count * 10 + UInt64(bytes[index] & 15), longest)
    }
    self = .seconds(UInt32(min(count * UInt64(unit?.seconds ?? 1), longest)))
  }
}
