/// The MD5 message digest: it names entries and proves nothing. Source: RFC 1321.
///
/// `digest(of:)` is for bytes at hand, a value of this type for bytes that come in pieces. Neither
/// allocates. All digests here take their bytes as `Span<UInt8>`, which arrays, strings' `utf8` and
/// inline arrays have; a `RawSpan` of them would cost the strict memory safety that this keeps.
package struct MD5 {
  private var state = State()
  private var pending = PendingBlock<64>()
  private var byteCount: UInt64 = 0

  /// Creates the digest of nothing yet.
  package init() {}

  /// Adds the next piece of the message, of any length.
  package mutating func update(_ bytes: Span<UInt8>) {
    byteCount &+= UInt64(bytes.count)
    pending.feed(bytes) { span, start in state.takeBlocks(of: span, from: start) }
  }

  /// Returns the digest of the pieces so far; more can follow.
  package func finalize() -> MD5Digest {
    var state = state
    state.takeEnd(of: pending.bytes.span.extracting(first: pending.count), byteCount: byteCount)
    return state.digest
  }

  /// Computes the digest of a whole message.
  ///
  /// - Complexity: 64 operations for each 64 bytes begun, counting nine more than the message has.
  package static func digest(of message: Span<UInt8>) -> MD5Digest {
    var state = State()
    state.takeAll(of: message)
    return state.digest
  }
}
