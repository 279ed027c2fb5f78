import Larder

/// How the entries of a directory are spread over sizes, expiries and last uses.
struct EntrySpread: Sendable {
  /// The number of entries.
  private(set) var count = 0
  /// The bytes of all values.
  private(set) var byteCount: UInt64 = 0
  private(set) var sizes = Histogram("SIZE", SizeClass.all.map { ($0.label, $0.members, .plain) })
  private(set) var expiries = Histogram(
    "EXPIRES IN", AgeClass.expiries.map { ($0.label, $0.members, $0.tone) })
  private(set) var uses = Histogram(
    "USED AGO", AgeClass.uses.map { ($0.label, $0.members, .plain) })

  /// Counts entries as of a point in time.
  init(_ entries: [DiskEntry], at now: Timestamp) {
    for entry in entries { add(entry, at: now) }
  }

  /// The three, in the order in which they are shown.
  var histograms: [Histogram] { [sizes, expiries, uses] }

  private mutating func add(_ entry: DiskEntry, at now: Timestamp) {
    let size = UInt64(max(0, entry.byteCount))
    count += 1
    byteCount.addSaturating(size)
    sizes.add(size, toClass: SizeClass.index(of: size))
    expiries.add(size, toClass: AgeClass.index(ofExpiry: entry.expiry, at: now))
    uses.add(size, toClass: AgeClass.index(ofUse: entry.lastAccess, at: now))
  }

  /// The object for scripts.
  func json(largest: ArraySlice<DiskEntry>) -> JSONValue {
    [
      "schema": 1, "entries": JSONValue(count), "bytes": JSONValue(byteCount),
      "largest": .array(largest.map(\.json)), "sizes": sizes.json, "expiry": expiries.json,
      "last_access": uses.json,
    ]
  }
}

/// A class of sizes: a factor of four from one bound to the next.
struct SizeClass: Sendable, Hashable {
  /// The first size that belongs to the next class, nil for the last.
  let bound: UInt64?

  /// Up to 1 KiB, 4 KiB and so on to 1 GiB, and all above.
  static let all: [SizeClass] =
    (0...10).map { SizeClass(bound: 1 << (10 + 2 * $0)) } + [
      SizeClass(bound: nil)
    ]

  /// The class of a size.
  static func index(of size: UInt64) -> Int {
    all.firstIndex { $0.bound.map { size < $0 } ?? true } ?? all.count - 1
  }

  /// What the row says.
  var label: String {
    guard let bound else { return "1 GiB and more" }
    // Without the decimal, which is zero for every bound.
    return "under " + ByteCount(Int64(bound)).description.split(separator: ".0").joined()
  }

  /// What a script reads.
  var members: [(String, JSONValue)] { [("below", bound.map { JSONValue($0) } ?? .null)] }
}

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
