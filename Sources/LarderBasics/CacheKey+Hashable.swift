import LarderSystem

extension CacheKey: Hashable {
  /// Whether two keys have the same bytes.
  //
  // The attribute is true and worth 20 ns a hit: the memory tier need not retain a stored key while
  // it is compared, which would write to a cache line that nothing else writes to.
  @_effects(readonly)
  public static func == (a: CacheKey, b: CacheKey) -> Bool {
    switch (a.content, b.content) {
    case (.text(let a), .text(let b)): a.hasSameBytes(as: b)
    // Rare: most keys are text.
    case (.bytes(let a), .bytes(let b)): a == b
    // Bytes that were UTF-8 would have become text.
    case (.text, .bytes), (.bytes, .text): false
    }
  }

  /// Feeds the bytes and an end mark to a hasher.
  public func hash(into hasher: inout Hasher) {
    switch content {
    case .text(let text):
      text.hashBytes(into: &hasher)
      // No text contains it, so that a key and what follows it cannot be taken apart elsewhere.
      hasher.combine(0xff as UInt8)
    case .bytes(let bytes): bytes.hash(into: &hasher)
    }
  }

  /// A hash of the bytes by itself, six times as quick to have as by way of a hasher.
  ///
  /// The memory tier goes by this one; sets and dictionaries go by `hash(into:)`.
  public var hashValue: Int {
    switch content {
    case .text(let text): text.withByteSpan { ByteHash.hash($0) }
    case .bytes(let bytes): ByteHash.hash(bytes.span)
    }
  }
}
