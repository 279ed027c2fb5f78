import Larder

/// A class of distances in time, to an expiry or from a last use.
enum AgeClass: Sendable, Hashable {
  /// The expiry is past.
  case expired
  /// At most so many seconds away, and more than the class before.
  case within(seconds: Int64)
  /// Further than the last bound.
  case beyond
  /// It does not expire.
  case never

  private static let bounds: [AgeClass] = [
    60, 3600, 86_400, 7 * 86_400, 30 * 86_400, 365 * 86_400,
  ].map { .within(seconds: $0) }

  /// The classes of expiries.
  static let expiries = [.expired] + bounds + [.beyond, .never]
  /// The classes of last uses.
  static let uses = bounds + [.beyond]

  /// The class of an expiry, nil for never.
  static func index(ofExpiry expiry: Timestamp?, at now: Timestamp) -> Int {
    guard let expiry else { return expiries.count - 1 }
    return expiry <= now ? 0 : 1 + index(expiry.duration(since: now))
  }

  /// The class of a last use; one in the future counts as now.
  static func index(ofUse use: Timestamp, at now: Timestamp) -> Int {
    index(now.duration(since: use))
  }

  private static func index(_ distance: Duration) -> Int {
    let place = bounds.firstIndex { bound in
      if case .within(let seconds) = bound { distance <= .seconds(seconds) } else { false }
    }
    return place ?? bounds.count
  }

  /// What the row says.
  var label: String {
    switch self {
    case .expired: "expired"
    case .within(let seconds): "up to " + Self.name(of: seconds)
    case .beyond: "over 1 y"
    case .never: "never"
    }
  }

  private static func name(of seconds: Int64) -> String {
    switch seconds {
    case 60: "1 min"
    case 3600: "1 h"
    case 365 * 86_400: "1 y"
    default: "\(seconds / 86_400) d"
    }
  }

  /// What a script reads.
  var members: [(String, JSONValue)] {
    switch self {
    case .expired: [("class", "expired"), ("seconds", nil)]
    case .within(let seconds): [("class", "within"), ("seconds", JSONValue(seconds))]
    case .beyond: [("class", "beyond"), ("seconds", nil)]
    case .never: [("class", "never"), ("seconds", nil)]
    }
  }

  /// The colour, that of the freshness it comes nearest to.
  var tone: TextTone {
    switch self {
    case .expired: .red
    case .within(let seconds): seconds <= 3600 ? .yellow : .green
    case .beyond: .green
    case .never: .cyan
    }
  }
}
