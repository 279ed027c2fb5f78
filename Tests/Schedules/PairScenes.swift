#if LARDER_SCHEDULES
  @testable import LarderDisk
  @testable import LarderSystem

  /// A generator of small scenes, each around something that has not run side by side yet.
  ///
  /// 1. It takes the next pair of operations with a setting that no schedule had, and when there is
  ///    none, the next three operations; when there are none of these, all begins anew.
  /// 2. It draws some scenes around it: two or three threads with one to three operations at one or
  ///    two names, with further caches, settings and a prepared state.
  /// 3. It takes the one that brings the most new things for its length.
  struct PairScenes {
    private var generator: SeededGenerator
    private let table: PairTable
    private var pairs: Cursor
    private var threes: Cursor
    /// How often each cell was counted when the present lap is over.
    private var lap: UInt8 = 1
    /// How often each goal was tried in this lap, by its cell.
    private var attempts: [Int: Int] = [:]

    private static let candidateCount = 48
    /// The number of scenes after which a goal is left to the next lap.
    private static let attemptLimit = 12

    /// A walk through goals in an order that a seed gives.
    private struct Cursor {
      let goals: [PairGoal]
      var position = 0

      mutating func next(_ isWanted: (PairGoal) -> Bool) -> PairGoal? {
        for _ in goals.indices {
          position = (position + 1) % goals.count
          if isWanted(goals[position]) { return goals[position] }
        }
        return nil
      }
    }

    init(seed: UInt64, _ table: PairTable) {
      generator = SeededGenerator(seed &+ 101)
      self.table = table
      pairs = Cursor(goals: PairGoal.pairs.shuffled(using: &generator))
      threes = Cursor(goals: PairGoal.threes.shuffled(using: &generator))
    }

    /// Whether some pair with a setting has not run yet.
    private(set) var hasUnmetPair = true

    mutating func make() -> Scene {
      while true {
        let goal = nextGoal()
        attempts[goal.cell, default: 0] += 1
        if let scene = scene(for: goal) { return scene }
      }
    }

    private mutating func nextGoal() -> PairGoal {
      func isWanted(_ goal: PairGoal) -> Bool {
        table[goal.cell] < lap && attempts[goal.cell, default: 0] < Self.attemptLimit
      }
      while true {
        if let goal = pairs.next(isWanted) { return goal }
        hasUnmetPair = false
        if let goal = threes.next(isWanted) { return goal }
        lap = lap == .max ? .max : lap + 1
        attempts = [:]
      }
    }

    /// Returns a scene that can meet a goal; nil if none was drawn.
    private mutating func scene(for goal: PairGoal) -> Scene? {
      var best: (scene: Scene, gain: Int)?
      for _ in 0..<Self.candidateCount {
        let scene = draft(around: goal)
        guard scene.isJudgeable else { continue }
        let (gain, isMet) = gain(of: scene, goal)
        if isMet, gain > best?.gain ?? -1 { best = (scene, gain) }
      }
      return best?.scene
    }

    /// Returns what a scene may bring for its length, and whether it may meet a goal.
    private func gain(of scene: Scene, _ goal: PairGoal) -> (gain: Int, isMet: Bool) {
      var (gain, isMet) = (0, false)
      SceneFacts(scene).forEachCell { cell in
        if cell == goal.cell { isMet = true }
        if table[cell] >= lap { return }
        gain += cell < PairTable.firstThree ? 64 : cell < PairTable.firstDouble ? 8 : 1
      }
      let length = scene.threads.reduce(4) { $0 + $1.operations.count }
      return (gain * 16 / length, isMet)
    }
  }

  extension PairScenes {
    private mutating func draft(around goal: PairGoal) -> Scene {
      let moves = goal.moves.map { Move.all[$0] }
      var scene = Scene()
      let seats = addCaches(for: moves, goal.setting, &scene)
      setOptions(goal.setting, &scene)
      addState(goal.setting, &scene)
      for (move, cache) in zip(moves, seats) { addThread(cache, around: move, &scene) }
      addOthers(goal.setting, &scene)
      return scene
    }

    /// Whether a setting is wanted, or is drawn once in so many times.
    private mutating func has(_ setting: Setting, _ wanted: Setting?, orOnceIn count: Int) -> Bool {
      setting == wanted || generator.once(in: count)
    }

    /// Adds caches, and returns the one of each move.
    private mutating func addCaches(
      for moves: [Move], _ wanted: Setting?, _ scene: inout Scene
    ) -> [Int?] {
      var relation = generator.pick([
        Setting.oneObject, .oneObject, .oneObject, .twoProcesses, .twoProcesses, .twoObjects,
        .twoExtensions,
      ])
      if let wanted, Setting.relations.contains(wanted) { relation = wanted }
      let isAlone = !moves.contains { $0.verb == .plant || $0.verb == .moveIn }
      let isExclusive = isAlone && has(.exclusive, wanted, orOnceIn: 10)
      if isExclusive, relation == .twoProcesses { relation = .twoObjects }
      let seats = seats(of: moves, relation)
      let count = (seats.compactMap(\.self).max() ?? 0) + 1
      let first = Setting.coherences.first { $0.0 == wanted } ?? generator.pick(Setting.coherences)
      for cache in 0..<count {
        let own = zip(moves, seats).filter { $0.1 == cache }.map(\.0)
        var spec = Scene.CacheSpec()
        spec.isDisk = !own.contains(where: \.needsMemory) && isDisk(wanted)
        spec.coherence = first.1
        if isExclusive { spec.mode = .exclusive }
        if cache > 0, relation == .twoProcesses {
          spec.process = 1
          spec.coherence = generator.pick(Setting.coherences).1
        } else if cache > 0, relation == .twoExtensions {
          spec.options[.ext] = 1
        }
        scene.caches.append(spec)
      }
      return seats
    }

    private mutating func isDisk(_ wanted: Setting?) -> Bool {
      switch wanted {
      case .disk: true
      case .memory, .memory1: false
      default: generator.once(in: 2)
      }
    }

    /// Returns the cache of each move; nil for an outsider's.
    private mutating func seats(of moves: [Move], _ relation: Setting) -> [Int?] {
      var taken = 0
      return moves.map { move in
        guard move.isOwn else { return nil }
        taken += 1
        if taken == 1 || relation == .oneObject { return 0 }
        return taken == 2 ? 1 : generator.below(2)
      }
    }

    private mutating func setOptions(_ wanted: Setting?, _ scene: inout Scene) {
      var chosen = Setting.options.filter { $0.setting == wanted }
      for _ in 0..<generator.pick(hasUnmetPair ? [1, 2, 3] : [0, 1, 1, 2]) {
        chosen.append(generator.pick(Setting.options))
      }
      var options: [Scene.Option: Int] = [:]
      for choice in chosen where options[choice.option] == nil {
        options[choice.option] = choice.value
      }
      for cache in scene.caches.indices {
        if scene.caches[cache].process == 0 {
          scene.caches[cache].options.merge(options) { own, _ in own }
        } else if generator.once(in: 4) {
          let choice = generator.pick(Setting.options)
          scene.caches[cache].options[choice.option] = choice.value
        }
      }
    }

    /// Adds the clock of the files, what an earlier process has left, calls that fail, and the
    /// operations that bring the first cache into a state.
    private mutating func addState(_ wanted: Setting?, _ scene: inout Scene) {
      scene.isCoarse = has(.coarse, wanted, orOnceIn: 4)
      if has(.early, wanted, orOnceIn: 16) { scene.early = 64 }
      if has(.initial, wanted, orOnceIn: 2) { scene.initial = ["a"] }
      let failure = Setting.failures.first { $0.setting == wanted }
      if failure != nil || generator.once(in: 16) { addFailure(failure?.calls, &scene) }
      let state = Setting.states.first { $0.setting == wanted }
      if state != nil || generator.once(in: 2) { addStart(state?.text, &scene) }
    }

    /// Adds a call that fails: one of the given ones, or any.
    private mutating func addFailure(_ calls: [(SystemCall, [Int32])]?, _ scene: inout Scene) {
      let (call, errnos) = generator.pick(calls ?? generator.pick(Setting.failures).calls)
      scene.failures = [
        Scene.FailureSpec(
          process: 0, call: call, n: 1 + generator.below(4),
          count: generator.pick([1, 2, 1_000]), errno: generator.pick(errnos))
      ]
    }

    /// Adds the operations that bring the first cache into a state: a given one, or any.
    private mutating func addStart(_ state: String?, _ scene: inout Scene) {
      let text = state ?? generator.pick(Setting.states).text
      scene.threads.append(
        Scene.ThreadSpec(
          cache: 0, operations: text.split(separator: " ").compactMap { Scene.Operation($0) },
          isFirst: true))
    }

    /// Adds a thread that has a move, and up to two others before and after it.
    private mutating func addThread(_ cache: Int?, around move: Move, _ scene: inout Scene) {
      // More until every pair has run, because they make more pairs.
      let count = generator.pick(hasUnmetPair ? [0, 1, 1, 2, 2] : [0, 0, 0, 1, 1, 2])
      let before = generator.below(count + 1)
      var moves: [(Move, Character)] = []
      for _ in 0..<before { moves.append((anyMove(of: cache, scene), anyName())) }
      // What is moved in was moved out before.
      if move.verb == .moveIn { moves.append((Move.moveOut, "a")) }
      moves.append((move, "a"))
      for _ in before..<count { moves.append((anyMove(of: cache, scene), anyName())) }
      let operations = moves.compactMap { spelled($0.0, $0.1, scene) }
      scene.threads.append(Scene.ThreadSpec(cache: cache, operations: operations))
    }

    private mutating func anyName() -> Character { generator.once(in: 6) ? "b" : "a" }

    private mutating func anyMove(of cache: Int?, _ scene: Scene) -> Move {
      // A cache without memory may have none of them.
      while true {
        let move = generator.pick(generator.pick(Move.verbs[cache == nil ? 1 : 0]))
        if move.needsMemory, let cache, scene.caches[cache].isDisk { continue }
        let isExclusive = scene.caches.contains { $0.mode == .exclusive }
        if isExclusive, move.verb == .plant || move.verb == .moveIn { continue }
        return move
      }
    }

    private mutating func spelled(
      _ move: Move, _ name: Character, _ scene: Scene
    ) -> Scene.Operation? {
      if move.namesProcess {
        return Scene.Operation("\(move.text.prefix(1))\(generator.pick(scene.caches).process)")
      }
      return Scene.Operation(Substring(move.text.replacing("?", with: "\(name)")))
    }

    /// Adds a third thread: one of a neighbour, one from outside, or one of a cache that is there.
    private mutating func addOthers(_ wanted: Setting?, _ scene: inout Scene) {
      var wanted = wanted
      let isExclusive = scene.caches.contains { $0.mode == .exclusive }
      if !isExclusive, scene.threads.count < 3, generator.once(in: 10) {
        wanted = wanted ?? generator.pick([.neighbour, .neighbourWithMemory])
      }
      let neighbours: [Setting?] = [.neighbour, .neighbourWithMemory, .neighbourWithLimit, .reader]
      if neighbours.contains(wanted) {
        for cache in scene.caches.indices { scene.caches[cache].mode = .shared }
        var spec = Scene.CacheSpec()
        spec.process = (scene.caches.map(\.process).max() ?? 0) + 1
        spec.isDisk = wanted != .neighbourWithMemory
        spec.coherence = generator.pick(Setting.coherences).1
        if wanted == .neighbourWithLimit { spec.options[.size] = 250 }
        if wanted == .reader { spec.mode = .readOnly }
        scene.caches.append(spec)
        return addThread(scene.caches.count - 1, &scene)
      }
      if wanted == .outsider { return addThread(nil, &scene) }
      let isThird = wanted == .threeThreads || generator.once(in: hasUnmetPair ? 2 : 3)
      guard isThird, scene.threads.count(where: { !$0.isFirst }) < 3 else { return }
      addThread(generator.once(in: 3) ? nil : generator.below(scene.caches.count), &scene)
    }

    private mutating func addThread(_ cache: Int?, _ scene: inout Scene) {
      addThread(cache, around: anyMove(of: cache, scene), &scene)
    }
  }

  extension Scene {
    /// Whether its threads can run several times in the same caches: nothing is moved away, killed
    /// or stopped.
    var mayRepeat: Bool {
      let verbs = Set(threads.flatMap(\.operations).map(\.verb))
      return verbs.isDisjoint(with: [
        .replace, .moveOut, .moveIn, .kill, .stop, .stepBack, .reopen, .overwrite, .own, .link,
      ])
    }

    /// Whether it can begin anew: no process is killed, and no clock set back.
    var mayBeginAnew: Bool {
      !threads.contains { $0.operations.contains { [.kill, .stepBack].contains($0.verb) } }
    }
  }
#endif
