public import FoundationEssentials

extension Timestamp {
  /// Creates a timestamp from a date, to the nanosecond if the date is as exact. Dates beyond the
  /// range of a stamp count as its first or last time, and NaN as its first.
  public init(_ date: Date) {
    let interval = date.timeIntervalSince1970
    let whole = interval.rounded(.down)
    guard let seconds = Int64(exactly: whole) else {
      // NaN is not above zero, so as an expiry it is past.
      self.init(seconds: interval > 0 ? .max : .min)
      return
    }
    self.init(seconds: seconds, nanoseconds: Int64((interval - whole) * 1_000_000_000))
  }
}

extension Date {
  /// Creates a date from a point in time, as exactly as a `Double` of seconds allows.
  public init(_ time: Timestamp) {
    self.init(timeIntervalSince1970: Double(time.seconds) + Double(time.nanoseconds) / 1e9)
  }
}

extension Expiration {
  /// Valid until a date, which accesses do not move.
  public static func date(_ date: Date) -> Expiration { .date(Timestamp(date)) }
}
