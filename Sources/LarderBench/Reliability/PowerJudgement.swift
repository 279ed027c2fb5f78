import Larder

/// What was found after a power cut, and whether any of it breaks a promise.
struct PowerJudgement {
  private let options: PowerOptions
  private var counts: [String: Int] = [:]
  /// What the writer was told is done, by key: the version stored, 0 for removed.
  private var acknowledged: [String: Int] = [:]
  private var servedNames: Set<String> = []

  /// What must be zero.
  private static let violations = ["wrong", "lost", "returned", "uncounted", "left", "temporaries"]

  /// Reads everything, then looks at what is left.
  init(_ options: PowerOptions, acknowledged steps: [PowerPlan.Step]) throws {
    self.options = options
    for step in steps { acknowledged[step.key] = step.version }
    counts["acknowledged"] = steps.count
    let before = StressWalk(options.directory)
    counts["files"] = before.files.count
    counts["empty_files"] = before.files.count { $0.byteCount == 0 }
    let disk = try PowerBenchmark.open(options)
    for key in PowerPlan.newKeys + PowerPlan.oldKeys + PowerPlan.goneKeys {
      try judge(key, disk)
    }
    try judgeRest(before, disk)
    try disk.close()
  }

  var hasViolation: Bool { Self.violations.contains { counts[$0, default: 0] > 0 } }

  /// One line of names and numbers.
  func report() {
    let sorted = counts.filter { $0.value > 0 }.sorted { $0.key < $1.key }
    print(sorted.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
  }

  private mutating func count(_ name: String, _ number: Int = 1) {
    counts[name, default: 0] += number
  }

  /// Reads a key in the three ways that there are, and compares with what may be there.
  private mutating func judge(_ key: String, _ disk: DiskCache) throws {
    let number = servedNames.count % 3
    var found: [UInt8]?
    var extendedData: [UInt8]?
    switch number {
    case 0: found = try disk.value(forKey: key)
    case 1:
      let value = try disk.read(forKey: key)
      (found, extendedData) = (value?.bytes, value?.extendedData)
    default:
      found = try disk.withFile(forKey: key) { file in
        var bytes = [UInt8](repeating: 0, count: file.byteCount)
        let byteCount = try file.read(into: &bytes)
        return Array(bytes[..<byteCount])
      }
    }
    guard let found else { return judgeAbsence(of: key) }
    servedNames.insert(name(of: key, disk))
    // The newer first: two empty values are the same.
    for version in [2, 1] {
      let value = PowerValue(key: key, version: version)
      guard value.bytes == found else { continue }
      if let extendedData, extendedData != value.extendedData { break }
      return judgePresence(of: key, version)
    }
    count("wrong")
  }

  private func name(of key: String, _ disk: DiskCache) -> String {
    let path = disk.path(forKey: key)
    return String(path.split(separator: "/").last ?? "")
  }

  private mutating func judgePresence(of key: String, _ version: Int) {
    count("served")
    guard let last = acknowledged[key] else { return }
    if last == 0 {
      count(options.isDurable ? "returned" : "undone_removals")
    } else if version < last {
      count(options.isDurable ? "lost" : "undone_overwrites")
    }
  }

  private mutating func judgeAbsence(of key: String) {
    count("missing")
    if acknowledged[key, default: 0] > 0 { count(options.isDurable ? "lost" : "gone") }
  }

  /// Compares the counted misses with the files that were there, and what is left with what was
  /// served.
  private mutating func judgeRest(_ before: StressWalk, _ disk: DiskCache) throws {
    let misses = disk.statistics.misses
    for (reason, number) in misses where reason != .absent { count("miss_\(reason)", number) }
    let counted = misses.filter { $0.key != .absent }.values.reduce(0, +)
    let bad = before.files.count { !servedNames.contains($0.name) }
    if bad != counted { count("uncounted", abs(bad - counted)) }
    try disk.removeExpired()
    try disk.flush()
    let after = StressWalk(options.directory)
    count("left", after.files.count { !servedNames.contains($0.name) })
    count("temporaries", after.temporaryCount)
    count("left", try disk.verify().damaged.count)
  }
}
