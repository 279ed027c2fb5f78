import Larder

/// The distribution of entries over sizes, expiries and last uses.
struct EntrySpread: Sendable {
  /// The number of entries.
  private(set) var count = 0
  /// The bytes of all values together.
  private(set) var byteCount: UInt64 = 0
  private(set) var sizes = Histogram("SIZE", SizeClass.all.map { ($0.label, $0.members, .plain) })
  private(set) var expiries = Histogram(
    "EXPIRES IN", AgeClass.expiries.map { ($0.label, $0.members, $0.tone) })
  private(set) var uses = Histogram(
    "USED AGO", AgeClass.uses.map { ($0.label, $0.members, .plain) })

  /// Counts entries. Ages are relative to `now`.
  init(_ entries: [DiskEntry], at now: Timestamp) {
    for entry in entries { add(entry, at: now) }
  }

  /// The three histograms, in the order in which they are shown.
  var histograms: [Histogram] { [sizes, expiries, uses] }

  private mutating func add(_ entry: DiskEntry, at now: Timestamp) {
    let size = UInt64(max(0, entry.byteCount))
    count += 1
    byteCount.addSaturating(size)
    sizes.add(size, toClass: SizeClass.index(of: size))
    expiries.add(size, toClass: AgeClass.index(ofExpiry: entry.expiry, at: now))
    uses.add(size, toClass: AgeClass.index(ofUse: entry.lastAccess, at: now))
  }

  /// Returns the object for scripts.
  func json(largest: ArraySlice<DiskEntry>) -> JSONValue {
    [
      "schema": 1, "entries": JSONValue(count), "bytes": JSONValue(byteCount),
      "largest": .array(largest.map(\.json)), "sizes": sizes.json, "expiry": expiries.json,
      "last_access": uses.json,
    ]
  }
}

/// A class of sizes. Each bound is four times the one before.
struct SizeClass: Sendable, Hashable {
  /// The first size of the next class; nil for the last class.
  let bound: UInt64?

  /// The classes under 1 KiB, 4 KiB and so on to 1 GiB, and one for all larger sizes.
  static let all: [SizeClass] =
    (0...10).map { SizeClass(bound: 1 << (10 + 2 * $0)) } + [
      SizeClass(bound: nil)
    ]

  /// Returns the index of a size's class.
  static func index(of size: UInt64) -> Int {
    all.firstIndex { $0.bound.map { size < $0 } ?? true } ?? all.count - 1
  }

  /// The label of the row.
  var label: String {
    guard let bound else { return "1 GiB and more" }
    // The decimal is left out, because it is zero for every bound.
    return "under " + ByteCount(Int64(bound)).description.split(separator: ".0").joined()
  }

  /// The JSON members that identify the class.
  var members: [(String, JSONValue)] { [("below", bound.map { JSONValue($0) } ?? .null)] }
}

/// A class of durations, to an expiry or since a last use.
enum AgeClass: Sendable, Hashable {
  /// The expiry is past.
  case expired
  /// At most so many seconds, and more than in the class before.
  case within(seconds: Int64)
  /// More than the last bound.
  case beyond
  /// The entry does not expire.
  case never

  private static let bounds: [AgeClass] = [
    60, 3600, 86_400, 7 * 86_400, 30 * 86_400, 365 * 86_400,
  ].map { .within(seconds: $0) }

  /// The classes of expiries.
  static let expiries = [.expired] + bounds + [.beyond, .never]
  /// The classes of last uses.
  static let uses = bounds + [.beyond]

  /// Returns the index of an expiry's class. A nil expiry means never.
  static func index(ofExpiry expiry: Timestamp?, at now: Timestamp) -> Int {
    guard let expiry else { return expiries.count - 1 }
    return expiry <= now ? 0 : 1 + index(expiry.duration(since: now))
  }

  /// Returns the index of a last use's class. A use in the future counts as now.
  static func index(ofUse use: Timestamp, at now: Timestamp) -> Int {
    index(now.duration(since: use))
  }

  private static func index(_ distance: Duration) -> Int {
    let place = bounds.firstIndex { bound in
      if case .within(let seconds) = bound { distance <= .seconds(seconds) } else { false }
    }
    return place ?? bounds.count
  }

  /// The label of the row.
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

  /// The JSON members that identify the class.
  var members: [(String, JSONValue)] {
    switch self {
    case .expired: [("class", "expired"), ("seconds", nil)]
    case .within(let seconds): [("class", "within"), ("seconds", JSONValue(seconds))]
    case .beyond: [("class", "beyond"), ("seconds", nil)]
    case .never: [("class", "never"), ("seconds", nil)]
    }
  }

  /// The colour of the nearest ``Freshness``.
  var tone: TextTone {
    switch self {
    case .expired: .red
    case .within(let seconds): seconds <= 3600 ? .yellow : .green
    case .beyond: .green
    case .never: .cyan
    }
  }
}
