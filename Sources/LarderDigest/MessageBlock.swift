import LarderSystem

/// The unit in which MD5 and SHA-256 take a message: 64 bytes as sixteen little-endian words.
///
/// Both end a message alike, with the bit 1, zeros, and the length in the last eight bytes of a
/// block. SHA-256 has its words the other way round and swaps them itself.
/// Source: RFC 1321, sections 3.1 and 3.2; FIPS 180-4, section 5.1.1.
struct MessageBlock {
  /// The bytes in a block.
  static let byteCount = 64
  /// The most bytes that leave room for the end mark and the length.
  static let maximumFinalByteCount = 55

  var words: [16 of UInt32]

  /// Creates a block of zeros, for a length that found no room behind the message.
  @inline(__always)
  init() {
    words = [16 of UInt32](repeating: 0)
  }

  /// Reads the 64 bytes at an offset.
  @inline(__always)
  init(_ bytes: Span<UInt8>, at offset: Int) {
    words = bytes.littleEndianBlock(at: offset)
  }

  /// Reads the end of a message, fewer than 64 bytes, and marks it with the bit 1.
  @inline(__always)
  init(ending rest: Span<UInt8>) {
    self.init()
    let wholeWords = rest.count / 4
    for index in 0..<wholeWords {
      words[index] = rest.littleEndianUInt32(at: 4 * index)
    }
    // Gathered in a register: a word that is loaded soon after stores of its bytes waits for them.
    var last: UInt32 = 0x80
    for offset in stride(from: rest.count - 1, through: 4 * wholeWords, by: -1) {
      last = last &<< 8 | UInt32(rest[offset])
    }
    words[wholeWords] = last
  }

  /// Writes the length where both standards have it.
  @inline(__always)
  mutating func setLength(_ field: UInt64) {
    words[14] = UInt32(truncatingIfNeeded: field)
    words[15] = UInt32(truncatingIfNeeded: field &>> 32)
  }
}
