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
    /// The steps as they are tried: those that may be left out last, because most are.
    private let turns: [Int]
    /// For each step, the steps that must not come before it.
    private var later: [UInt128] = []
    /// The visits from which no order leads to the end.
    private var vain: Set<Visit> = []
    /// The steps on the way to a visit and, of an explanation, the longest way.
    private var way: [Int] = []
    private var longest: (way: [Int], value: Int)?

    private struct Visit: Hashable {
      let done: UInt128
      let value: Int
    }

    init(_ steps: [Step], losses: Losses) {
      let sorted = Array(steps.sorted { $0.start < $1.start }.prefix(128))
      self.steps = sorted
      turns =
        sorted.indices.filter { !sorted[$0].isOptional }.sorted { sorted[$0].end < sorted[$1].end }
        + sorted.indices.filter { sorted[$0].isOptional }
      self.losses = losses
      later = sorted.map { step in
        if step.before.isEmpty { return 0 }
        return sorted.indices.reduce(0) { bits, index in
          step.before.contains(sorted[index].start) ? bits | 1 << UInt128(index) : bits
        }
      }
    }

    /// The number of vain visits after which the search gives up. Many optional steps, as rounds
    /// have, make far more combinations than orders.
    private static let vainLimit = 50_000

    /// Returns whether there is such an order, or the search was given up.
    mutating func exists() -> Bool { search(done: 0, value: 0) }

    /// Returns the longest order of the calls that makes sense, and for each call that could come
    /// next what it would have to meet and meets.
    mutating func explanation() -> [String] {
      vain = []
      longest = ([], 0)
      _ = search(done: 0, value: 0)
      guard let (way, value) = longest else { return [] }
      let rest = steps.indices.filter { !way.contains($0) && !steps[$0].isOptional }
      let end = rest.map { steps[$0].end }.min() ?? .max
      let order = way.map { steps[$0].text }.joined(separator: "; ")
      let state = Self.state(value)
      let next = rest.filter { steps[$0].start <= end }.map { index -> String in
        let step = steps[index]
        let isTooLate = way.contains { later[index] & 1 << UInt128($0) != 0 }
        let wish = isTooLate ? "to come before a change" : step.effect.requirement
        return "    expected by \(step.text): \(wish); found: \(state)"
      }
      return ["  the longest order ends with \(state): \(order)"] + next
    }

    private static func state(_ value: Int) -> String { value == 0 ? "no value" : "value \(value)" }

    private mutating func search(done: UInt128, value: Int) -> Bool {
      let visit = Visit(done: done, value: value)
      if vain.contains(visit) { return false }
      if vain.count > Self.vainLimit { return true }
      if let best = longest, way.count > best.way.count { longest = (way, value) }
      // Those that may not be left out come first, in the order of their ends.
      let next = turns.first { done & (1 << UInt128($0)) == 0 }
      guard let next, !steps[next].isOptional else { return true }
      let earliestEnd = steps[next].end
      for index in turns where done & (1 << UInt128(index)) == 0 {
        if steps[index].start > earliestEnd || done & later[index] != 0 { continue }
        guard let found = outcome(of: steps[index].effect, at: value) else { continue }
        way.append(index)
        defer { way.removeLast() }
        if search(done: done | 1 << UInt128(index), value: found) { return true }
      }
      vain.insert(visit)
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

  extension Linearization.Effect {
    /// What a step must meet.
    fileprivate var requirement: String {
      switch self {
      case .read(let value), .take(let value), .withdraw(let value): "value \(value)"
      case .remove(true), .sawSome: "a value"
      case .remove(false), .sawNone, .writeAbsent: "no value"
      case .write, .delete: "anything"
      }
    }
  }
#endif
