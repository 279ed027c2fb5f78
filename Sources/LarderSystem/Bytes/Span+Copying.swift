#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

extension Array where Element == UInt8 {
  /// Copies the bytes of a span into a new array.
  package init(copying bytes: Span<UInt8>) {
    unsafe self = bytes.withUnsafeBufferPointer { unsafe Array($0) }
  }

  /// Appends a copy of the bytes of a span.
  package mutating func append(copying bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }
}

extension Span where Element == UInt8 {
  /// Whether two runs of bytes are the same. Corresponds to `memcmp`.
  package func hasSameBytes(as other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    guard count > 0 else { return true }
    return unsafe withUnsafeBufferPointer { a in
      unsafe other.withUnsafeBufferPointer { b in
        unsafe memcmp(a.baseAddress.unsafelyUnwrapped, b.baseAddress.unsafelyUnwrapped, count) == 0
      }
    }
  }
}
