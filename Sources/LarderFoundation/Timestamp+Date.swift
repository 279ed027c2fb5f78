public import FoundationEssentials

extension Timestamp {
  /// The point in time of a date, to the nanosecond where the date tells it; dates beyond what a
  /// stamp can hold count as its first or last, and one that is no number as its first.
  public init(_ date: Date) {
    let interval = date.timeIntervalSince1970
    let whole = interval.rounded(.down)
    guard let seconds = Int64(exactly: whole) else {
      // What is no number is not above zero: as an expiry it is past.
      self.init(seconds: interval > 0 ? .max : .min)
      return
    }
    self.init(seconds: seconds, nanoseconds: Int64((interval - whole) * 1_000_000_000))
  }
}

extension Date {
  /// The date of a point in time, as exactly as a `Double` of seconds allows.
  public init(_ time: Timestamp) {
    self.init(timeIntervalSince1970: Double(time.seconds) + Double(time.nanoseconds) / 1e9)
  }
}

extension Expiration {
  /// Valid until a date, which accesses do not move.
  public static func date(_ date: Date) -> Expiration { .date(Timestamp(date)) }
}
