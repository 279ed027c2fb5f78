import Larder

extension JSONValue {
  /// A point in time by RFC 3339, null when it is never or there is none.
  static func time(_ time: Timestamp?) -> JSONValue {
    guard let time, time < .never else { return .null }
    return .string(time.rfc3339)
  }

  /// A point in time as nanoseconds since 1970, null when it is never or there is none.
  static func nanoseconds(_ time: Timestamp?) -> JSONValue {
    guard let time, time < .never else { return .null }
    return .integer(Int128(time.seconds) * 1_000_000_000 + Int128(time.nanoseconds))
  }
}
