import Larder

/// The result of removing several entries, which all verbs that remove report alike.
struct RemovalTally: Sendable, Hashable {
  var removed = 0
  var failed = 0
  var byteCount = 0
  /// Whether nothing was removed, and the figures are those of a real run.
  var isDryRun = false
  /// The names of the entries; nil if they were not asked for.
  var names: [String]?

  /// Adds what another removal has done.
  mutating func add(_ other: RemovalTally) {
    removed += other.removed
    failed += other.failed
    byteCount.addSaturating(UInt64(other.byteCount))
  }

  /// Returns the object for scripts.
  func json(extra: [(String, JSONValue)] = []) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("schema", 1), ("removed", JSONValue(removed)), ("failed", JSONValue(failed)),
      ("bytes", JSONValue(byteCount)),
    ]
    members += extra
    if let names { members.append(("names", .array(names.map(JSONValue.string)))) }
    if isDryRun { members.append(("dry_run", true)) }
    return .object(members.map { JSONValue.Member(name: $0.0, value: $0.1) })
  }

  /// The line for people.
  var text: String {
    let verb = isDryRun ? "would remove" : "removed"
    return "\(verb) \(removed.counted("entry")), \(ByteCount(Int64(byteCount)))\n"
  }
}

extension RemovalTally {
  /// Creates a tally from the library's result.
  init(_ removal: BulkRemoval, isDryRun: Bool = false) {
    self.init(
      removed: removal.removed, failed: removal.failed, byteCount: removal.byteCount,
      isDryRun: isDryRun)
  }
}
