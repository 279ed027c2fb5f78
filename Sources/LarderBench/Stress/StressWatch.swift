import Glibc
import Synchronization

/// A thread that walks through a directory again and again and keeps the largest total it saw.
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

  /// Ends the walks.
  ///
  /// - Returns: The largest total that there was for certain, the largest that a walk came to, and
  ///   the number of walks. The truth lies between the two.
  func end() -> [String: Int] {
    state.withLock { $0.mustEnd = true }
    while !state.withLock({ $0.hasEnded }) { usleep(1_000) }
    return state.withLock {
      ["bytes_peak": $0.peak, "bytes_peak_walked": $0.walkedPeak, "walks": $0.walkCount]
    }
  }
}
