import Glibc
import Synchronization

/// A thread that measures a directory repeatedly and keeps the largest total.
final class StressWatch: Sendable {
  private struct State {
    var peak = 0
    var walkedPeak = 0
    var lookCount = 0
    var mustEnd = false
    var hasEnded = false
  }

  private let state = Mutex(State())

  /// Starts the thread.
  ///
  /// - Parameter ownsFileSystem: Whether the space taken on the file system is the size of all
  ///   files. One system call then tells what a listing of thousands of files cannot, because files
  ///   come and go while it goes on.
  init(_ directory: String, ownsFileSystem: Bool) {
    // What the file system itself takes, and the tag.
    let base =
      ownsFileSystem ? Self.takenByteCount(directory) - StressWalk(directory).byteCount : 0
    BenchmarkThreads.startDetached { [self] in
      // Permitted to root alone. Without it the thread may wait longer for a processor.
      _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, -20)
      while true {
        let found: (standing: Int, walked: Int)
        if ownsFileSystem {
          let taken = Self.takenByteCount(directory) - base
          found = (taken, taken)
        } else {
          let walk = StressWalk(directory)
          found = (walk.standingByteCount(), walk.byteCount)
        }
        let isOver = state.withLock { state in
          state.peak = max(state.peak, found.standing)
          state.walkedPeak = max(state.walkedPeak, found.walked)
          state.lookCount += 1
          state.hasEnded = state.mustEnd
          return state.mustEnd
        }
        if isOver { return }
        usleep(ownsFileSystem ? 200 : 20_000)
      }
    }
  }

  private static func takenByteCount(_ directory: String) -> Int {
    var status = statvfs()
    guard unsafe statvfs(directory, &status) == 0 else { return 0 }
    return Int(status.f_blocks - status.f_bfree) * Int(status.f_frsize)
  }

  /// Ends the thread.
  ///
  /// - Returns: The largest total of files that certainly existed at the same time, the largest
  ///   total of a listing, and the number of looks. The true maximum lies between the two totals.
  ///   On a file system of its own they are the same, and include files that are being written.
  func end() -> [String: Int] {
    state.withLock { $0.mustEnd = true }
    while !state.withLock({ $0.hasEnded }) { usleep(1_000) }
    return state.withLock {
      ["bytes_peak": $0.peak, "bytes_peak_walked": $0.walkedPeak, "looks": $0.lookCount]
    }
  }
}
