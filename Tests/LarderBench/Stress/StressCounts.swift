import Glibc
import Synchronization

/// The counts of a process's threads, by name.
final class StressCounts: Sendable {
  private let counts = Mutex<[String: Int]>([:])
  private let speaksAtOnce: Bool

  /// - Parameter speaksAtOnce: Whether all violations are written to the error stream at once,
  ///   because the process may be killed before it reports. Otherwise only the first five of a name
  ///   are.
  init(speaksAtOnce: Bool) {
    self.speaksAtOnce = speaksAtOnce
  }

  var all: [String: Int] { counts.withLock { $0 } }

  func add(_ other: [String: Int]) {
    counts.withLock { $0.merge(other) { $0 + $1 } }
  }

  /// Counts a violation.
  func violation(_ name: String, _ details: String) {
    add([name: 1])
    let seen = counts.withLock { $0[name, default: 0] }
    guard speaksAtOnce || seen <= 5 else { return }
    let line = Array("\(name): \(details)\n".utf8)
    unsafe write(STDERR_FILENO, line, line.count)
  }

  /// The counts that must be zero for a run to pass.
  static let violations = [
    "wrong_values", "torn_values", "stale_values", "lost_updates", "errors", "foreign_expiries",
    "temporaries", "totals_wrong", "over_limit", "burst_over_limit", "names_wrong",
  ]
}
