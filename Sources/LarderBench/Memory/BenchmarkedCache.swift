/// What the memory benchmark asks of a cache, so that each is called in the same way.
///
/// The functions that measure are generic and specialised for each cache: no call is dynamic that
/// a program would not make so.
protocol BenchmarkedCache: Sendable {
  /// Creates a cache that keeps at most `capacity` values.
  init(capacity: Int)

  /// Reads a value, as a use of it where there is an order of use.
  func get(_ key: String) -> [UInt8]?

  /// Stores a value, and evicts one when there are too many.
  func set(_ key: String, _ value: [UInt8])
}
