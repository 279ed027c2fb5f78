#if LARDER_SCHEDULES
  /// Searches for an order of the calls on one name in which each of them makes sense.
  struct Linearization {
    /// What a call does or sees.
    enum Effect: Sendable, Equatable {
      case write(Int)
      case read(Int)
      case delete
      /// Removes, and says whether there was something.
      case remove(Bool)
      /// Stores where there is nothing.
      case writeAbsent(Int)
      /// Finds that there is something.
      case sawSome
      /// Finds that there is nothing.
      case sawNone
    }

    struct Step: Sendable {
      let start: Int
      let end: Int
      let effect: Effect
      /// Whether it may never have taken place.
      var isOptional = false
      let text: String
    }

    /// Whether a value may go for a reason of its own.
    let mayLose: Bool
    private var steps: [Step]
    private var seen: Set<Visit> = []

    private struct Visit: Hashable {
      let done: UInt128
      let value: Int
    }

    init(_ steps: [Step], mayLose: Bool) {
      self.steps = Array(steps.sorted { $0.start < $1.start }.prefix(128))
      self.mayLose = mayLose
    }

    /// Whether there is such an order.
    mutating func exists() -> Bool { search(done: 0, value: 0) }

    private mutating func search(done: UInt128, value: Int) -> Bool {
      guard seen.insert(Visit(done: done, value: value)).inserted else { return false }
      var earliestEnd = Int.max
      var isComplete = true
      for (index, step) in steps.enumerated() where done & (1 << UInt128(index)) == 0 {
        if step.isOptional { continue }
        isComplete = false
        earliestEnd = min(earliestEnd, step.end)
      }
      if isComplete { return true }
      for (index, step) in steps.enumerated() where done & (1 << UInt128(index)) == 0 {
        if step.start > earliestEnd { break }
        guard let next = outcome(of: step.effect, at: value) else { continue }
        if search(done: done | 1 << UInt128(index), value: next) { return true }
      }
      return false
    }

    private func outcome(of effect: Effect, at value: Int) -> Int? {
      switch effect {
      case .write(let new): new
      case .read(let seen): seen == value ? value : nil
      case .delete: 0
      case .remove(let wasThere): wasThere == (value != 0) || mayLose ? 0 : nil
      case .writeAbsent(let new): value == 0 || mayLose ? new : nil
      case .sawSome: value != 0 || mayLose ? value : nil
      case .sawNone: value == 0 || mayLose ? value : nil
      }
    }
  }
#endif
