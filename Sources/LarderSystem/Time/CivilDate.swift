#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A day of the proleptic Gregorian calendar, with a year 0 before year 1.
package struct CivilDate: Sendable, Hashable {
  /// Any year; 0 is the year before 1.
  package let year: Int64
  /// 1 to 12.
  package let month: Int64
  /// 1 to 31.
  package let day: Int64

  /// Creates the day a number of days after 1970-01-01, or before it if negative.
  ///
  /// Counts in eras of 400 years of 146,097 days that begin on the 1st of March of year 0, so that
  /// a leap day is the last day of its year. Source: Howard Hinnant, "chrono-Compatible Low-Level
  /// Date Algorithms", civil_from_days. Exact for every day in the range of `Int64` seconds.
  package init(daysSince1970 days: Int64) {
    let shifted = days + 719_468
    // Division rounds towards zero, but days before the era must be rounded down.
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let leaps = dayOfEra / 1460 - dayOfEra / 36_524 + dayOfEra / 146_096
    let yearOfEra = (dayOfEra - leaps) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// Creates the day of a year from 0 to 9999, a month and a day; nil if there is no such day.
  init?(year: Int64, month: Int64, day: Int64) {
    guard (1...12).contains(month), (1...31).contains(day), (0...9999).contains(year) else {
      return nil
    }
    (self.year, self.month, self.day) = (year, month, day)
    // The count of days ignores the lengths of months, so a day that its month lacks comes back as
    // a day of the next month.
    guard CivilDate(daysSince1970: daysSince1970) == self else { return nil }
  }

  /// The days since 1970-01-01, negative before.
  ///
  /// Source: Howard Hinnant, as above, days_from_civil.
  var daysSince1970: Int64 {
    let year = month <= 2 ? self.year - 1 : self.year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}

/// A point in time by the calendar and the local wall clock.
package struct LocalTime: Sendable, Hashable {
  /// 1 to 12.
  package let month: Int
  /// 1 to 31.
  package let day: Int
  /// 0 to 23.
  package let hour: Int
  /// 0 to 59.
  package let minute: Int

  /// Converts a time by the time zone of the process. Corresponds to `localtime_r`.
  package init(_ time: Timestamp) {
    // All zero for a year that `int` cannot hold: 1 January, midnight, instead of a trap.
    var fields = unsafe tm()
    var seconds = time_t(clamping: time.seconds)
    _ = unsafe localtime_r(&seconds, &fields)
    month = unsafe Int(fields.tm_mon) + 1
    day = unsafe Int(fields.tm_mday)
    hour = unsafe Int(fields.tm_hour)
    minute = unsafe Int(fields.tm_min)
  }
}
