extension MemoryReport {
  /// The report as one object: `results` by workload and size, `memory` with resident bytes,
  /// `scaling` of two threads against one, `handover_ns` of a cache line between two cores.
  var json: String {
    let results = cases.flatMap { each in MemoryMeasurement.workloads.map { result(each, $0) } }
    let memory = cases.map { each in
      "{\"entries\": \(each.entries), \"threads\": \(each.threads), "
        + "\"bytes_per_entry\": \(each.median("larder", "bytes").rounded(to: 1)), "
        + "\"expiring_bytes_per_entry\": \(each.median("expiring", "bytes").rounded(to: 1))}"
    }
    let scaling = scaling.map {
      "{\"entries\": \($0.entries), \"stripes\": \($0.stripes), "
        + "\"ratio\": \($0.ratio.rounded(to: 2))}"
    }
    return """
      {"schema": 1, "results": [
        \(results.joined(separator: ",\n  "))
      ], "memory": [
        \(memory.joined(separator: ",\n  "))
      ], "scaling": [
        \(scaling.joined(separator: ",\n  "))
      ], "handover_ns": \(handover.rounded(to: 1))}
      """
  }

  private func result(_ each: Case, _ workload: String) -> String {
    let (ours, baseline) = (each.median("larder", workload), each.median("dictionary", workload))
    return "{\"name\": \"\(workload)\", \"entries\": \(each.entries), "
      + "\"threads\": \(each.threads), \"ns\": \(ours.rounded(to: 1)), "
      + "\"baseline_ns\": \(baseline.rounded(to: 1)), "
      + "\"ratio\": \((ours / baseline).rounded(to: 2)), "
      + "\"node_list_ns\": \(each.median("node-list", workload).rounded(to: 1)), "
      + "\"striped_ns\": \(each.median("striped", workload).rounded(to: 1)), "
      + "\"expiring_ns\": \(each.median("expiring", workload).rounded(to: 1))}"
  }
}
