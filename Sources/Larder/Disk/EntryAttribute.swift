/// What `user.larder` says of an entry: `1 <hash> <lifetime> <proof>`.
///
/// The text is untrusted: anyone who can write to the file can write to it. It is read as bytes,
/// bounded, and never trapped on.
struct EntryAttribute: Sendable, Equatable {
  /// XXH64 of the content followed by the extended data.
  var contentHash: UInt64
  var lifetime: Lifetime
  var proof: KeyProof

  /// What reading an attribute can come to.
  enum Reading: Sendable, Equatable {
    case attribute(EntryAttribute)
    /// Another version of the format: not ours to judge, and never removed.
    case otherVersion
    case malformed
  }
}

extension EntryAttribute {
  /// The version of the format that this code writes and reads.
  static let version = UInt8(ascii: "1")

  /// The attribute as it is stored.
  var bytes: [UInt8] {
    var bytes: [UInt8] = [Self.version, UInt8(ascii: " ")]
    Hexadecimal.append(contentHash, to: &bytes)
    bytes.append(UInt8(ascii: " "))
    bytes += lifetime.text.utf8
    bytes.append(UInt8(ascii: " "))
    proof.append(to: &bytes)
    return bytes
  }

  /// Reads an attribute.
  static func read(_ bytes: Span<UInt8>) -> Reading {
    var fields = AttributeFields(bytes)
    guard let version = fields.next(upTo: 20), !version.isEmpty else { return .malformed }
    guard version.count == 1, bytes[version.lowerBound] == Self.version else {
      return version.allSatisfy { AttributeFields.isDigit(bytes[$0]) } ? .otherVersion : .malformed
    }
    guard let hashField = fields.next(upTo: 16),
      let hash = Hexadecimal.word(bytes, at: hashField),
      let lifetimeField = fields.next(upTo: 20),
      let lifetime = Lifetime(bytes, at: lifetimeField),
      let proof = KeyProof(bytes, at: fields.rest)
    else { return .malformed }
    return .attribute(EntryAttribute(contentHash: hash, lifetime: lifetime, proof: proof))
  }
}

/// Walks over the fields of an attribute, which single spaces part.
private struct AttributeFields: ~Escapable {
  private let bytes: Span<UInt8>
  private var start = 0

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) {
    self.bytes = bytes
  }

  /// The next field, which a space must end within a number of bytes.
  mutating func next(upTo limit: Int) -> Range<Int>? {
    var end = start
    while end < bytes.count, end - start <= limit {
      if bytes[end] == UInt8(ascii: " ") {
        defer { start = end + 1 }
        return start..<end
      }
      end += 1
    }
    return nil
  }

  /// All that follows.
  var rest: Range<Int> { start..<bytes.count }

  static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
