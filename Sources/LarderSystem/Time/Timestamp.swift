/// A point in time as file systems keep it: seconds since 1970 and nanoseconds.
///
/// The two parts are kept apart because one `Int64` of nanoseconds ends in 2262, while expiries
/// reach to 2242 (never) and files from elsewhere may have any stamp. Corresponds to C's
/// `struct timespec`.
public struct Timestamp: Sendable, Hashable {
  /// Whole seconds since 1970-01-01T00:00:00Z; negative before.
  public var seconds: Int64
  /// The nanoseconds beyond `seconds`, 0 to 999,999,999.
  public var nanoseconds: Int32

  /// Creates a point in time. Nanoseconds outside of one second carry over.
  @inlinable
  public init(seconds: Int64, nanoseconds: Int64 = 0) {
    // Nearly all stamps need no division.
    guard nanoseconds < 0 || nanoseconds >= 1_000_000_000 else {
      self.seconds = seconds
      self.nanoseconds = Int32(truncatingIfNeeded: nanoseconds)
      return
    }
    // Swift's remainder has the dividend's sign, but a stamp's nanoseconds count from its second.
    let billion: Int64 = 1_000_000_000
    var carry = nanoseconds / billion
    var rest = nanoseconds % billion
    if rest < 0 {
      rest += billion
      carry -= 1
    }
    let (sum, overflow) = seconds.addingReportingOverflow(carry)
    self.seconds = overflow ? (seconds < 0 ? .min : .max) : sum
    self.nanoseconds = Int32(truncatingIfNeeded: rest)
  }

  /// The present by the system's clock. A cache uses the clock of its configuration.
  public static var now: Timestamp { WallClock.system.now() }

  /// The expiry that means never: 2³³ seconds, 2242-03-16T12:56:32Z.
  @inlinable
  public static var never: Timestamp { Timestamp(seconds: 1 << 33) }
}

extension Duration {
  /// Whole seconds and the attoseconds beyond them, limited to the range of `Int64`, where
  /// `components` traps.
  package var boundedComponents: (seconds: Int64, attoseconds: Int64) {
    // 2⁶³ s are 5 × 10¹⁷ times 2⁶⁴ attoseconds, so the upper half decides.
    let upper = Int64(truncatingIfNeeded: attoseconds >> 64)
    let end: Int64 = 500_000_000_000_000_000
    if upper >= end { return (.max, 0) }
    return upper < -end ? (.min, 0) : components
  }
}

extension Timestamp: Comparable {
  /// Orders by time.
  @inlinable
  public static func < (a: Timestamp, b: Timestamp) -> Bool {
    (a.seconds, a.nanoseconds) < (b.seconds, b.nanoseconds)
  }
}

extension Timestamp {
  /// Returns the point `count` seconds later, limited to the range of `Int64` instead of trapping.
  package func adding(seconds count: Int64) -> Timestamp {
    let (sum, overflow) = seconds.addingReportingOverflow(count)
    let end: Int64 = count < 0 ? .min : .max
    return Timestamp(seconds: overflow ? end : sum, nanoseconds: Int64(nanoseconds))
  }

  /// Returns the point a duration later, limited to the range of `Int64` instead of trapping.
  public func adding(_ duration: Duration) -> Timestamp {
    let (whole, attoseconds) = duration.boundedComponents
    let fraction = Int64(nanoseconds) + attoseconds / 1_000_000_000
    return Timestamp(seconds: adding(seconds: whole).seconds, nanoseconds: fraction)
  }

  /// Returns the time from `start` to this point, negative if this point is earlier.
  public func duration(since start: Timestamp) -> Duration {
    let (whole, overflow) = seconds.subtractingReportingOverflow(start.seconds)
    let fraction = Int64(nanoseconds) - Int64(start.nanoseconds)
    // Half of the range, so that a duration of so many seconds fits into 128 bits of attoseconds.
    let end: Int64 = seconds < start.seconds ? .min / 2 : .max / 2
    return .seconds(overflow ? end : whole) + .nanoseconds(fraction)
  }

  /// Returns the nanoseconds from `start` to this point, limited to the range of `Int64`.
  ///
  /// `Duration` counts attoseconds in 128 bits; dividing or comparing those took a tenth of a read.
  package func nanoseconds(since start: Timestamp) -> Int64 {
    let (whole, overflow) = seconds.subtractingReportingOverflow(start.seconds)
    let (scaled, isHuge) = whole.multipliedReportingOverflow(by: 1_000_000_000)
    let fraction = Int64(nanoseconds) - Int64(start.nanoseconds)
    let (sum, isBeyond) = scaled.addingReportingOverflow(fraction)
    guard overflow || isHuge || isBeyond else { return sum }
    return seconds < start.seconds ? .min : .max
  }
}
