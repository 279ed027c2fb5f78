/// The results of a benchmark of the disk tier, as a table and as JSON.
struct DiskReport {
  var results: [DiskResult] = []

  /// Prints the report as JSON or as a table.
  func print(asJSON: Bool) {
    Swift.print(asJSON ? json : table)
  }

  var table: String {
    var lines = [
      row(["", "entries", "bytes", "threads", "larder ns", "least ns", "ratio", "same ns", "ratio"])
    ]
    for result in results {
      lines.append(
        row([
          result.name, "\(result.entries)", result.byteCount.map { "\($0)" } ?? "",
          "\(result.threads)", result.nanoseconds.rounded(to: 0),
          result.least.median.rounded(to: 0), result.ratioToLeast.rounded(to: 2),
          result.same.isEmpty ? "" : result.same.median.rounded(to: 0),
          result.same.isEmpty ? "" : result.ratioToSame.rounded(to: 2),
        ]))
    }
    lines.append("ns per operation, of a directory's operations in all; medians of the rounds")
    lines += Self.legend
    return lines.joined(separator: "\n")
  }

  /// What the ratios are to, and the keys.
  static let legend = [
    "least work: the fewest raw system calls that store or read the same bytes",
    "same work: also the attribute, the hash and the lock, as the cache does",
    BenchmarkKeys.summary,
  ]

  private func row(_ cells: [String]) -> String {
    let widths = [19, 9, 9, 8, 14, 14, 7, 14, 7]
    return zip(cells, widths).enumerated().map { index, pair in
      let space = String(repeating: " ", count: max(0, pair.1 - pair.0.count))
      return index == 0 ? pair.0 + space : space + pair.0
    }.joined(separator: " ")
  }

  var json: String {
    let rows = results.map(object).joined(separator: ",\n  ")
    return "{\"schema\": 1, \"keys\": \"\(BenchmarkKeys.summary)\", \"results\": [\n  \(rows)\n]}"
  }

  private func object(_ result: DiskResult) -> String {
    let bytes = result.byteCount.map { "\"bytes\": \($0), " } ?? ""
    return "{\"name\": \"\(result.name)\", \"entries\": \(result.entries), " + bytes
      + "\"threads\": \(result.threads), \"ns\": \(result.nanoseconds.rounded(to: 1)), "
      + "\"raw_ns\": \(result.least.median.rounded(to: 1)), "
      + "\"ratio\": \(result.ratioToLeast.rounded(to: 3)), "
      + "\"same_ns\": \(result.same.median.rounded(to: 1)), "
      + "\"same_ratio\": \(result.ratioToSame.rounded(to: 3))}"
  }
}
