#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

extension String {
  /// Whether two texts have the same UTF-8 bytes, which is stricter than canonical equivalence.
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

  /// Calls a function with the UTF-8 bytes.
  ///
  /// Does not use `utf8.span`, a call into the standard library that checks for bridged strings: 30
  /// instructions each of the three times that a hit in memory needs the bytes.
  @inlinable @inline(__always)
  package func withByteSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    let result = unsafe utf8.withContiguousStorageIfAvailable { bytes in
      unsafe body(Span(_unsafeElements: bytes))
    }
    // Native strings always have contiguous storage, and Linux has no other strings.
    return result ?? body(utf8.span)
  }

  /// Feeds the UTF-8 bytes to a hasher.
  @inlinable @inline(__always)
  package func hashBytes(into hasher: inout Hasher) {
    unsafe utf8.span.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }
}
