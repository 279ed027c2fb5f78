import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// Tests of the judge: histories of a register, written by hand.
struct OrderSearchTests {
  struct Register: SequentialModel {
    enum Call: Sendable { case write(Int), read }
    var value = 0

    mutating func admits(_ outcome: Int, of call: Call) -> Bool {
      switch call {
      case .write(let value):
        self.value = value
        return true
      case .read: return outcome == value
      }
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let isLinear: Bool
    let calls: [(call: Register.Call, outcome: Int, began: Int, ended: Int)]
  }

  static let rows = [
    Row(testDescription: "nothing", isLinear: true, calls: []),
    Row(
      testDescription: "one after the other", isLinear: true,
      calls: [(.write(1), 0, 1, 2), (.read, 1, 3, 4)]),
    Row(
      testDescription: "a read after a write misses it", isLinear: false,
      calls: [(.write(1), 0, 1, 2), (.read, 0, 3, 4)]),
    Row(
      testDescription: "a read during a write may miss it", isLinear: true,
      calls: [(.write(1), 0, 1, 4), (.read, 0, 2, 3)]),
    Row(
      testDescription: "a read during a write may see it", isLinear: true,
      calls: [(.write(1), 0, 1, 4), (.read, 1, 2, 3)]),
    Row(
      testDescription: "seen, and then unseen", isLinear: false,
      calls: [(.write(1), 0, 1, 6), (.read, 1, 2, 3), (.read, 0, 4, 5)]),
    Row(
      testDescription: "unseen, and then seen", isLinear: true,
      calls: [(.write(1), 0, 1, 6), (.read, 0, 2, 3), (.read, 1, 4, 5)]),
    Row(
      testDescription: "a value that nobody wrote", isLinear: false,
      calls: [(.write(1), 0, 1, 4), (.read, 2, 2, 3)]),
    Row(
      testDescription: "two writes at once, read in either order", isLinear: true,
      calls: [(.write(1), 0, 1, 5), (.write(2), 0, 2, 6), (.read, 2, 7, 9), (.read, 2, 8, 10)]),
    Row(
      testDescription: "two writes at once, read in both orders", isLinear: false,
      calls: [(.write(1), 0, 1, 5), (.write(2), 0, 2, 6), (.read, 2, 7, 8), (.read, 1, 9, 10)]),
  ]

  @Test(arguments: rows)
  func `a history is linear if an order of its calls explains it`(_ row: Row) {
    let calls = row.calls.enumerated().map { index, call in
      RecordedCall(
        thread: index, call: call.call, outcome: call.outcome, began: call.began,
        ended: call.ended)
    }
    #expect(OrderSearch.admits(calls, by: Register()) == row.isLinear)
    // The order in which calls were recorded must not matter.
    #expect(OrderSearch.admits(calls.reversed(), by: Register()) == row.isLinear)
  }

  @Test func `many calls at once that nothing explains are told soon`() {
    // 10 concurrent writes and a read of another value: 10! orders without the memory of dead ends.
    var calls = (1...10).map {
      RecordedCall(
        thread: $0, call: Register.Call.write($0), outcome: 0, began: $0, ended: 100 + $0)
    }
    calls.append(RecordedCall(thread: 0, call: .read, outcome: 99, began: 50, ended: 51))
    #expect(!OrderSearch.admits(calls, by: Register()))
  }
}
