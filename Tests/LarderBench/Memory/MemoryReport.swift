/// The medians of all runs, as a table and as JSON.
struct MemoryReport {
  struct Case {
    let entries: Int
    let threads: Int
    /// The numbers of all rounds, by cache and then by workload.
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
  /// The nanoseconds of moving a cache line from one core to another.
  let handover: Double

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
            [workload, "\(each.entries)", "\(each.threads)"] + caches.map { $0.rounded(to: 1) }
              + [ratio.rounded(to: 2)]))
      }
    }
    lines.append("ns per operation of a thread, medians")
    lines += scaling.map {
      "\($0.entries) entries, \($0.stripes) stripes: two threads take "
        + "\($0.ratio.rounded(to: 2)) of one thread's time for a hit, best rounds"
    }
    lines.append("a cache line changes cores in \(handover.rounded(to: 1)) ns")
    return lines.joined(separator: "\n")
  }

  /// The best time of two threads relative to the best of one: the cost of a contended lock.
  var scaling: [(entries: Int, stripes: Int, ratio: Double)] {
    let singles = cases.filter { $0.threads == 1 }
    let doubles = cases.filter { $0.threads == 2 }
    return doubles.flatMap { double -> [(entries: Int, stripes: Int, ratio: Double)] in
      guard let single = singles.first(where: { $0.entries == double.entries }) else { return [] }
      return [("larder", 1), ("striped", 4)].map { cache, stripes in
        let ratio = double.best(cache, "get-hit") / single.best(cache, "get-hit")
        return (double.entries, stripes, ratio)
      }
    }
  }

  private func row(_ cells: [String]) -> String {
    cells.map { String(repeating: " ", count: max(0, 10 - $0.count)) + $0 }.joined(separator: " ")
  }
}
