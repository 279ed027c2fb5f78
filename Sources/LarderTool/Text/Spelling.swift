/// Suggestions for mistyped words.
enum Spelling {
  /// Returns the candidate nearest to a word; nil if none is near.
  ///
  /// A candidate is near if it differs by one slip in words of up to five letters, by two in longer
  /// ones. Else it is near if the word is the beginning of this candidate alone, with two letters
  /// at least.
  static func nearest(to word: String, among candidates: [String]) -> String? {
    let slips = word.utf8.count > 5 ? 2 : 1
    let near = candidates.map { ($0, distance(word, $0, atMost: slips)) }
      .filter { $0.1 <= slips }
      .min { $0.1 < $1.1 }
    if let near { return near.0 }
    let begun = candidates.filter { word.utf8.count >= 2 && $0.hasPrefix(word) }
    return begun.count == 1 ? begun[0] : nil
  }

  /// Returns the smallest number of slips between two words: letters inserted, removed, replaced,
  /// or swapped with the next.
  ///
  /// - Returns: `limit + 1` at once when the lengths alone differ by more than the limit.
  /// - Complexity: O(*n* × *m*); Source: optimal string alignment distance.
  static func distance(_ a: String, _ b: String, atMost limit: Int) -> Int {
    let (a, b) = (Array(a.utf8), Array(b.utf8))
    // Each letter of difference in length is at least one slip.
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
