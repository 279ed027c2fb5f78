import LarderLibc

extension Array where Element == UInt8 {
  /// Copies the bytes of a span into a new array.
  package init(copying bytes: Span<UInt8>) {
    unsafe self = bytes.withUnsafeBufferPointer { unsafe Array($0) }
  }
}

extension OutputSpan where Element == UInt8 {
  /// Appends a copy of the bytes of a span. Corresponds to `memcpy`.
  @inlinable @inline(__always)
  package mutating func append(copying bytes: Span<UInt8>) {
    precondition(bytes.count <= freeCapacity, "more bytes than there is room for")
    unsafe withUnsafeMutableBufferPointer { buffer, count in
      unsafe bytes.withUnsafeBufferPointer { source in
        guard let start = source.baseAddress, let end = buffer.baseAddress else { return }
        unsafe (end + count).initialize(from: start, count: source.count)
        count += source.count
      }
    }
  }
}

extension Span where Element == UInt8 {
  /// Whether two runs of bytes are the same. Corresponds to `memcmp`.
  @inline(__always)
  package func hasSameBytes(as other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    return unsafe withUnsafeBytes { a in
      unsafe other.withUnsafeBytes { b in
        guard let first = a.baseAddress, let second = b.baseAddress else { return true }
        return unsafe memcmp(first, second, a.count) == 0
      }
    }
  }
}

extension Span<UInt8> {
  /// Loads four bytes from any offset, aligned or not.
  ///
  /// The span checks the bounds: an offset beyond its end traps.
  @inlinable @inline(__always)
  package func littleEndianUInt32(at offset: Int) -> UInt32 {
    unsafe UInt32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// Loads eight bytes from any offset, aligned or not.
  @inlinable @inline(__always)
  package func littleEndianUInt64(at offset: Int) -> UInt64 {
    unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// Loads the 64 bytes at an offset as sixteen words, and checks the bounds once.
  @inlinable @inline(__always)
  package func littleEndianBlock(at offset: Int) -> [16 of UInt32] {
    precondition(offset >= 0 && count - offset >= 64, "a block reaches beyond its bytes")
    return [16 of UInt32] { index in
      unsafe UInt32(
        littleEndian: bytes.unsafeLoadUnaligned(
          // Inside of the block, whose bounds are checked above once instead of sixteen times.
          fromUncheckedByteOffset: offset &+ 4 &* index, as: UInt32.self))
    }
  }

  /// Loads the 32 bytes at an offset as four words, and checks the bounds once.
  @inlinable @inline(__always)
  package func littleEndianStripe(at offset: Int) -> [4 of UInt64] {
    precondition(offset >= 0 && count - offset >= 32, "a stripe reaches beyond its bytes")
    return [4 of UInt64] { index in
      unsafe UInt64(
        littleEndian: bytes.unsafeLoadUnaligned(
          fromUncheckedByteOffset: offset &+ 8 &* index, as: UInt64.self))
    }
  }
}

extension String {
  /// Whether two texts have the same UTF-8 bytes, which is stricter than canonical equivalence.
  @inline(__always)
  package func hasSameBytes(as other: String) -> Bool {
    withByteSpan { a in other.withByteSpan { b in a.hasSameBytes(as: b) } }
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

extension UInt8 {
  /// Whether the byte is an ASCII digit.
  @inlinable
  package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

extension UInt64 {
  /// Returns the product with another number, or the maximum if it would overflow.
  func multipliedSaturating(by factor: UInt64) -> UInt64 {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? .max : product
  }
}

extension FixedWidthInteger {
  /// Adds a number of bytes, and stops at the maximum if the sum would overflow.
  ///
  /// A sparse file can claim nearly 2⁶³ bytes, and two planted files must not trap the process.
  @inlinable
  package mutating func addSaturating(_ byteCount: UInt64) {
    let (sum, overflow) = addingReportingOverflow(Self(clamping: byteCount))
    self = overflow ? .max : sum
  }
}
