public import LarderBasics
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

  /// Splits a duration that is not negative; one longer than 500 years counts as 500 years.
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

  /// Whether an age limit of this length has passed since a last use; if that is zero, since
  /// `start`. Not inlined, because a hit with an age limit is rarer than one without.
  @inlinable @inline(never)
  func isOver(since lastUse: PackedTime, _ start: PackedTime, at now: PackedTime) -> Bool {
    guard let cutoff = now.subtracting(self) else { return false }
    return (lastUse == .zero ? start : lastUse) <= cutoff
  }
}

extension PackedTime {
  /// Returns the point a number of seconds later, at most never.
  @inlinable
  func adding(seconds: UInt32) -> PackedTime {
    min(PackedTime(bits: bits &+ UInt64(seconds) << 30), .never)
  }

  /// Whether an expiry has passed. Never does not pass, whatever the clock shows.
  @inlinable @inline(__always)
  func hasCome(at now: PackedTime) -> Bool { self <= now && self < .never }

  /// Returns the point a span earlier, or nil when that is before 1970.
  @inlinable
  func subtracting(_ span: PackedSpan) -> PackedTime? {
    var seconds = Int64(bitPattern: bits >> 30) &- span.seconds
    var nanoseconds = Int64(bitPattern: bits & (1 << 30 - 1)) &- span.nanoseconds
    if nanoseconds < 0 {
      seconds &-= 1
      nanoseconds &+= 1_000_000_000
    }
    guard seconds >= 0 else { return nil }
    return PackedTime(bits: UInt64(bitPattern: seconds << 30 | nanoseconds))
  }
}
