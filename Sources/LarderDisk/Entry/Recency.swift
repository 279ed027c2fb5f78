package import LarderBasics
import LarderSystem

/// The rules that decide when a use of an entry is stamped on the disk, and with which time.
package struct Recency: Sendable {
  /// The most by which the stored last access may lag behind; zero for no lag.
  let granularity: Duration
  /// The granularity in nanoseconds, of which 64 bits hold 292 years.
  private let nanoseconds: Int64

  /// Converts the granularity once, so that no read calculates with durations.
  init(granularity: Duration) {
    self.granularity = granularity
    let (seconds, attoseconds) = granularity.boundedComponents
    let (scaled, isHuge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    // Rounded up, so that the shortest lag does not become none.
    let (sum, isBeyond) = scaled.addingReportingOverflow(
      (attoseconds + 999_999_999) / 1_000_000_000)
    nanoseconds = isHuge || isBeyond ? .max : sum
  }

  /// Returns the lag allowed for an entry: the granularity, or 1/16 of its lifetime if that is
  /// shorter and a use extends the expiry.
  package func lag(for lifetime: Lifetime, _ extending: ExpirationExtending) -> Duration {
    let lag = lagNanoseconds(for: lifetime, extending)
    return lag == nanoseconds ? granularity : .nanoseconds(lag)
  }

  /// Whether the stored last access is so old that a use now is stamped.
  ///
  /// A stored access in the future counts as now, so it is not due. The next due stamp corrects it.
  ///
  /// - Parameter stored: The last access as the file has it.
  func isDue(
    stored: Timestamp, now: Timestamp, lifetime: Lifetime, _ extending: ExpirationExtending
  ) -> Bool {
    let lag = lagNanoseconds(for: lifetime, extending)
    return lag == 0 || now.nanoseconds(since: stored) > lag
  }

  /// Returns the lag allowed for an entry, in nanoseconds.
  func lagNanoseconds(for lifetime: Lifetime, _ extending: ExpirationExtending) -> Int64 {
    // An entry that lives for a minute and lags by a minute would expire while it is being used.
    guard extending != .off, case .seconds(let count) = lifetime else { return nanoseconds }
    // A sixteenth of a second.
    return min(nanoseconds, Int64(count) * 62_500_000)
  }

  /// Returns the last access to write: never earlier than the stored one, unless that is in the
  /// future.
  static func access(used: Timestamp, stored: Timestamp, now: Timestamp) -> Timestamp {
    stored > now ? used : max(used, stored)
  }
}
