@testable import LarderDisk

extension DiskCache {
  /// Reads or changes the table of the values that wait to be written, in a cache that writes
  /// behind.
  func withBacklog<Result: Sendable>(_ body: (inout Backlog) -> Result) -> Result {
    guard let behind else { preconditionFailure("nothing is written behind") }
    return behind.withTable(body)
  }
}
