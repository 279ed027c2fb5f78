package import LarderBasics
import LarderSystem

/// When a use of an entry is worth a stamp on the disk, and what the stamp says.
package struct Recency: Sendable {
  /// How far the stored last access may lag behind. Zero: not at all.
  let granularity: Duration
  let extending: ExpirationExtending
  /// The same in nanoseconds, of which 64 bits hold 292 years.
  private let nanoseconds: Int64

  /// Settles the lag once, so that no read calculates with durations.
  init(granularity: Duration, extending: ExpirationExtending) {
    self.granularity = granularity
    self.extending = extending
    let (seconds, attoseconds) = granularity.boundedComponents
    let (scaled, isHuge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    // Rounded up: the shortest lag there is does not mean none.
    let (sum, isBeyond) = scaled.addingReportingOverflow(
      (attoseconds + 999_999_999) / 1_000_000_000)
    nanoseconds = isHuge || isBeyond ? .max : sum
  }

  /// The lag allowed for an entry: the granularity, or 1/16 of its lifetime if that is shorter.
  package func lag(for lifetime: Lifetime) -> Duration {
    // An entry that lives for a minute and lags by a minute would expire while it is being used.
    guard case .seconds(let count) = lifetime else { return granularity }
    return min(granularity, .seconds(Int64(count)) / 16)
  }

  /// Whether the stored last access is too old, given a use now.
  ///
  /// One in the future counts as now, so it is not due; it is corrected by the next due stamp.
  ///
  /// - Parameter stored: the last access as the file has it.
  func isDue(stored: Timestamp, now: Timestamp, lifetime: Lifetime) -> Bool {
    let lag = lagNanoseconds(for: lifetime)
    return lag == 0 || now.nanoseconds(since: stored) > lag
  }

  /// The lag allowed for an entry, in nanoseconds.
  func lagNanoseconds(for lifetime: Lifetime) -> Int64 {
    guard case .seconds(let count) = lifetime else { return nanoseconds }
    // A sixteenth of a second.
    return min(nanoseconds, Int64(count) * 62_500_000)
  }

  /// The last access to write: never earlier than what is stored, unless that is in the future.
  static func access(used: Timestamp, stored: Timestamp, now: Timestamp) -> Timestamp {
    stored > now ? used : max(used, stored)
  }
}
