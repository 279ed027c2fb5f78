/// What somebody who mistyped a word probably meant.
enum Spelling {
  /// The nearest of the candidates, nil when none is near enough to be worth a guess.
  ///
  /// Near means one slip in words of up to five letters and two in longer ones, or a beginning of
  /// at least two letters that is typed right.
  static func nearest(to word: String, among candidates: [String]) -> String? {
    let slips = word.utf8.count > 5 ? 2 : 1
    let near = candidates.map { ($0, distance(word, $0, atMost: slips)) }
      .filter { $0.1 <= slips }
      .min { $0.1 < $1.1 }
    if let near { return near.0 }
    let begun = candidates.filter { word.utf8.count >= 2 && $0.hasPrefix(word) }
    return begun.count == 1 ? begun[0] : nil
  }

  /// The fewest letters to insert, remove, replace or swap with the next, to turn one into other.
  ///
  /// - Returns: `limit + 1` at once when the lengths alone differ by more than the limit.
  /// - Complexity: O(*n* × *m*); Source: optimal string alignment distance.
  static func distance(_ a: String, _ b: String, atMost limit: Int) -> Int {
    let (a, b) = (Array(a.utf8), Array(b.utf8))
    // Each letter of difference in length is one slip at least.
    guard abs(a.count - b.count) <= limit else { return limit + 1 }
    var before: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        let replaced = last[j] + (a[i] == b[j] ? 0 : 1)
        row.append(min(last[j + 1] + 1, row[j] + 1, replaced))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          row[j + 1] = min(row[j + 1], before[j - 1] + 1)
        }
      }
      (before, last) = (last, row)
    }
    return last[b.count]
  }
}
