extension MemoryReport {
  /// The report as one object: `results` by workload and size, `memory` with resident bytes,
  /// `scaling` of two threads against one, `handover_ns` of a cache line between two cores.
  var json: String {
    let results = cases.flatMap { each in MemoryMeasurement.workloads.map { result(each, $0) } }
    let memory = cases.map { each in
      "{\"entries\": \(each.entries), \"threads\": \(each.threads), "
        + "\"bytes_per_entry\": \(rounded(each.median("larder", "bytes"), 1)), "
        + "\"expiring_bytes_per_entry\": \(rounded(each.median("expiring", "bytes"), 1))}"
    }
    let scaling = scaling.map {
      "{\"entries\": \($0.entries), \"stripes\": \($0.stripes), "
        + "\"ratio\": \(rounded($0.ratio, 2))}"
    }
    return """
      {"schema": 1, "results": [
        \(results.joined(separator: ",\n  "))
      ], "memory": [
        \(memory.joined(separator: ",\n  "))
      ], "scaling": [
        \(scaling.joined(separator: ",\n  "))
      ], "handover_ns": \(rounded(handover, 1))}
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
}
