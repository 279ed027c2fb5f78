import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// Short histories of threads on a cache with both tiers, like those of `MemoryHistoryTests`.
@Suite(.watched)
struct CacheHistoryTests {}

extension CacheHistoryTests {
  typealias Call = CacheHistories.Call
  typealias Outcome = CacheHistories.Outcome
  typealias Subject = CacheHistories.Subject

  /// Records histories, each of a cache of its own. `before` runs before each call.
  private static func record(
    _ histories: CacheHistories, _ count: Int,
    before: @escaping @Sendable (Subject, Call) -> Void = { _, _ in }
  ) throws -> [[RecordedCall<Call, Outcome>]] {
    // In parts, because each open cache holds a descriptor.
    try stride(from: 0, to: count, by: 50).flatMap { first in
      let directory = try TemporaryDirectory()
      let subjects = try (0..<50).map { try Subject(directory: "\(directory.path)/\($0)") }
      let recorder = HistoryRecorder<Subject, Call, Outcome>(
        subject: { subjects[$0] }, script: { histories.script(first + $0, $1) },
        perform: { subject, call in
          before(subject, call)
          return subject.perform(call)
        })
      let recorded = try recorder.record(50)
      for subject in subjects { try subject.cache.close() }
      return recorded
    }
  }

  @Test(arguments: CacheHistories.table)
  func `whatever threads see of both tiers has an order`(_ histories: CacheHistories) throws {
    let recorded = try Self.record(histories, rounds(100))
    HistoryJudge.expectLinear(recorded, seed: histories.seed, by: CacheHistoryModel())
  }

  @Test func `a store in two steps is found out`() throws {
    // A busy machine may run the threads one after the other, and then there is nothing to see.
    let isFound = try (0..<20).contains { _ in
      let recorded = try Self.record(CacheHistories.table[0], 200) { subject, call in
        // A store must not do this: the older value is gone before the new one is there.
        if case .store(let key, _, _) = call { _ = subject.perform(.remove(key)) }
      }
      return !HistoryJudge.rejected(recorded) { _ in CacheHistoryModel() }.isEmpty
    }
    #expect(isFound)
  }
}
