/// The results of a benchmark of the disk tier, as a table and as JSON.
struct DiskReport {
  var results: [DiskResult] = []

  /// Prints the report as JSON or as a table.
  func print(asJSON: Bool) {
    Swift.print(asJSON ? json : table)
  }

  var table: String {
    var lines = [row(["", "entries", "bytes", "threads", "larder ns", "raw ns", "ratio"])]
    for result in results {
      lines.append(
        row([
          result.name, "\(result.entries)", result.byteCount.map { "\($0)" } ?? "",
          "\(result.threads)", result.nanoseconds.rounded(to: 0),
          result.rawNanoseconds.rounded(to: 0), result.ratio.rounded(to: 2),
        ]))
    }
    lines.append("ns per operation, for scan, evict-half and open in all; medians of the rounds")
    return lines.joined(separator: "\n")
  }

  private func row(_ cells: [String]) -> String {
    let widths = [15, 9, 9, 8, 14, 14, 7]
    return zip(cells, widths).enumerated().map { index, pair in
      let space = String(repeating: " ", count: max(0, pair.1 - pair.0.count))
      return index == 0 ? pair.0 + space : space + pair.0
    }.joined(separator: " ")
  }

  var json: String {
    "{\"schema\": 1, \"results\": [\n  " + results.map(object).joined(separator: ",\n  ") + "\n]}"
  }

  private func object(_ result: DiskResult) -> String {
    let bytes = result.byteCount.map { "\"bytes\": \($0), " } ?? ""
    return "{\"name\": \"\(result.name)\", \"entries\": \(result.entries), " + bytes
      + "\"threads\": \(result.threads), \"ns\": \(result.nanoseconds.rounded(to: 1)), "
      + "\"raw_ns\": \(result.rawNanoseconds.rounded(to: 1)), "
      + "\"ratio\": \(result.ratio.rounded(to: 3))}"
  }
}
