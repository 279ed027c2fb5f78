import Foundation
import Synchronization

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// A recorder of concurrent calls: threads use one subject after another, all at once, and record
/// the outcomes.
struct HistoryRecorder<Subject: Sendable, Call: Sendable, Outcome: Sendable>: Sendable {
  typealias Recorded = RecordedCall<Call, Outcome>

  /// Returns the subject of the n-th history.
  let subject: @Sendable (_ history: Int) -> Subject
  /// Returns the calls of one thread; none if the history has fewer threads.
  let script: @Sendable (_ history: Int, _ thread: Int) -> [Call]
  /// Makes a call.
  let perform: @Sendable (Subject, Call) -> Outcome

  /// The largest number of threads of a history.
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
      // Yields sometimes, so that another thread runs, even if there are fewer cores than threads.
      if random.next() & 3 == 0 { sched_yield() }
      let outcome = perform(subject, call)
      return Recorded(
        thread: thread, call: call, outcome: outcome, began: began, ended: time.next())
    }
  }
}

/// A source of ascending numbers.
private final class Moment: Sendable {
  private let last = Atomic<Int>(0)

  func next() -> Int { last.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }
}
