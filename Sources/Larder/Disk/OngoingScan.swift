/// A scan that is going on: what it has met, and what it shall not report.
struct OngoingScan: Sendable {
  /// Tells it from a scan that was given up before, whose thread may not know yet.
  let number: Int
  /// Whether the index is complete but for what neighbours did; totals and limits do not wait.
  let isRescan: Bool
  /// The entries known before that it has met.
  var met: SlotMarks
  /// Things met that are not the cache's.
  var foreignCount = 0
}
