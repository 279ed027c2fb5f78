extension CacheKey: Hashable {
  /// Whether two keys have the same bytes.
  public static func == (a: CacheKey, b: CacheKey) -> Bool {
    switch (a.content, b.content) {
    case (.text(let a), .text(let b)): a.hasSameBytes(as: b)
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
}
