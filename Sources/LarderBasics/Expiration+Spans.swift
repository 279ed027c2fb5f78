import LarderSystem

extension Expiration {
  /// Valid for a number of minutes of 60 seconds.
  public static func minutes(_ count: Int) -> Expiration { seconds(count, times: 60) }

  /// Valid for a number of hours of 3,600 seconds.
  public static func hours(_ count: Int) -> Expiration { seconds(count, times: 3600) }

  /// Valid for a number of weeks of 604,800 seconds.
  public static func weeks(_ count: Int) -> Expiration { seconds(count, times: 604_800) }

  /// Valid for a duration, rounded up to whole seconds, in which lifetimes are kept on record:
  /// `.after(.milliseconds(1500))` is two seconds, and `.after(.seconds(3600) / 2)` half an hour.
  public static func after(_ duration: Duration) -> Expiration {
    let (seconds, fraction) = duration.boundedComponents
    return .seconds(Int(fraction > 0 && seconds < .max ? seconds + 1 : seconds))
  }

  /// The number of seconds of a number of spans, stopping at the ends of `Int`.
  private static func seconds(_ count: Int, times length: Int) -> Expiration {
    let (product, overflow) = count.multipliedReportingOverflow(by: length)
    return .seconds(overflow ? (count < 0 ? .min : .max) : product)
  }
}
