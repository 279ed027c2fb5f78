import Testing

/// The judge of many histories.
enum HistoryJudge {
  /// Returns the numbers of the histories that no order explains.
  static func rejected<Model: SequentialModel>(
    _ histories: [[RecordedCall<Model.Call, Model.Outcome>]], by model: (_ history: Int) -> Model
  ) -> [Int] {
    histories.indices.filter { !OrderSearch.admits(histories[$0], by: model($0)) }
  }

  /// Records an issue for the first history that no order explains, with all details, and for a run
  /// in which hardly any calls overlapped.
  static func expectLinear<Model: SequentialModel>(
    _ histories: [[RecordedCall<Model.Call, Model.Outcome>]], seed: UInt64, by model: Model
  ) {
    let rejected = rejected(histories) { _ in model }
    if let first = rejected.first {
      let lines = histories[first].sorted { $0.began < $1.began }.map(\.description)
      Issue.record(
        """
        \(rejected.count) histories of \(histories.count) have no order; number \(first) of \
        seed \(seed):
        \(lines.joined(separator: "\n"))
        """)
    }
    let overlapping = histories.count { hasOverlap($0) }
    print("\(histories.count) histories of seed \(seed), \(overlapping) with calls that overlap")
    #expect(overlapping > histories.count / 20)
  }

  private static func hasOverlap<Call, Outcome>(_ calls: [RecordedCall<Call, Outcome>]) -> Bool {
    var end = 0
    for call in calls.sorted(by: { $0.began < $1.began }) {
      if call.began < end { return true }
      end = max(end, call.ended)
    }
    return false
  }
}
