/// The medians of all runs, as a table and as JSON.
struct MemoryReport {
  struct Case {
    let entries: Int
    let threads: Int
    /// By cache, then by workload: one number a round.
    var samples: [String: [String: [Double]]] = [:]

    func median(_ cache: String, _ workload: String) -> Double {
      let values = (samples[cache]?[workload] ?? []).sorted()
      return values.isEmpty ? .nan : values[values.count / 2]
    }

    func best(_ cache: String, _ workload: String) -> Double {
      samples[cache]?[workload]?.min() ?? .nan
    }
  }

  let cases: [Case]

  var table: String {
    var lines = [
      row([
        "", "entries", "threads", "larder", "4 stripes", "expiring", "String", "dictionary", "list",
        "ratio",
      ])
    ]
    for each in cases {
      for workload in MemoryMeasurement.workloads + ["bytes"] {
        let caches = MemoryBenchmark.caches.map { each.median($0, workload) }
        let ratio = caches[0] / caches[4]
        lines.append(
          row(
            [workload, "\(each.entries)", "\(each.threads)"] + caches.map { rounded($0, 1) }
              + [rounded(ratio, 2)]))
      }
    }
    lines.append("ns per operation of a thread, medians")
    return lines.joined(separator: "\n")
  }

  private func row(_ cells: [String]) -> String {
    cells.map { String(repeating: " ", count: max(0, 10 - $0.count)) + $0 }.joined(separator: " ")
  }

  func rounded(_ value: Double, _ places: Int) -> String {
    guard value.isFinite else { return "null" }
    let scale = places == 1 ? 10 : 100
    let whole = Int((value.magnitude * Double(scale)).rounded())
    let fraction = String(whole % scale)
    let zeros = String(repeating: "0", count: places - fraction.count)
    return (value < 0 ? "-" : "") + "\(whole / scale).\(zeros)\(fraction)"
  }
}
