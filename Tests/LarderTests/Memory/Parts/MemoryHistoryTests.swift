import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// Short histories of threads on a memory cache. A single thread must be able to produce each, in
/// an order that agrees with real time.
@Suite(.watched)
struct MemoryHistoryTests {}

extension MemoryHistoryTests {
  private typealias Recorder = HistoryRecorder<MemorySubject, MemoryCall, MemoryOutcome>

  private static func recorder(_ histories: MemoryHistories) -> Recorder {
    Recorder(
      subject: { _ in MemorySubject(histories) }, script: { histories.script($0, $1) },
      perform: { $0.perform($1) })
  }

  @Test(arguments: MemoryHistories.table)
  func `whatever threads see has an order`(_ histories: MemoryHistories) throws {
    let recorded = try Self.recorder(histories).record(rounds(histories.count))
      .map(MemoryHistoryModel.steps)
    HistoryJudge.expectLinear(recorded, seed: histories.seed, by: MemoryHistoryModel(histories))
  }

  @Test func `a lifetime counts from the clock that a store has read before its lock`() {
    let calls: [(call: MemoryCall, outcome: MemoryOutcome, began: Int, ended: Int)] = [
      (.store(2, 24, seconds: 2), .done, 1, 7), (.advance(1), .done, 2, 3),
      (.keys, .keys([]), 4, 5), (.advance(1), .done, 6, 9), (.contains(2), .flag(false), 8, 11),
      (.keys, .keys([]), 12, 13),
    ]
    let history = calls.map {
      RecordedCall(
        thread: 0, call: $0.call, outcome: $0.outcome, began: $0.began, ended: $0.ended)
    }
    let model = MemoryHistoryModel(MemoryHistories.table[1])
    #expect(!OrderSearch.admits(history, by: model))
    #expect(OrderSearch.admits(MemoryHistoryModel.steps(history), by: model))
  }

  @Test func `a cache that stores in two steps is found out`() throws {
    let histories = MemoryHistories.table[2]
    var recorder = Self.recorder(histories)
    recorder = Recorder(subject: recorder.subject, script: recorder.script) { subject, call in
      if case .store(let key, _, _) = call {
        subject.cache.remove(forKey: key)
        sched_yield()
      }
      return subject.perform(call)
    }
    let recorded = try recorder.record(1_000)
    #expect(!HistoryJudge.rejected(recorded) { _ in MemoryHistoryModel(histories) }.isEmpty)
  }

  @Test func `a model that forgets uses is found out`() throws {
    let histories = MemoryHistories.table[0]
    let recorded = try Self.recorder(histories).record(1_000)
    var model = MemoryHistoryModel(histories)
    model.forgetsReads = true
    #expect(!HistoryJudge.rejected(recorded) { _ in model }.isEmpty)
  }
}
