import LarderLibc

/// A file's name of up to 63 bytes, stored inline with a final zero, so that a system call can use
/// it without a `String`.
package struct FileName: Sendable {
  /// The maximum length of a name in bytes.
  ///
  /// The longest name that the cache makes is an entry's with an extension: 32 + 1 + 20. A longer
  /// name in a directory is foreign for its length alone.
  package static let maximumCount = 63

  package private(set) var count: Int
  // One byte more than a name may have, so that the last byte is always zero.
  private var storage: InlineArray<64, UInt8>

  /// Creates an empty name.
  package init() {
    count = 0
    storage = InlineArray(repeating: 0)
  }

  /// Creates a name from a literal in the source.
  package init(_ text: StaticString) {
    self.init()
    for index in 0..<text.utf8CodeUnitCount {
      append(unsafe text.utf8Start[index])
    }
  }

  /// Creates a name of 32 bytes from four words; the first byte is the lowest of the first.
  package init(packed a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64) {
    self.init()
    var span = storage.mutableSpan
    var raw = unsafe span.mutableBytes
    raw.storeBytes(of: a.littleEndian, toByteOffset: 0, as: UInt64.self)
    raw.storeBytes(of: b.littleEndian, toByteOffset: 8, as: UInt64.self)
    raw.storeBytes(of: c.littleEndian, toByteOffset: 16, as: UInt64.self)
    raw.storeBytes(of: d.littleEndian, toByteOffset: 24, as: UInt64.self)
    count = 32
  }

  /// Appends a byte. Precondition: the name has fewer than 63.
  package mutating func append(_ byte: UInt8) {
    precondition(count < Self.maximumCount, "a file name of the cache has at most 63 bytes")
    storage[count] = byte
    count += 1
  }

  /// Appends the decimal digits of a number. Precondition: the name stays within 63 bytes.
  package mutating func append(decimal number: UInt64) {
    if number > 9 { append(decimal: number / 10) }
    append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }

  /// Appends a text. Precondition: the name stays within 63 bytes.
  package mutating func append(_ text: String) {
    for byte in text.utf8 { append(byte) }
  }

  package subscript(index: Int) -> UInt8 { storage[index] }

  /// The name as text; bytes that are not UTF-8 become U+FFFD.
  package var text: String { String(decoding: (0..<count).map { storage[$0] }, as: UTF8.self) }

  /// Returns the eight bytes from an index on, the first in the lowest bits. Precondition: the
  /// index is at most 56.
  package func packed(at index: Int) -> UInt64 {
    let bytes = unsafe storage.span.bytes
    return UInt64(
      littleEndian: unsafe bytes.unsafeLoadUnaligned(
        fromByteOffset: index, as: UInt64.self))
  }

  /// Whether the name begins with a literal.
  package func hasPrefix(_ prefix: StaticString) -> Bool {
    guard count >= prefix.utf8CodeUnitCount else { return false }
    for index in 0..<prefix.utf8CodeUnitCount
    where unsafe prefix.utf8Start[index] != storage[index] {
      return false
    }
    return true
  }

  /// Calls a function with the name as a C string.
  @inline(__always)
  package func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    unsafe storage.span.withUnsafeBytes { bytes in
      // The array is never empty, so the base address exists.
      unsafe body(bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: CChar.self))
    }
  }

  /// Copies a C string; nil if it is longer than the maximum.
  ///
  /// - Complexity: O(count); stops after 64 bytes, however long the string is.
  package init?(copying pointer: UnsafePointer<CChar>) {
    let length = unsafe strnlen(pointer, Self.maximumCount + 1)
    guard length <= Self.maximumCount else { return nil }
    self.init()
    var span = storage.mutableSpan
    unsafe span.withUnsafeMutableBufferPointer { buffer in
      _ = unsafe memcpy(buffer.baseAddress.unsafelyUnwrapped, pointer, length)
    }
    count = length
  }
}
