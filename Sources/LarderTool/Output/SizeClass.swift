/// A class of sizes: a factor of four from one bound to the next.
struct SizeClass: Sendable, Hashable {
  /// The first size that belongs to the next class, nil for the last.
  let bound: UInt64?

  /// Up to 1 KiB, 4 KiB and so on to 1 GiB, and all above.
  static let all: [SizeClass] =
    (0...10).map { SizeClass(bound: 1 << (10 + 2 * $0)) } + [
      SizeClass(bound: nil)
    ]

  /// The class of a size.
  static func index(of size: UInt64) -> Int {
    all.firstIndex { $0.bound.map { size < $0 } ?? true } ?? all.count - 1
  }

  /// What the row says.
  var label: String {
    guard let bound else { return "1 GiB and more" }
    // Without the decimal, which is zero for every bound.
    return "under " + ByteCount(Int64(bound)).description.split(separator: ".0").joined()
  }

  /// What a script reads.
  var members: [(String, JSONValue)] { [("below", bound.map { JSONValue($0) } ?? .null)] }
}
