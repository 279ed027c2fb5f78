import Larder

/// Everything that a report shows, as of one moment.
struct ReportContent: Sendable {
  /// The most foreign things that are named one by one.
  static let mostForeign = 1000

  let directory: String
  let now: Timestamp
  /// In the order of their names.
  let entries: [DiskEntry]
  let survey: DirectorySurvey
  /// What reading the values found, nil when they were not read.
  let findings: Verification?
  /// The limit that was given.
  let limit: Int?
  /// What an eviction brings the total down to.
  let target: Int
  /// What an eviction would take.
  let victims: (expired: [EntryName], evicted: [EntryName])
  let foreign: [ForeignThing]

  /// The bytes of all values.
  var byteCount: Int { entries.byteCount }

  /// The object for scripts.
  func json(path: [UInt8]) -> JSONValue {
    let names = Set((victims.expired + victims.evicted).map(\.description))
    let taken = entries.filter { names.contains($0.name) }
    return [
      "schema": 1, "path": JSONValue(String(validating: path, as: UTF8.self)),
      "entries": JSONValue(entries.count), "bytes": JSONValue(byteCount),
      "expired": JSONValue(survey.expiredCount),
      "damaged": findings.map { JSONValue($0.damaged.count) } ?? .null,
      "foreign": JSONValue(survey.foreignCount),
      "eviction": [
        "target": JSONValue(target), "entries": JSONValue(taken.count),
        "bytes": JSONValue(taken.byteCount),
      ],
    ]
  }
}
