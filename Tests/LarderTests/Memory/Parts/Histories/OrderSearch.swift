/// A search for an order that explains the calls of a history: the algorithm of Wing and Gong, with
/// Lowe's memory of dead ends.
///
/// A history is linearizable if its calls have an order in which the model admits every outcome,
/// and no call stands before one that had ended when it began.
///
/// - Complexity: Exponential in the number of calls that overlap; made for short histories.
struct OrderSearch<Model: SequentialModel> {
  typealias Call = RecordedCall<Model.Call, Model.Outcome>

  private struct State: Hashable {
    let done: UInt64
    let model: Model
  }

  private let calls: [Call]
  private let all: UInt64
  /// The states from which no order of the remaining calls was found.
  private var dead: Set<State> = []

  /// Whether there is an order of the calls that the model admits.
  static func admits(_ calls: [Call], by model: Model) -> Bool {
    var search = OrderSearch(calls)
    return search.canFinish(0, model)
  }

  private init(_ calls: [Call]) {
    precondition(calls.count < 64, "a history is a short one")
    self.calls = calls
    all = (1 << UInt64(calls.count)) - 1
  }

  private mutating func canFinish(_ done: UInt64, _ model: Model) -> Bool {
    if done == all { return true }
    var firstEnd = Int.max
    for index in calls.indices where done & 1 << UInt64(index) == 0 {
      firstEnd = min(firstEnd, calls[index].ended)
    }
    for index in calls.indices where done & 1 << UInt64(index) == 0 {
      // A call that began after the end of another one comes after it.
      guard calls[index].began < firstEnd else { continue }
      var next = model
      guard next.admits(calls[index].outcome, of: calls[index].call) else { continue }
      let state = State(done: done | 1 << UInt64(index), model: next)
      if dead.contains(state) { continue }
      if canFinish(state.done, next) { return true }
      dead.insert(state)
    }
    return false
  }
}
