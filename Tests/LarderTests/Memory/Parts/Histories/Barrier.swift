import Foundation
import Synchronization

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// A barrier for threads, which can be used repeatedly.
final class Barrier: Sendable {
  private let count: Int
  private let arrived = Atomic<Int>(0)
  private let awake = Atomic<Int>(0)
  private let changed = EventCount()

  init(_ count: Int) {
    self.count = count
  }

  /// Waits until all threads have reached a round; the first is 0.
  func meet(_ round: Int) {
    let goal = count * (round + 1)
    if arrived.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue == goal {
      changed.signal()
    } else {
      waitForRound(round)
    }
    // A thread that slept wakes after the last one continues. So each waits a little, to begin
    // together, but not longer, because there may be fewer cores than threads.
    awake.wrappingAdd(1, ordering: .sequentiallyConsistent)
    for _ in 0..<50 {
      if awake.load(ordering: .sequentiallyConsistent) >= goal { return }
      sched_yield()
    }
  }

  /// Waits, in a thread outside of the group, until all threads have reached a round.
  func waitForRound(_ round: Int) {
    while true {
      let ticket = changed.ticket()
      if arrived.load(ordering: .sequentiallyConsistent) >= count * (round + 1) { return }
      changed.wait(ticket)
    }
  }
}
