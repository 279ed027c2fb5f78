extension MemoryReport {
  /// One object: `results` by workload and size, `memory` with resident bytes, `scaling` of two
  /// threads against one.
  var json: String {
    let results = cases.flatMap { each in MemoryMeasurement.workloads.map { result(each, $0) } }
    let memory = cases.map { each in
      "{\"entries\": \(each.entries), \"threads\": \(each.threads), "
        + "\"bytes_per_entry\": \(rounded(each.median("larder", "bytes"), 1)), "
        + "\"expiring_bytes_per_entry\": \(rounded(each.median("expiring", "bytes"), 1))}"
    }
    return """
      {"schema": 1, "results": [
        \(results.joined(separator: ",\n  "))
      ], "memory": [
        \(memory.joined(separator: ",\n  "))
      ], "scaling": [
        \(scaling.joined(separator: ",\n  "))
      ]}
      """
  }

  private func result(_ each: Case, _ workload: String) -> String {
    let (ours, baseline) = (each.median("larder", workload), each.median("dictionary", workload))
    return "{\"name\": \"\(workload)\", \"entries\": \(each.entries), "
      + "\"threads\": \(each.threads), \"ns\": \(rounded(ours, 1)), "
      + "\"baseline_ns\": \(rounded(baseline, 1)), \"ratio\": \(rounded(ours / baseline, 2)), "
      + "\"node_list_ns\": \(rounded(each.median("node-list", workload), 1)), "
      + "\"striped_ns\": \(rounded(each.median("striped", workload), 1)), "
      + "\"expiring_ns\": \(rounded(each.median("expiring", workload), 1))}"
  }

  /// The best rounds of two threads over the best of one: what a lock costs when it is contended.
  private var scaling: [String] {
    let singles = cases.filter { $0.threads == 1 }
    let doubles = cases.filter { $0.threads == 2 }
    return doubles.flatMap { double -> [String] in
      guard let single = singles.first(where: { $0.entries == double.entries }) else { return [] }
      return [("larder", 1), ("striped", 4)].map { cache, stripes in
        let ratio = double.best(cache, "get-hit") / single.best(cache, "get-hit")
        return "{\"entries\": \(double.entries), \"stripes\": \(stripes), "
          + "\"ratio\": \(rounded(ratio, 2))}"
      }
    }
  }
}
