package import LarderBasics
import LarderDigest
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
    /// The attribute of another version of the format. The file is neither judged nor removed for
    /// it.
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

  private static let space = UInt8(ascii: " ")

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

  /// Returns the attribute of a key as it is stored. Has at most `inodeByteCount` bytes if the key
  /// is not recorded.
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
    // "01" and "12" are other versions and not damage, because a file of a later program must not
    // be removed.
    guard version.count == 1, bytes[version.lowerBound] == Self.version else {
      return version.isEmpty || version.contains { !isDigit(bytes[$0]) }
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

  fileprivate static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
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
    if range.count == 5, !EntryAttribute.isDigit(bytes[range.lowerBound]) {
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
      guard EntryAttribute.isDigit(bytes[index]) else { return nil }
      count = min(count * 10 + UInt64(bytes[index] & 15), longest)
    }
    self = .seconds(UInt32(min(count * UInt64(unit?.seconds ?? 1), longest)))
  }
}
