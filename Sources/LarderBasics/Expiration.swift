public import LarderSystem

/// The time for which a value stays valid.
public enum Expiration: Sendable, Hashable {
  /// Valid until it is removed or evicted.
  case never
  /// Valid for a number of seconds from the store, or from the access that extends it.
  case seconds(Int)
  /// Valid for a number of days of 86,400 seconds.
  case days(Int)
  /// Valid until a point in time, which accesses do not move.
  case date(Timestamp)
  /// Never valid: storing with it stores nothing and removes an older value.
  case expired
}

/// The change that an access makes to the expiry of the value it found.
public enum ExpirationExtending: Sendable, Hashable {
  /// The expiry stays; only the last access moves. The default.
  case off
  /// The lifetime given at the store starts again.
  case lifetime
  /// The expiry moves to one relative to the access.
  ///
  /// It never moves earlier, `.never` stays `.never`, and `.date` stays where it is.
  case to(Expiration)
}

extension ExpirationExtending {
  // For an optional parameter `.none` would mean nil, and so the configured extension.
  @available(*, unavailable, renamed: "off")
  public static var none: ExpirationExtending { .off }
}

/// The later behaviour of a value's expiry, as the file's attribute records it.
package enum Lifetime: Sendable, Hashable {
  /// An extending access sets the expiry to this many seconds from then.
  case seconds(UInt32)
  /// The value never expires, and no access changes that.
  case never
  /// The expiry was given as a date and never slides.
  case fixed
  /// Unknown, for a file made by hand or one whose attribute was lost.
  case unknown
}

extension Expiration {
  /// The longest lifetime in seconds: about 136 years. Longer ones count as this.
  // One below the largest 32-bit number, because the attribute and the index keep it in 32 bits,
  // and so that arithmetic with it stays far from Int64's ends.
  package static let maximumLifetime = Int(UInt32.max - 1)

  /// Returns the point at which a value stored or extended at `now` expires.
  package func expiry(at now: Timestamp) -> Timestamp {
    switch self {
    case .never: .never
    case .seconds(let count): Self.bounded(now.adding(seconds: Int64(Self.capped(count))))
    case .days(let count): Self.bounded(now.adding(seconds: Int64(Self.capped(days: count))))
    case .date(let date): Self.bounded(date)
    // Capped, so that it is never `.never`, even if the clock shows a later time.
    case .expired: min(now, Timestamp(seconds: Timestamp.never.seconds - 1))
    }
  }

  /// Returns an expiry that the disk does not read as never: 2³¹ − 1 s and 2³² − 1 s are moved by a
  /// nanosecond. Times later than never count as never, and those before 1697 as then, so that a
  /// value may be read however long it has been expired.
  private static func bounded(_ expiry: Timestamp) -> Timestamp {
    expiry < .never && expiry.asExpiry == .never
      ? expiry.adding(.nanoseconds(1))
      : min(max(expiry, Timestamp(seconds: -(1 << 33))), .never)
  }

  /// The lifetime that the attribute records.
  package var lifetime: Lifetime {
    switch self {
    case .never: .never
    case .seconds(let count): .seconds(UInt32(max(0, Self.capped(count))))
    case .days(let count): .seconds(UInt32(max(0, Self.capped(days: count))))
    case .date(let date): date >= .never ? .never : .fixed
    case .expired: .fixed
    }
  }

  /// Converts what a file records and its expiry; nil if it records nothing.
  package init?(_ lifetime: Lifetime, until expiry: Timestamp) {
    switch lifetime {
    case .seconds(let count): self = .seconds(Int(count))
    case .never: self = .never
    case .fixed: self = expiry < .never ? .date(expiry) : .never
    case .unknown: return nil
    }
  }

  private static func capped(_ seconds: Int) -> Int {
    min(max(seconds, -maximumLifetime), maximumLifetime)
  }

  private static func capped(days: Int) -> Int {
    let (seconds, overflow) = days.multipliedReportingOverflow(by: 86_400)
    return capped(overflow ? (days < 0 ? .min : .max) : seconds)
  }
}

extension ExpirationExtending {
  /// Returns the expiry that an access at `now` gives a value, or nil if it stays as it is.
  package func extendedExpiry(
    of expiry: Timestamp, lifetime: Lifetime, at now: Timestamp
  ) -> Timestamp? {
    // An access never gives an expiry to a value without one, and never moves a date.
    guard expiry < .never, lifetime != .never, lifetime != .fixed else { return nil }
    let candidate: Timestamp
    switch (self, lifetime) {
    case (.off, _), (.lifetime, .unknown), (.lifetime, .never), (.lifetime, .fixed): return nil
    case (.lifetime, .seconds(let count)): candidate = now.adding(seconds: Int64(count))
    case (.to(let expiration), _): candidate = expiration.expiry(at: now)
    }
    // Only ever later: a reader that asks for a shorter lifetime must not undo another's extension.
    return candidate > expiry ? min(candidate, .never) : nil
  }
}

extension Timestamp {
  /// The expiry that a modification time means. Some times mean never, because file systems with a
  /// smaller range turn never into them.
  @inlinable
  package var asExpiry: Timestamp {
    if self >= .never { return .never }
    let isClamped = seconds == Int64(Int32.max) || seconds == Int64(UInt32.max)
    return nanoseconds == 0 && isClamped ? .never : self
  }

  /// Whether an expiry has passed. Never does not pass, whatever the clock shows.
  @inlinable
  package func hasCome(at now: Timestamp) -> Bool { self < .never && self <= now }
}

extension Expiration {
  /// Valid for a number of minutes of 60 seconds.
  public static func minutes(_ count: Int) -> Expiration { seconds(count, times: 60) }

  /// Valid for a number of hours of 3,600 seconds.
  public static func hours(_ count: Int) -> Expiration { seconds(count, times: 3600) }

  /// Valid for a duration, rounded up to whole seconds, because lifetimes are recorded in seconds:
  /// `.after(.milliseconds(1500))` is two seconds, and `.after(.seconds(3600) / 2)` half an hour.
  public static func after(_ duration: Duration) -> Expiration {
    let (seconds, fraction) = duration.boundedComponents
    return .seconds(Int(fraction > 0 && seconds < .max ? seconds + 1 : seconds))
  }

  /// Returns the number of seconds in a number of spans, limited to the range of `Int`.
  private static func seconds(_ count: Int, times length: Int) -> Expiration {
    let (product, overflow) = count.multipliedReportingOverflow(by: length)
    return .seconds(overflow ? (count < 0 ? .min : .max) : product)
  }
}
