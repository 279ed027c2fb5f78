import Foundation
import Synchronization

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// A place where threads wait for each other, again and again.
final class Barrier: Sendable {
  private let count: Int
  private let arrived = Atomic<Int>(0)
  private let awake = Atomic<Int>(0)
  private let changed = EventCount()

  init(_ count: Int) {
    self.count = count
  }

  /// Waits until all threads have come to a round; the first is 0.
  func meet(_ round: Int) {
    let goal = count * (round + 1)
    if arrived.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue == goal {
      changed.signal()
    } else {
      waitForRound(round)
    }
    // Who slept wakes later than the last one goes on: it waits a little, so that they begin at
    // once, and no longer than that, since there may be fewer cores than threads.
    awake.wrappingAdd(1, ordering: .sequentiallyConsistent)
    for _ in 0..<50 {
      if awake.load(ordering: .sequentiallyConsistent) >= goal { return }
      sched_yield()
    }
  }

  /// Waits until all threads have come to a round, as somebody who is none of them.
  func waitForRound(_ round: Int) {
    while true {
      let ticket = changed.ticket()
      if arrived.load(ordering: .sequentiallyConsistent) >= count * (round + 1) { return }
      changed.wait(ticket)
    }
  }
}
