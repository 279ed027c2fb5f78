/// Looks for an order in which the calls of a history explain each other: the search of Wing and
/// Gong, with the memory of dead ends of Lowe.
///
/// A history is linearizable if its calls can be put in a row such that the model admits every
/// outcome and no call stands before one that had ended when it began.
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
  /// States from which the rest was found to have no order.
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
      // What began after another one's end comes after it.
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
