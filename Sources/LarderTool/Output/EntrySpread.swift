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
