#if LARDER_SCHEDULES
  @testable import Larder
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  // Duels: two or three threads with one or two operations at one name, after operations that bring
  // the cache into a state. Few threads and few points make every order of a race likely.
  extension Grammar {
    mutating func makeDuel() -> Scene {
      var scene = Scene()
      scene.isCoarse = generator.once(in: 4)
      if generator.once(in: 2) { scene.initial = ["a"] }
      if generator.once(in: 16) { scene.early = 64 }
      addDuelCaches(to: &scene)
      if generator.once(in: 2) { addStart(to: &scene) }
      let count = generator.pick([2, 2, 2, 3])
      for number in 0..<count { scene.threads.append(duellist(number, in: scene)) }
      if generator.once(in: 10) { scene.failures = [failure(in: scene, within: 5)] }
      return scene
    }

    private mutating func addDuelCaches(to scene: inout Scene) {
      var first = Scene.CacheSpec()
      first.isDisk = generator.once(in: 2)
      first.coherence = generator.pick([.events, .strict, .none, .none])
      if generator.once(in: 10) { first.mode = .exclusive }
      setFewOptions(of: &first)
      scene.caches = [first]
      if first.mode == .exclusive || generator.once(in: 2) { return }
      var second = first
      second.isDisk = generator.below(4) > 0
      if generator.once(in: 4) {
        if generator.once(in: 2) { second.options[.ext] = 1 }
      } else {
        second.process = 1
        second.coherence = generator.pick([.none, .none, .events, .strict])
        second.options = [:]
        if generator.once(in: 4) { setFewOptions(of: &second) }
      }
      scene.caches.append(second)
    }

    /// Sets two options at most, because the more there are the less of each is seen.
    private mutating func setFewOptions(of cache: inout Scene.CacheSpec) {
      for _ in 0..<generator.pick([0, 0, 1, 1, 2]) {
        switch generator.below(10) {
        case 0, 1: cache.options[.behind] = generator.pick([100, 1_000, 1_000])
        case 2: cache.options[.size] = generator.pick([250, 250, 1_000])
        case 3: cache.options[.count] = 1 + generator.below(2)
        case 4, 5: cache.options[.granularity] = generator.pick([0, 5])
        case 6: cache.options[.durable] = 1
        case 7: cache.options[.target] = 100
        case 8: cache.options[.admit] = 150
        default: cache.options[generator.pick([.free, .memory, .aside, .aside])] = 1
        }
      }
      if cache.options[.free] != nil { cache.options[.free] = 1 << 60 }
    }

    /// Adds the operations that bring a cache into a state: a value in memory, a complete index, an
    /// expired file, a use that is pending, a full cache.
    private mutating func addStart(to scene: inout Scene) {
      let cache = generator.once(in: 4) ? generator.below(scene.caches.count) : 0
      let texts = generator.pick([
        ["N"], ["N"], ["Sa100"], ["Sa100", "N"], ["Sa240", "N"], ["Qa100", "P1500"],
        ["Qa100", "N", "P1500"], ["Sa100", "Sb100", "N"], ["Sa100", "P12", "Ra"], ["Ra"],
        ["Sa100", "Da"], ["B0"], ["N", "Sa100"], ["Sb100"],
      ])
      let operations = texts.compactMap { Scene.Operation(Substring($0)) }
      scene.threads.append(Scene.ThreadSpec(cache: cache, operations: operations, isFirst: true))
    }

    private mutating func duellist(_ number: Int, in scene: Scene) -> Scene.ThreadSpec {
      if number > 0, generator.once(in: 6) { return outsider(of: scene) }
      let cache = number < scene.caches.count ? number : generator.below(scene.caches.count)
      let operations = (0..<generator.pick([1, 1, 1, 2, 2, 3])).map { _ in
        duelOperation(for: scene.caches[cache])
      }
      return Scene.ThreadSpec(cache: cache, operations: operations)
    }

    private mutating func outsider(of scene: Scene) -> Scene.ThreadSpec {
      let verbs: [Scene.Verb] = [
        .unlink, .unlink, .touch, .use, .overflow, .replace, .kill, .stop, .plant, .overwrite,
        .moveOut, .moveIn,
      ]
      let operations = (0..<generator.pick([1, 1, 2])).map { _ in
        var operation = Scene.Operation(verb: generator.pick(verbs))
        // An exclusive cache need not find what is put beside it.
        let isExclusive = scene.caches.contains { $0.mode == .exclusive }
        if isExclusive, [.plant, .moveIn].contains(operation.verb) {
          operation.verb = .unlink
        }
        switch operation.verb {
        case .unlink, .touch, .use, .moveOut, .moveIn: operation.name = "a"
        case .plant, .overwrite:
          operation.name = "a"
          operation.number = 240
        case .replace: break
        default: operation.number = generator.pick(scene.caches).process
        }
        return operation
      }
      return Scene.ThreadSpec(cache: nil, operations: operations)
    }

    private mutating func duelOperation(for cache: Scene.CacheSpec) -> Scene.Operation {
      let verbs: [Scene.Verb]
      switch generator.below(8) {
      case 0, 1: verbs = [.store]
      case 2: verbs = [.read]
      case 3: verbs = [.remove, .absent, .whole, .take]
      case 4: verbs = [.removeAll, .background, .background, .trimCount]
      case 5: verbs = [.flush, .reopen, .entries, .rescan, .count]
      case 6: verbs = cache.isDisk ? [.read, .store] : [.load, .load, .failingLoad, .renew]
      default:
        verbs = [
          .stream, .file, .contains, .shortStore, .expire, .trimSize, .pause, .extend, .forget,
          .variants, .stamp, .inPieces, .storeFile,
        ]
      }
      let verb = generator.pick(verbs)
      return operation(verb, among: generator.once(in: 6) ? ["b"] : ["a"])
    }
  }

  // Neighbours of a scene.
  extension Grammar {
    /// Returns a scene in which one thing is different.
    mutating func neighbour(of scene: Scene) -> Scene {
      var scene = scene
      let thread = generator.below(scene.threads.count)
      let count = scene.threads[thread].operations.count
      switch generator.below(6) {
      case 0:
        let operation = operation(ofThread: thread, in: scene)
        scene.threads[thread].operations.insert(operation, at: generator.below(count + 1))
      case 1 where count > 0:
        scene.threads[thread].operations[generator.below(count)] =
          operation(ofThread: thread, in: scene)
      case 2: changeOptions(in: &scene)
      case 3:
        scene.caches[generator.below(scene.caches.count)].coherence =
          generator.pick([.events, .strict, .none])
      case 4: scene.threads.append(outsider(of: scene))
      default: scene.initial = scene.initial.isEmpty ? ["a"] : []
      }
      return scene
    }

    private mutating func operation(ofThread thread: Int, in scene: Scene) -> Scene.Operation {
      if let cache = scene.threads[thread].cache { return duelOperation(for: scene.caches[cache]) }
      return outsider(of: scene).operations[0]
    }

    /// Sets options of a cache, and the same for all caches of its process, which share an engine.
    private mutating func changeOptions(in scene: inout Scene) {
      let index = generator.below(scene.caches.count)
      setFewOptions(of: &scene.caches[index])
      let changed = scene.caches[index]
      for other in scene.caches.indices where scene.caches[other].process == changed.process {
        let own = scene.caches[other].options
        scene.caches[other].options = changed.options
        for option in [Scene.Option.ext, .memory, .admit] {
          scene.caches[other].options[option] = own[option]
        }
      }
    }
  }
#endif
