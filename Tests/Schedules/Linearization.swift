#if LARDER_SCHEDULES
  /// A search for an order of the calls on one name that explains all their results.
  struct Linearization {
    /// The effect or the observation of a call.
    enum Effect: Sendable, Equatable {
      case write(Int)
      case read(Int)
      case delete
      /// A removal, and whether there was a value.
      case remove(Bool)
      /// A store that requires that there is no value.
      case writeAbsent(Int)
      /// The observation of a value.
      case sawSome
      /// The observation that there is no value.
      case sawNone
    }

    struct Step: Sendable {
      let start: Int
      let end: Int
      let effect: Effect
      /// Whether the step may be left out.
      var isOptional = false
      let text: String
    }

    /// Whether a value may be lost without a step.
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

    /// Returns whether there is such an order.
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
