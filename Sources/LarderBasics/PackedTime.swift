public import LarderSystem

/// A point in time in 64 bits, ordered like an integer and exact to the nanosecond.
///
/// ```
///  63                        30 29                       0
///  ┌───────────────────────────┬──────────────────────────┐
///  │ seconds since 1970, 34 bit│ nanoseconds, 30 bit      │
///  └───────────────────────────┴──────────────────────────┘
/// ```
///
/// Times before 1970 count as 1970, times after 2514 as the last one. The value for never (2³³ s)
/// lies in between.
@frozen
@usableFromInline
package struct PackedTime: Hashable, Sendable, BitwiseCopyable {
  @usableFromInline
  package var bits: UInt64

  @inlinable
  package init(bits: UInt64) {
    self.bits = bits
  }

  @inlinable
  package init(_ time: Timestamp) {
    if time.seconds >= 0, time.seconds < 1 << 34 {
      bits =
        UInt64(truncatingIfNeeded: time.seconds) << 30
        | UInt64(truncatingIfNeeded: time.nanoseconds)
    } else {
      bits = time.seconds < 0 ? 0 : (1 << 34 - 1) << 30 | 999_999_999
    }
  }

  /// The start of 1970, also used for a time that is not read.
  @inlinable
  package static var zero: PackedTime { PackedTime(bits: 0) }

  /// The expiry that means never.
  @inlinable
  package static var never: PackedTime { PackedTime(bits: 1 << 63) }

  /// The point in time as a `Timestamp`.
  @inlinable
  package var timestamp: Timestamp {
    Timestamp(seconds: Int64(bits >> 30), nanoseconds: Int64(bits & (1 << 30 - 1)))
  }
}

extension PackedTime: Comparable {
  @inlinable
  package static func < (a: PackedTime, b: PackedTime) -> Bool { a.bits < b.bits }
}
