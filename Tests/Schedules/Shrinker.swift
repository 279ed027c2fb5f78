#if LARDER_SCHEDULES
  @testable import Larder
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  /// A shrinker that makes a failing scene as small as possible, and its schedule as calm.
  struct Shrinker {
    private let kind: String
    private var best: Trial
    private let deadline: Int64
    private(set) var trialCount = 0
    private var leakCount = 0

    init(_ trial: Trial, kind: String, milliseconds: Int64) {
      best = trial
      self.kind = kind
      deadline = Explorer.milliseconds + milliseconds
    }

    mutating func shrink() -> Trial {
      var isSmaller = true
      while isSmaller && !isOver {
        isSmaller = false
        for scene in candidates(best.scene) where !isOver {
          if let failure = search(scene) {
            best = failure
            isSmaller = true
            break
          }
        }
      }
      calm()
      return best
    }

    private var isOver: Bool { Explorer.milliseconds >= deadline || leakCount > 60 }

    /// Searches for a schedule of a scene that fails in the same way.
    private mutating func search(_ scene: Scene) -> Trial? {
      var generator = SeededGenerator(best.seed)
      for attempt in 0..<50 where !isOver {
        let trial =
          attempt == 0
          ? Trial(best.strategy, seed: best.seed, scene)
          : Trial(
            Explorer.anyStrategy(&generator, length: 300), seed: generator.next() % 1_000_000, scene
          )
        if fails(trial) != nil { return trial }
      }
      return nil
    }

    /// Returns the number of interruptions of a trial that fails in the same way; nil if it does
    /// not.
    private mutating func fails(_ trial: Trial) -> Int? {
      Progress.note(trial.text)
      let verdict = trial.run()
      trialCount += 1
      if verdict.outcome.isLeaky { leakCount += 1 }
      return verdict.kind == kind ? verdict.outcome.preemptionCount : nil
    }

    /// Searches for a schedule with fewer interruptions.
    private mutating func calm() {
      guard var least = fails(best) else { return }
      var generator = SeededGenerator(best.seed &+ 1)
      for _ in 0..<200 where !isOver {
        let strategy = generator.pick([
          Strategy.random(period: 30), .random(period: 100), .priorities(depth: 1, length: 300),
          .priorities(depth: 2, length: 300), .priorities(depth: 3, length: 300),
        ])
        let trial = Trial(strategy, seed: generator.next() % 1_000_000, best.scene)
        guard let count = fails(trial), count < least else { continue }
        least = count
        best = trial
      }
    }

    /// Returns scenes with one part less.
    private func candidates(_ scene: Scene) -> [Scene] {
      var all: [Scene] = []
      func add(_ change: (inout Scene) -> Void) {
        var smaller = scene
        change(&smaller)
        if smaller != scene { all.append(smaller) }
      }
      for index in scene.threads.indices where scene.threads.count > 1 {
        add { $0.threads.remove(at: index) }
      }
      for index in scene.failures.indices { add { $0.failures.remove(at: index) } }
      for (index, thread) in scene.threads.enumerated() where thread.operations.count > 1 {
        for operation in thread.operations.indices {
          add { $0.threads[index].operations.remove(at: operation) }
        }
      }
      for index in scene.caches.indices.reversed() { add { Self.remove(cache: index, &$0) } }
      for index in scene.initial.indices { add { $0.initial.remove(at: index) } }
      for (index, cache) in scene.caches.enumerated() {
        for option in Scene.Option.allCases where cache.options[option] != nil {
          add { $0.caches[index].options[option] = nil }
        }
        add { $0.caches[index].isDisk = true }
        add { $0.caches[index].coherence = .none }
      }
      add { $0.early = 0 }
      add { $0.isCoarse = false }
      return all
    }

    /// Removes a cache that no thread uses.
    private static func remove(cache: Int, _ scene: inout Scene) {
      let isUsed = scene.threads.contains { $0.cache == cache }
      let process = scene.caches[cache].process
      let isMeant = scene.threads.contains { thread in
        thread.cache == nil && thread.operations.contains { $0.name == nil && $0.number != nil }
      }
      let isNeeded = isMeant || scene.failures.contains { $0.process == process }
      guard !isUsed, !isNeeded, scene.caches.count > 1 else { return }
      scene.caches.remove(at: cache)
      for index in scene.threads.indices {
        if let other = scene.threads[index].cache, other > cache {
          scene.threads[index].cache = other - 1
        }
      }
      let processes = Array(Set(scene.caches.map(\.process))).sorted()
      guard scene.failures.isEmpty else { return }
      for index in scene.caches.indices {
        scene.caches[index].process =
          processes.firstIndex(of: scene.caches[index].process) ?? 0
      }
    }
  }
#endif
