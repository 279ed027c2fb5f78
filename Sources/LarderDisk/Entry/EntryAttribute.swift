package import LarderBasics
import LarderDigest

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
  }
}

extension EntryAttribute {
  /// The version of the format that this code writes and reads.
  static let version = UInt8(ascii: "1")

  private static let space = UInt8(ascii: " ")

  /// The attribute as it is stored.
  package var bytes: [UInt8] {
    var bytes = Self.head(contentHash, lifetime, capacity: 96)
    proof.append(to: &bytes)
    return bytes
  }

  /// Returns the attribute of a key as it is stored.
  ///
  /// - Complexity: O(bytes of the key), with one allocation.
  static func bytes(
    _ contentHash: UInt64, _ lifetime: Lifetime, key: Span<UInt8>, recordsKey: Bool
  ) -> [UInt8] {
    guard recordsKey && key.count <= KeyProof.maximumRecordedKeyCount else {
      let proof = KeyProof(of: key, recordsKey: false)
      return EntryAttribute(contentHash: contentHash, lifetime: lifetime, proof: proof).bytes
    }
    // 32 bytes for the fields before the key, also with the longest lifetime.
    var bytes = head(contentHash, lifetime, capacity: 32 + key.count)
    KeyProof.append(key: key, to: &bytes)
    return bytes
  }

  /// Returns the fields before the proof.
  private static func head(
    _ contentHash: UInt64, _ lifetime: Lifetime, capacity: Int
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(capacity)
    bytes.append(version)
    bytes.append(space)
    Hexadecimal.append(contentHash, to: &bytes)
    bytes.append(space)
    lifetime.append(to: &bytes)
    bytes.append(space)
    return bytes
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
      return isNumber(bytes, at: version) ? .otherVersion : .malformed
    }
    guard let hashField = field(of: bytes, from: &start, upTo: 16),
      let hash = Hexadecimal.word(of: bytes.extracting(hashField)),
      let lifetimeField = field(of: bytes, from: &start, upTo: 20),
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
    var end = start
    while end < bytes.count, end - start <= limit {
      if bytes[end] == space {
        defer { start = end + 1 }
        return start..<end
      }
      end += 1
    }
    return nil
  }

  private static func isNumber(_ bytes: Span<UInt8>, at range: Range<Int>) -> Bool {
    !range.isEmpty && range.allSatisfy { isDigit(bytes[$0]) }
  }

  fileprivate static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

extension Lifetime {
  private static let neverText = "never"
  private static let fixedText = "fixed"

  /// Writes the field. An unknown lifetime is written as fixed, which no access extends.
  fileprivate func append(to bytes: inout [UInt8]) {
    switch self {
    case .seconds(let count): Self.append(decimal: count, to: &bytes)
    case .never: bytes += Self.neverText.utf8
    case .fixed, .unknown: bytes += Self.fixedText.utf8
    }
  }

  private static func append(decimal number: UInt32, to bytes: inout [UInt8]) {
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
    guard !range.isEmpty else { return nil }
    var count: UInt64 = 0
    for index in range {
      guard EntryAttribute.isDigit(bytes[index]) else { return nil }
      count = min(count * 10 + UInt64(bytes[index] & 15), UInt64(Expiration.maximumLifetime))
    }
    self = .seconds(UInt32(count))
  }
}
