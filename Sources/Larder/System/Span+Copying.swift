extension Array where Element == UInt8 {
  /// Copies lent bytes.
  ///
  /// The one place where lent bytes begin to be owned.
  init(copying bytes: Span<UInt8>) {
    unsafe self = bytes.withUnsafeBufferPointer { unsafe Array($0) }
  }
}

extension Span where Element == UInt8 {
  /// Whether two runs of bytes are the same. Corresponds to `memcmp`.
  func hasSameBytes(as other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    return unsafe withUnsafeBufferPointer { a in
      unsafe other.withUnsafeBufferPointer { b in unsafe a.elementsEqual(b) }
    }
  }
}
