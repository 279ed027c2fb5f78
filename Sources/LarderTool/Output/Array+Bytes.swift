import Larder

extension [DiskEntry] {
  /// The bytes of all values, or the most there is where they claim more.
  ///
  /// - Complexity: O(n).
  var byteCount: Int { reduce(into: 0) { $0.addSaturating(UInt64($1.byteCount)) } }
}
