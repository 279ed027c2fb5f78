import LarderSystem

/// A length of time, split once so that subtracting it from a time takes no division.
@frozen
@usableFromInline
struct PackedSpan: Hashable, Sendable {
  @usableFromInline
  var seconds: Int64
  /// 0 to 999,999,999.
  @usableFromInline
  var nanoseconds: Int64

  /// Splits a duration that is not negative; what is longer than 500 years counts as that.
  @usableFromInline
  init(_ duration: Duration) {
    let (whole, attoseconds) = duration.boundedComponents
    seconds = min(whole, 1 << 34)
    nanoseconds = attoseconds / 1_000_000_000
  }
}

extension PackedSpan {
  /// Whether it has no length.
  @inlinable
  var isZero: Bool { seconds == 0 && nanoseconds == 0 }
}
