import Foundation
import Synchronization

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// Threads that call one subject after another, all of them at once, and write down what they saw.
struct HistoryRecorder<Subject: Sendable, Call: Sendable, Outcome: Sendable>: Sendable {
  typealias Recorded = RecordedCall<Call, Outcome>

  /// The subject of the n-th history.
  let subject: @Sendable (_ history: Int) -> Subject
  /// What one thread does to it; empty where the history has fewer threads.
  let script: @Sendable (_ history: Int, _ thread: Int) -> [Call]
  /// Makes a call.
  let perform: @Sendable (Subject, Call) -> Outcome

  /// The most threads that one history has.
  static var threadCount: Int { 4 }

  /// Records histories.
  func record(_ count: Int) throws -> [[Recorded]] {
    let subjects = (0..<count).map(subject)
    let barrier = Barrier(Self.threadCount)
    let time = Moment()
    let all = Shared(Array(repeating: [Recorded](), count: count))
    for thread in 0..<Self.threadCount {
      try startThread {
        var random = SeededRandom(seed: UInt64(thread))
        var recorded: [(Int, [Recorded])] = []
        for history in 0..<count {
          let script = script(history, thread)
          barrier.meet(history)
          recorded.append((history, run(script, thread, subjects[history], time, &random)))
        }
        let mine = recorded
        all.change { all in for (history, calls) in mine { all[history] += calls } }
        barrier.meet(count)
      }
    }
    barrier.waitForRound(count)
    return all.value
  }

  private func run(
    _ script: [Call], _ thread: Int, _ subject: Subject, _ time: Moment,
    _ random: inout SeededRandom
  ) -> [Recorded] {
    script.map { call in
      let began = time.next()
      // Lets another thread in between now and again, also where there are fewer cores than
      // threads.
      if random.next() & 3 == 0 { sched_yield() }
      let outcome = perform(subject, call)
      return Recorded(
        thread: thread, call: call, outcome: outcome, began: began, ended: time.next())
    }
  }
}

/// Numbers of which each is larger than those given out before.
private final class Moment: Sendable {
  private let last = Atomic<Int>(0)

  func next() -> Int { last.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }
}
