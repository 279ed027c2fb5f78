#if LARDER_SCHEDULES
  @testable import Larder
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  /// A generator of small scenes that meets every pair of operations of two threads under every
  /// setting before it meets a pair a second time.
  ///
  /// A scene has two or three threads with one to three operations at one or two names. Of some
  /// candidates the one is taken that has the most triples (operation, operation, setting) which
  /// no scene had yet.
  struct PairCoverage {
    private var generator: SeededGenerator
    /// How often each triple was part of a scene, by its number.
    private var counts = [UInt16](repeating: 0, count: moves.count * moves.count * Setting.count)
    private(set) var sceneCount = 0

    private static let candidateCount = 24

    init(seed: UInt64) { generator = SeededGenerator(seed &+ 101) }

    mutating func make() -> Scene {
      var best: (scene: Scene, triples: Set<Int>, gain: Int)?
      for _ in 0..<Self.candidateCount {
        let draft = draft()
        let triples = draft.triples()
        let gain = triples.count { counts[$0] == 0 }
        if gain > best?.gain ?? -1 { best = (draft.scene, triples, gain) }
      }
      guard let best else { preconditionFailure("no candidate was drawn") }
      for triple in best.triples where counts[triple] < .max { counts[triple] += 1 }
      sceneCount += 1
      return best.scene
    }

    /// The number of pairs of operations that no scene had, and of triples.
    var unmet: (pairs: Int, triples: Int) {
      var pairs = 0
      var triples = 0
      for first in Self.moves.indices {
        for second in first..<Self.moves.count {
          guard Self.moves[first].isOwn || Self.moves[second].isOwn else { continue }
          let base = (first * Self.moves.count + second) * Setting.count
          let unmet = (0..<Setting.count).count { counts[base + $0] == 0 }
          triples += unmet
          if unmet == Setting.count { pairs += 1 }
        }
      }
      return (pairs, triples)
    }
  }

  extension PairCoverage {
    /// An operation that a thread may have, as a scene spells it; `?` is the name or the process.
    struct Move: Sendable {
      let text: String
      /// Whether a cache carries it out, and not an outsider.
      let isOwn: Bool
      /// Whether only a cache with memory has it.
      let needsMemory: Bool
    }

    static let moves: [Move] =
      [
        "S?100", "S?600", "Q?100", "A?100", "W?100", "R?", "V?", "F?", "H?", "D?", "Y?", "X", "B0",
        "B1", "j", "d0", "d60", "v", "T0", "T1", "U100", "E", "G", "N", "Z", "L", "C", "n", "P1",
        "P60", "P1000", "e?", "x?", "f?", "a?100", "q?100",
      ].map { Move(text: $0, isOwn: true, needsMemory: false) }
      + [
        "O?100", "J?", "I?100", "K?100", "c?100", "M", "M1", "M2", "M3", "M4", "M5", "p", "g0",
        "g1", "g2", "g3",
      ].map {
        Move(text: $0, isOwn: true, needsMemory: true)
      }
      + [
        "r?", "t?", "u?", "h?", "l?", "w?240", "m", "o0", "k0", "s0", "b0", "P1000", "i?240", "y?",
        "y?1", "z?",
      ].map {
        Move(text: $0, isOwn: false, needsMemory: false)
      }

    /// What a scene may have beside its operations.
    enum Setting: Int, CaseIterable {
      case disk, memory, strict, events, none, exclusive, behind100, behind1000, size250, size1000
      case count1, count2, granularity0, granularity5, durable, target, admit, free, memory1, aside
      case secondObject, otherExtension, neighbour, neighbourWithMemory, neighbourWithLimit
      case coarse, early, initial, indexed, inMemory, expired, full, used, removed, threeThreads

      static var count: Int { allCases.count }
    }

    /// A scene with the numbers of its threads' operations and its settings.
    fileprivate struct Draft {
      var scene = Scene()
      var moves: [[Int]] = []
      var settings: Set<Setting> = []

      func triples() -> Set<Int> {
        var triples: Set<Int> = []
        for first in moves.indices {
          for second in moves.indices where second > first {
            for one in moves[first] {
              for other in moves[second] {
                let base = (min(one, other) * PairCoverage.moves.count + max(one, other))
                for setting in settings { triples.insert(base * Setting.count + setting.rawValue) }
              }
            }
          }
        }
        return triples
      }
    }
  }

  extension PairCoverage {
    fileprivate mutating func draft() -> Draft {
      var draft = Draft()
      addCaches(to: &draft)
      addState(to: &draft)
      let count = generator.once(in: 3) ? 3 : 2
      if count == 3 { draft.settings.insert(.threeThreads) }
      for number in 0..<count { addThread(number, to: &draft) }
      return draft
    }

    private mutating func addCaches(to draft: inout Draft) {
      var first = Scene.CacheSpec()
      first.isDisk = generator.once(in: 2)
      draft.settings.insert(first.isDisk ? .disk : .memory)
      first.coherence = generator.pick([.events, .strict, .none])
      draft.settings.insert(Self.setting(of: first.coherence))
      if generator.once(in: 8) {
        first.mode = .exclusive
        draft.settings.insert(.exclusive)
      }
      for _ in 0..<generator.pick([0, 1, 1, 2]) { addOption(to: &first, &draft) }
      draft.scene.caches = [first]
      guard first.mode == .shared, generator.once(in: 2) else { return }
      draft.scene.caches.append(second(beside: first, &draft))
    }

    private static func setting(of coherence: DiskCache.Coherence) -> Setting {
      switch coherence {
      case .strict: .strict
      case .events: .events
      default: .none
      }
    }

    private mutating func addOption(to cache: inout Scene.CacheSpec, _ draft: inout Draft) {
      let options: [(Setting, Scene.Option, Int)] = [
        (.behind100, .behind, 100), (.behind1000, .behind, 1_000), (.size250, .size, 250),
        (.size1000, .size, 1_000), (.count1, .count, 1), (.count2, .count, 2),
        (.granularity0, .granularity, 0), (.granularity5, .granularity, 5), (.durable, .durable, 1),
        (.target, .target, 100), (.admit, .admit, 150), (.free, .free, 1 << 60),
        (.memory1, .memory, 1), (.aside, .aside, 1),
      ]
      let (setting, option, value) = generator.pick(options)
      if cache.options[option] != nil { return }
      cache.options[option] = value
      draft.settings.insert(setting)
    }

    private mutating func second(
      beside first: Scene.CacheSpec, _ draft: inout Draft
    ) -> Scene.CacheSpec {
      var second = first
      second.isDisk = generator.once(in: 2)
      if generator.once(in: 3) {
        draft.settings.insert(.secondObject)
        if generator.once(in: 3) {
          second.options[.ext] = 1
          draft.settings.insert(.otherExtension)
        }
        return second
      }
      second.process = 1
      second.coherence = generator.pick([.events, .strict, .none])
      second.options = [:]
      draft.settings.insert(second.isDisk ? .neighbour : .neighbourWithMemory)
      if generator.once(in: 4) {
        second.options[.size] = 250
        draft.settings.insert(.neighbourWithLimit)
      }
      return second
    }

    /// Adds the operations that bring the first cache into a state.
    private mutating func addState(to draft: inout Draft) {
      draft.scene.isCoarse = generator.once(in: 4)
      if draft.scene.isCoarse { draft.settings.insert(.coarse) }
      if generator.once(in: 16) {
        draft.scene.early = 64
        draft.settings.insert(.early)
      }
      if generator.once(in: 2) {
        draft.scene.initial = ["a"]
        draft.settings.insert(.initial)
      }
      let states: [(Setting, String)] = [
        (.indexed, "N"), (.inMemory, "Sa100"), (.expired, "Qa100 N P1500"),
        (.full, "Sa100 Sb100 N"), (.used, "Sa100 P12 Ra"), (.removed, "Sa100 Da"),
      ]
      guard generator.once(in: 2) else { return }
      let (setting, text) = generator.pick(states)
      draft.settings.insert(setting)
      draft.scene.threads.append(
        Scene.ThreadSpec(
          cache: 0, operations: text.split(separator: " ").compactMap { Scene.Operation($0) },
          isFirst: true))
    }

    private mutating func addThread(_ number: Int, to draft: inout Draft) {
      let caches = draft.scene.caches
      let cache: Int?
      if number > 0, generator.once(in: 5) {
        cache = nil
      } else {
        cache = number < caches.count ? number : generator.below(caches.count)
      }
      var thread = Scene.ThreadSpec(cache: cache)
      var moves: [Int] = []
      for _ in 0..<generator.pick([1, 1, 2, 2, 3]) {
        let move = generator.below(Self.moves.count)
        guard isPossible(Self.moves[move], cache, draft.scene),
          let operation = Scene.Operation(Substring(spelled(Self.moves[move], draft.scene)))
        else { continue }
        thread.operations.append(operation)
        moves.append(move)
      }
      draft.scene.threads.append(thread)
      draft.moves.append(moves)
    }

    private func isPossible(_ move: Move, _ cache: Int?, _ scene: Scene) -> Bool {
      guard let cache else {
        // An exclusive cache need not find what is put beside it.
        let isExclusive = scene.caches.contains { $0.mode == .exclusive }
        return !move.isOwn && !(isExclusive && ["w", "z"].contains(move.text.prefix(1)))
      }
      return move.isOwn && !(move.needsMemory && scene.caches[cache].isDisk)
    }

    private mutating func spelled(_ move: Move, _ scene: Scene) -> String {
      if ["o0", "k0", "s0", "b0"].contains(move.text) {
        return "\(move.text.prefix(1))\(generator.pick(scene.caches).process)"
      }
      return move.text.replacing("?", with: generator.once(in: 6) ? "b" : "a")
    }
  }
#endif
