@testable import LarderDisk

extension DiskCache {
  /// Reads or changes the table of the values that wait to be written, in a cache that writes
  /// behind.
  func withBacklog<Result: Sendable>(_ body: (inout Backlog) -> Result) -> Result {
    guard let behind else { preconditionFailure("nothing is written behind") }
    return behind.withTable(body)
  }

  /// Keeps other threads from writing what waits, from the end of the writer that runs now: one
  /// whose values a flush has written would still take the next value.
  func blockWriter() {
    behind?.wait { backlog -> Void? in
      if backlog.hasWriter { return nil }
      backlog.hasWriter = true
      return ()
    }
  }
}
