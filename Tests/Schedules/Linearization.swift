#if LARDER_SCHEDULES
  /// A search for an order of the calls on one name that explains all their results.
  struct Linearization {
    /// The effect or the observation of a call.
    enum Effect: Sendable, Equatable {
      case write(Int)
      case read(Int)
      case delete
      /// A removal of one value and of no other.
      case withdraw(Int)
      /// A removal that has found this value.
      case take(Int)
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
      /// The starts of the calls whose steps must not come before this one.
      var before: Set<Int> = []
    }

    /// The values that may be lost without a step.
    struct Losses: Sendable {
      var everything = false
      var values: Set<Int> = []

      func include(_ value: Int) -> Bool { everything || values.contains(value) }
    }

    private let losses: Losses
    private var steps: [Step]
    /// For each step, the steps that must not come before it.
    private var later: [UInt128] = []
    private var seen: Set<Visit> = []

    private struct Visit: Hashable {
      let done: UInt128
      let value: Int
    }

    init(_ steps: [Step], losses: Losses) {
      let sorted = Array(steps.sorted { $0.start < $1.start }.prefix(128))
      self.steps = sorted
      self.losses = losses
      later = sorted.map { step in
        if step.before.isEmpty { return 0 }
        return sorted.indices.reduce(0) { bits, index in
          step.before.contains(sorted[index].start) ? bits | 1 << UInt128(index) : bits
        }
      }
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
        if done & later[index] != 0 { continue }
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
      case .withdraw(let old), .take(let old): old == value ? 0 : nil
      case .remove(let wasThere):
        wasThere == (value != 0) || losses.include(value) ? 0 : nil
      case .writeAbsent(let new): value == 0 || losses.include(value) ? new : nil
      case .sawSome: value != 0 || losses.everything ? value : nil
      case .sawNone: value == 0 || losses.include(value) ? value : nil
      }
    }
  }
#endif
