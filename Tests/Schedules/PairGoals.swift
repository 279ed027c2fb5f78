#if LARDER_SCHEDULES
  @testable import LarderDisk

  /// Something that is to run side by side: two operations with a setting, or three operations.
  struct PairGoal: Equatable, Sendable {
    var moves: [Int]
    var setting: Setting?

    /// Its cell of the table.
    var cell: Int {
      setting.map { PairTable.cell(PairTable.pair(moves[0], moves[1]), $0) }
        ?? PairTable.three(moves[0], moves[1], moves[2])
    }

    /// All pairs with each setting that a scene can have.
    static let pairs: [PairGoal] = {
      var goals: [PairGoal] = []
      for second in Move.all.indices {
        for first in 0...second {
          for setting in Setting.allCases {
            let goal = PairGoal(moves: [first, second], setting: setting)
            if goal.isPossible { goals.append(goal) }
          }
        }
      }
      return goals
    }()

    /// All three operations, of which at least two are a cache's.
    static let threes: [PairGoal] = {
      var goals: [PairGoal] = []
      for third in Move.all.indices {
        for second in 0...third {
          for first in 0...second {
            let goal = PairGoal(moves: [first, second, third])
            if goal.isPossible { goals.append(goal) }
          }
        }
      }
      return goals
    }()

    /// Whether a scene can have it.
    ///
    /// Not in a scene: what ``Scene/isJudgeable`` excludes, what an outsider puts beside an
    /// exclusive cache, and a cache without memory for what only memory does.
    private var isPossible: Bool {
      let all = moves.map { Move.all[$0] }
      let own = all.filter(\.isOwn)
      if own.count < (setting == nil ? 2 : 1) || !areJudgeable(all.compactMap(\.verb)) {
        return false
      }
      switch setting {
      case .oneObject, .twoObjects, .twoExtensions: return own.count == 2
      case .twoProcesses:
        let verbs = own.compactMap(\.verb)
        let isClearing = verbs.contains(where: \.clearsAll)
        return own.count == 2 && !(isClearing && verbs.contains(where: \.stampsFile))
      case .disk: return !own.allSatisfy(\.needsMemory)
      case .exclusive: return !all.contains { $0.verb == .plant || $0.verb == .moveIn }
      default: return true
      }
    }

    private func areJudgeable(_ verbs: [Scene.Verb]) -> Bool {
      let excluded: Set<Scene.Verb> = [.plant, .moveIn, .extend, .stamp]
      return !verbs.contains(.replace) || excluded.isDisjoint(with: verbs)
    }
  }

  extension PairTable {
    /// What no schedule had: pairs of operations, pairs with a setting, and three operations.
    var report: String {
      let pairs = PairGoal.pairs.filter { self[$0.cell] == 0 }
      let met = Set(PairGoal.pairs.filter { self[$0.cell] > 0 }.map(\.moves))
      let threes = PairGoal.threes.count { self[$0.cell] == 0 }
      let doubles = (Self.firstDouble..<Self.cellCount).count { self[$0] > 0 }
      let bare = Set(pairs.map(\.moves)).subtracting(met).count
      return "never ran side by side: \(bare) of "
        + "\(Set(PairGoal.pairs.map(\.moves)).count) pairs of operations, \(pairs.count) of "
        + "\(PairGoal.pairs.count) pairs with a setting, \(threes) of \(PairGoal.threes.count) "
        + "of three operations; \(doubles) pairs ran with two settings"
    }

    /// The pairs with a setting that no schedule had, as text.
    var unmet: [String] {
      PairGoal.pairs.filter { self[$0.cell] == 0 }.map { goal in
        goal.moves.map { (Move.all[$0].isOwn ? "" : "out ") + Move.all[$0].text }
          .joined(separator: " | ") + " | " + (goal.setting.map { "\($0)" } ?? "")
      }
    }
  }
#endif
