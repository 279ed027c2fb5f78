import Synchronization

/// The calls of a removal listener, in order.
final class RemovalLog: Sendable {
  private let lines = Mutex<(new: [String], total: Int)>(([], 0))

  func append(_ line: String) {
    lines.withLock {
      $0.new.append(line)
      $0.total += 1
    }
  }

  /// Returns the lines since the last call.
  func take() -> [String] {
    lines.withLock { lines in
      defer { lines.new = [] }
      return lines.new
    }
  }

  var total: Int { lines.withLock { $0.total } }
}
