import Larder

/// The figures of a replay.
struct ReplayReport {
  /// The requests a second by the replay's clock; nil for as fast as they are answered.
  var rate: Int?
  var accesses = 0
  var memoryHits = 0
  var diskHits = 0
  var bytesHit = 0
  var misses = 0
  var memoryEvictions = 0
  var diskEvictions = 0
  var diskPurges = 0
  var (moreAtDouble, moreAtFourfold) = (0, 0)
  var diskBytes = 0
  var diskEntries = 0
  var memoryEntries = 0
  var seconds = 0.0
  /// The seconds spent on reads that found a value.
  var hitSeconds = 0.0
  var wrongValues = 0
  /// Of several processes, the smallest total after the first eviction.
  var leastBytes = Int.max

  mutating func add(_ statistics: MemoryStatistics, count: Int) {
    memoryEvictions = statistics.removals[.evicted, default: 0]
    memoryEntries = count
  }

  mutating func add(_ disk: DiskCache) throws {
    try disk.flush()
    let statistics = disk.statistics
    diskEvictions += statistics.removals[.evicted, default: 0]
    diskPurges += statistics.purges
    moreAtDouble += statistics.moreHitsAtDoubleLimit
    moreAtFourfold += statistics.moreHitsAtFourfoldLimit
    diskBytes = try disk.totalSize()
    diskEntries = try disk.count()
  }

  private var hits: Int { memoryHits + diskHits }

  private var figures: [(name: String, value: String)] {
    [
      ("accesses", "\(accesses)"), ("hits_memory", "\(memoryHits)"),
      ("hits_disk", "\(diskHits)"), ("misses", "\(misses)"),
      ("evicted_memory", "\(memoryEvictions)"), ("evicted_disk", "\(diskEvictions)"),
      ("purges_disk", "\(diskPurges)"), ("bytes_disk", "\(diskBytes)"),
      ("more_hits_double", "\(moreAtDouble)"), ("more_hits_fourfold", "\(moreAtFourfold)"),
      ("entries_disk", "\(diskEntries)"), ("entries_memory", "\(memoryEntries)"),
      ("seconds", seconds.rounded(to: 2)), ("hit_milliseconds", (hitSeconds * 1000).rounded(to: 2)),
      ("wrong_values", "\(wrongValues)"), ("bytes_hit", "\(bytesHit)"),
      ("hit_percent", (100 * Double(hits) / Double(max(1, accesses))).rounded(to: 2)),
    ] + (rate.map { [("requests_a_second", "\($0)")] } ?? [])
      + (leastBytes < .max ? [("bytes_least", "\(leastBytes)")] : [])
  }

  /// The figures as one JSON object.
  var json: String {
    "{" + figures.map { "\"\($0.name)\": \($0.value)" }.joined(separator: ", ") + "}"
  }

  /// The figures, one a line.
  var table: String {
    figures.map { name, value in
      name + String(repeating: " ", count: max(1, 28 - name.count - value.count)) + value
    }.joined(separator: "\n")
  }
}
