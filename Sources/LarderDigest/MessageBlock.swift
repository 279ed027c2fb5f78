import LarderSystem

/// The unit in which MD5 and SHA-256 process a message: 64 bytes as sixteen little-endian words.
///
/// Both end a message in the same way, with the bit 1, zeros, and the length in the last eight
/// bytes of a block. SHA-256 uses big-endian words and swaps the bytes itself.
/// Source: RFC 1321, sections 3.1 and 3.2; FIPS 180-4, section 5.1.1.
struct MessageBlock {
  /// The bytes in a block.
  static let byteCount = 64
  /// The most message bytes in the last block, which also holds the end mark and the length.
  static let maximumFinalByteCount = 55

  var words: [16 of UInt32]

  /// Creates a block of zeros, for a length that does not fit behind the message.
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
    // Gathered in a register, because loading a word soon after storing its bytes would stall.
    var last: UInt32 = 0x80
    for offset in stride(from: rest.count - 1, through: 4 * wholeWords, by: -1) {
      last = last &<< 8 | UInt32(rest[offset])
    }
    words[wholeWords] = last
  }

  /// Writes the length to its place, the same in both standards.
  @inline(__always)
  mutating func setLength(_ field: UInt64) {
    words[14] = UInt32(truncatingIfNeeded: field)
    words[15] = UInt32(truncatingIfNeeded: field &>> 32)
  }
}

/// The common part of MD5 and SHA-256: a state that processes a message block by block and ends it
/// with its length.
protocol ChainingState {
  /// Returns a length in bits as the standard writes it, read back as a little-endian word.
  static func lengthField(byteCount: UInt64) -> UInt64

  /// Processes one block.
  mutating func take(_ block: MessageBlock)
}

extension ChainingState {
  /// Processes a whole message and its end.
  @inline(__always)
  mutating func takeAll(of message: Span<UInt8>) {
    let end = takeBlocks(of: message, from: 0)
    takeEnd(of: message.extracting(droppingFirst: end), byteCount: UInt64(message.count))
  }

  /// Processes the whole blocks from an offset on, and returns the offset behind them.
  @inline(__always)
  mutating func takeBlocks(of bytes: Span<UInt8>, from start: Int) -> Int {
    var offset = start
    while bytes.count - offset >= MessageBlock.byteCount {
      take(MessageBlock(bytes, at: offset))
      offset += MessageBlock.byteCount
    }
    return offset
  }

  /// Processes the rest of a message, less than a block. The whole message has `byteCount` bytes.
  @inline(__always)
  mutating func takeEnd(of rest: Span<UInt8>, byteCount: UInt64) {
    var block = MessageBlock(ending: rest)
    if rest.count > MessageBlock.maximumFinalByteCount {
      take(block)
      block = MessageBlock()
    }
    block.setLength(Self.lengthField(byteCount: byteCount))
    take(block)
  }
}
