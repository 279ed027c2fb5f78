#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

extension String {
  /// Whether two texts have the same UTF-8 bytes, which is more than canonical equivalence asks.
  ///
  /// Corresponds to `memcmp`.
  @inline(__always)
  func hasSameBytes(as other: String) -> Bool {
    // Native strings lend their bytes; there are no bridged ones on Linux.
    let (a, b) = (utf8.span, other.utf8.span)
    guard a.count == b.count else { return false }
    return unsafe a.withUnsafeBytes { a in
      unsafe b.withUnsafeBytes { b in
        guard let first = a.baseAddress, let second = b.baseAddress else { return true }
        return unsafe memcmp(first, second, a.count) == 0
      }
    }
  }

  /// Feeds the UTF-8 bytes to a hasher.
  @inline(__always)
  func hashBytes(into hasher: inout Hasher) {
    unsafe utf8.span.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }
}
