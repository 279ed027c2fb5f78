/// The operations of a cache that the memory benchmark measures.
///
/// The measuring functions are generic and specialised for each cache, so that calls are as direct
/// as in a program.
protocol BenchmarkedCache: Sendable {
  /// Creates a cache that keeps at most `capacity` values.
  init(capacity: Int)

  /// Reads a value. This is a use if the cache has an order of use.
  func get(_ key: String) -> [UInt8]?

  /// Stores a value, and evicts one if there are too many.
  func set(_ key: String, _ value: [UInt8])
}
