/// A day of the proleptic Gregorian calendar, with a year 0 before year 1.
struct CivilDate: Sendable, Hashable {
  /// Any year; 0 is the one before 1.
  let year: Int64
  /// 1 to 12.
  let month: Int64
  /// 1 to 31.
  let day: Int64

  /// The day so many days after 1970-01-01, or before it when negative.
  ///
  /// Counts in eras of 400 years of 146,097 days that begin on the 1st of March of year 0, so that
  /// a leap day ends its year. Source: Howard Hinnant, "chrono-Compatible Low-Level Date
  /// Algorithms", civil_from_days. Exact for every day that `Int64` seconds reach.
  init(daysSince1970 days: Int64) {
    let shifted = days + 719_468
    // Division rounds towards zero; days before the era need it rounded down.
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
}
