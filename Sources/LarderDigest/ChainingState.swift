/// What MD5 and SHA-256 have in common: a state that takes a message block by block and ends it
/// with its length.
protocol ChainingState {
  /// A length as the standard writes it, in bits, read back as a little-endian word.
  static func lengthField(byteCount: UInt64) -> UInt64

  /// Takes one block.
  mutating func take(_ block: MessageBlock)
}

extension ChainingState {
  /// Takes a whole message and its end.
  @inline(__always)
  mutating func takeAll(of message: Span<UInt8>) {
    let end = takeBlocks(of: message, from: 0)
    takeEnd(of: message.extracting(droppingFirst: end), byteCount: UInt64(message.count))
  }

  /// Takes the whole blocks from an offset on, and returns the offset behind them.
  @inline(__always)
  mutating func takeBlocks(of bytes: Span<UInt8>, from start: Int) -> Int {
    var offset = start
    while bytes.count - offset >= MessageBlock.byteCount {
      take(MessageBlock(bytes, at: offset))
      offset += MessageBlock.byteCount
    }
    return offset
  }

  /// Takes what is left, less than a block, of a message that has `byteCount` bytes in all.
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
