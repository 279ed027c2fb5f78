import Glibc
import Synchronization

/// A thread that lists a directory repeatedly and keeps the largest total.
final class StressWatch: Sendable {
  private struct State {
    var peak = 0
    var walkedPeak = 0
    var walkCount = 0
    var mustEnd = false
    var hasEnded = false
  }

  private let state = Mutex(State())

  init(_ directory: String) {
    BenchmarkThreads.startDetached { [self] in
      while true {
        let walk = StressWalk(directory)
        let standing = walk.standingByteCount()
        let isOver = state.withLock { state in
          state.peak = max(state.peak, standing)
          state.walkedPeak = max(state.walkedPeak, walk.byteCount)
          state.walkCount += 1
          state.hasEnded = state.mustEnd
          return state.mustEnd
        }
        if isOver { return }
        usleep(20_000)
      }
    }
  }

  /// Ends the thread.
  ///
  /// - Returns: The largest total of files that certainly existed at the same time, the largest
  ///   total of a listing, and the number of listings. The true maximum lies between the two
  ///   totals.
  func end() -> [String: Int] {
    state.withLock { $0.mustEnd = true }
    while !state.withLock({ $0.hasEnded }) { usleep(1_000) }
    return state.withLock {
      ["bytes_peak": $0.peak, "bytes_peak_walked": $0.walkedPeak, "walks": $0.walkCount]
    }
  }
}
