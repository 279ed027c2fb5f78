#if LARDER_SCHEDULES
  @testable import LarderDisk
  @testable import LarderSystem

  /// A generator of scenes in which up to three processes share their loads.
  struct TurnScenes {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed &+ 311) }

    private static let verbs = Array("OOOOOO%%%%%JJ$$ccKK~&ISDDexXBQRRVHGPPC")
    /// Those of a scene in which every load must be shared.
    private static let calmVerbs = Array("OOOOO%%%%KRVHGNP")
    private static let outside = Array("rrkkk--mosPPPt")

    mutating func make() -> Scene {
      var scene = Scene()
      scene.isCoarse = generator.once(in: 8)
      if generator.once(in: 16) { scene.early = 64 }
      let isCalm = generator.once(in: 3)
      addCaches(isCalm, &scene)
      if !isCalm {
        addStart(&scene)
      } else if generator.once(in: 3) {
        scene.threads.append(
          Scene.ThreadSpec(
            cache: 0, operations: ["Qa100", "P1500"].compactMap { Scene.Operation($0) },
            isFirst: true))
      }
      let count = generator.pick([2, 3, 3, 3, 4])
      for number in 0..<count {
        let cache = number < scene.caches.count ? number : generator.below(scene.caches.count)
        let operations = (0..<generator.pick([1, 1, 1, 2, 2, 3])).map { _ in
          operation(generator.pick(isCalm ? Self.calmVerbs : Self.verbs))
        }
        scene.threads.append(Scene.ThreadSpec(cache: cache, operations: operations))
      }
      if generator.once(in: 2) { addOutsider(isCalm, &scene) }
      if !isCalm, generator.once(in: 6) { addFailure(&scene) }
      return scene
    }

    private mutating func addCaches(_ isCalm: Bool, _ scene: inout Scene) {
      for process in 0..<generator.pick([2, 3, 3]) {
        var spec = Scene.CacheSpec()
        spec.process = process
        spec.coherence = generator.pick([.events, .events, .events, .strict, .none])
        spec.options[.shared] = isCalm || generator.below(12) > 0 ? 1 : nil
        if !isCalm, generator.once(in: 8) { spec.options[.turn] = 20 }
        if generator.once(in: 6) { spec.options[.behind] = 1_000 }
        if generator.once(in: 8) { spec.options[.aside] = 1 }
        if generator.once(in: 8) { spec.options[.durable] = 1 }
        if !isCalm, generator.once(in: 10) {
          spec.options[generator.pick([.size, .admit])] = generator.pick([150, 250])
        }
        scene.caches.append(spec)
        // A second object in the same process.
        if generator.once(in: 8) { scene.caches.append(spec) }
      }
    }

    private mutating func addStart(_ scene: inout Scene) {
      if generator.once(in: 8) { scene.initial = ["a"] }
      guard generator.once(in: 3) else { return }
      let text = generator.pick(["Qa100 P1500", "Qa100 P1500", "Sa100", "Sa100 Da", "$a100", "Ja"])
      let operations = text.split(separator: " ").compactMap { Scene.Operation($0) }
      scene.threads.append(Scene.ThreadSpec(cache: 0, operations: operations, isFirst: true))
    }

    private mutating func operation(_ letter: Character) -> Scene.Operation {
      var operation = Scene.Operation(verb: Scene.Verb(rawValue: letter) ?? .load)
      switch operation.verb {
      case .removeAll, .flush, .count, .reopen: break
      case .background: operation.number = generator.below(2)
      // With some, a tick of a load that waits comes as a slow load of another process ends.
      case .pause:
        operation.number = generator.pick([0, 0, 0, 1, 12, 60, 1_000, 100, 260, 340, 380])
      default:
        operation.name = generator.once(in: 8) ? "b" : "a"
        if operation.verb.bringsValue { operation.number = generator.pick([100, 100, 100, 600]) }
      }
      return operation
    }

    private mutating func addOutsider(_ isCalm: Bool, _ scene: inout Scene) {
      var operations: [Scene.Operation] = []
      for _ in 0..<1 + generator.below(2) {
        let letter = generator.pick(isCalm ? ["k", "P"] : Self.outside)
        var operation = operation(letter)
        if ["k", "o", "s"].contains(letter) {
          (operation.name, operation.number) = (nil, generator.pick(scene.caches).process)
        }
        if ["-", "m"].contains(letter) { operation.name = nil }
        operations.append(operation)
      }
      scene.threads.append(Scene.ThreadSpec(cache: nil, operations: operations))
    }

    private mutating func addFailure(_ scene: inout Scene) {
      let calls: [(SystemCall, [Int32])] = [
        (.fcntl, [22, 37]), (.openat, [13, 24]), (.inotify, [24]), (.linkat, [28]),
        (.fstat, [5]),
      ]
      let (call, errnos) = generator.pick(calls)
      // Locks can be had or not. No unlock fails beside locks that are granted.
      let isLock = call == .fcntl
      scene.failures = [
        Scene.FailureSpec(
          process: generator.pick(scene.caches).process, call: call,
          n: isLock ? 1 : 1 + generator.below(8),
          count: isLock ? 1_000 : generator.pick([1, 1, 1_000]), errno: generator.pick(errnos))
      ]
    }
  }
#endif
