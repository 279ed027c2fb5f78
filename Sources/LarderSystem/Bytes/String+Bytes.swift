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
  package func hasSameBytes(as other: String) -> Bool {
    withByteSpan { a in
      other.withByteSpan { b in
        guard a.count == b.count else { return false }
        return unsafe a.withUnsafeBytes { a in
          unsafe b.withUnsafeBytes { b in
            guard let first = a.baseAddress, let second = b.baseAddress else { return true }
            return unsafe memcmp(first, second, a.count) == 0
          }
        }
      }
    }
  }

  /// Lends the UTF-8 bytes.
  ///
  /// By the closure and not by `utf8.span`, which is a call into the standard library that checks
  /// for bridged strings: 30 instructions each of the three times that a hit in memory asks.
  @inlinable @inline(__always)
  package func withByteSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    let result = unsafe utf8.withContiguousStorageIfAvailable { bytes in
      unsafe body(Span(_unsafeElements: bytes))
    }
    // Native strings always lend their bytes; there are no others on Linux.
    return result ?? body(utf8.span)
  }

  /// Feeds the UTF-8 bytes to a hasher.
  @inlinable @inline(__always)
  package func hashBytes(into hasher: inout Hasher) {
    unsafe utf8.span.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }
}
