/// The figures of a stress run.
struct StressReport {
  private let figures: [(name: String, value: Int)]
  let violationCount: Int

  init(_ options: StressOptions, _ counts: [String: Int], seconds: Double = 0) {
    violationCount = StressCounts.violations.reduce(0) { $0 + counts[$1, default: 0] }
    let settings = [
      ("processes", options.processes), ("threads", options.threads),
      ("milliseconds", Int(seconds * 1000)), ("bytes_limit", options.limit),
    ]
    let others = counts.filter { !StressCounts.violations.contains($0.key) }
    figures =
      settings + others.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      + StressCounts.violations.map { ($0, counts[$0, default: 0]) }
  }

  /// The figures, one a line, with the violations last.
  var table: String {
    figures.map { name, value in
      name + String(repeating: " ", count: max(1, 34 - name.count - "\(value)".count)) + "\(value)"
    }.joined(separator: "\n")
  }

  /// The figures as one JSON object.
  var json: String {
    "{\"schema\": 1, " + figures.map { "\"\($0.name)\": \($0.value)" }.joined(separator: ", ")
      + "}"
  }
}
