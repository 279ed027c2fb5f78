#if LARDER_SCHEDULES
  @testable import Larder
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  /// A generator of scenes from a seed.
  struct Grammar {
    var generator: SeededGenerator
    private var scene = Scene()
    private var names: [Character] = ["a"]

    init(seed: UInt64) { generator = SeededGenerator(seed &+ 77) }

    /// Makes a scene: in most cases a small one.
    mutating func make() -> Scene { generator.once(in: 5) ? makeLarge() : makeDuel() }

    private mutating func makeLarge() -> Scene {
      scene.isCoarse = generator.once(in: 2)
      names = Array(["a", "b", "c"].prefix(1 + generator.below(3)))
      if generator.once(in: 3) { scene.initial = [generator.pick(names)] }
      if generator.once(in: 8) { scene.early = 64 }
      addCaches()
      let threadCount = 2 + generator.below(3)
      for thread in 0..<threadCount { addThread(thread) }
      if generator.once(in: 4) { addOutsider() }
      if generator.once(in: 6) { scene.failures = [failure(in: scene, within: 12)] }
      return scene
    }

    private mutating func addCaches() {
      var first = Scene.CacheSpec()
      first.isDisk = generator.once(in: 3)
      first.coherence = generator.pick([.events, .events, .strict, .none])
      if generator.once(in: 8) { first.mode = .exclusive }
      setOptions(of: &first)
      scene.caches = [first]
      guard first.mode != .exclusive else { return }
      let count = generator.pick([1, 2, 2, 3]) - 1
      for _ in 0..<count {
        var next = first
        if generator.once(in: 3) {
          // A second object in the same process, on the same engine.
          if generator.once(in: 4) { next.options[.ext] = 1 }
          next.isDisk = generator.once(in: 2)
        } else {
          next.process = (scene.caches.last?.process ?? 0) + 1
          next.isDisk = generator.once(in: 2)
          next.coherence = generator.pick([.events, .events, .strict, .none])
          next.options = [:]
          setOptions(of: &next)
          if generator.once(in: 10) { next.mode = .readOnly }
        }
        scene.caches.append(next)
      }
    }

    private mutating func setOptions(of cache: inout Scene.CacheSpec) {
      if generator.once(in: 3) { cache.options[.behind] = generator.pick([100, 250, 1_000]) }
      if generator.once(in: 3) { cache.options[.size] = generator.pick([250, 1_000]) }
      if generator.once(in: 5) { cache.options[.count] = 1 + generator.below(2) }
      if generator.once(in: 4) { cache.options[.granularity] = generator.pick([0, 5]) }
      if generator.once(in: 5) { cache.options[.durable] = 1 }
      if generator.once(in: 5) { cache.options[.target] = 100 }
      if generator.once(in: 8) { cache.options[.admit] = 150 }
      if generator.once(in: 20) { cache.options[.free] = 1 << 60 }
      if generator.once(in: 8) { cache.options[.memory] = 1 }
      if generator.once(in: 4) { cache.options[.aside] = 1 }
    }

    private mutating func addThread(_ thread: Int) {
      let cache = thread < scene.caches.count ? thread : generator.below(scene.caches.count)
      let count = 2 + generator.below(4)
      let operations = (0..<count).map { _ in operation(for: scene.caches[cache]) }
      scene.threads.append(Scene.ThreadSpec(cache: cache, operations: operations))
    }

    private mutating func operation(for cache: Scene.CacheSpec) -> Scene.Operation {
      let common: [Scene.Verb] = [.store, .store, .store, .read, .read, .read, .remove]
      let rare: [Scene.Verb] = [
        .absent, .absent, .stream, .whole, .file, .load, .load, .failingLoad,
        .removeAll, .background, .trimCount,
        .trimSize, .expire, .flush, .flush, .count, .total, .entries, .reopen, .pause, .forget,
        .shortStore, .contains, .rescan, .extend, .renew, .take, .variants, .stamp, .inPieces,
        .storeFile,
      ]
      var verb = generator.once(in: 2) ? generator.pick(common) : generator.pick(rare)
      if cache.isDisk, [.load, .failingLoad, .renew, .forget].contains(verb) { verb = .read }
      return self.operation(verb, among: names)
    }

    /// Returns an operation with a name and a number if it needs them.
    mutating func operation(_ verb: Scene.Verb, among names: [Character]) -> Scene.Operation {
      var operation = Scene.Operation(verb: verb)
      switch verb {
      case .store, .absent, .stream, .shortStore, .load, .renew, .inPieces, .storeFile:
        operation.name = generator.pick(names)
        operation.number = generator.pick([100, 100, 100, 240, 600])
      case .read, .whole, .file, .contains, .remove, .failingLoad, .extend, .take, .variants,
        .stamp:
        operation.name = generator.pick(names)
      case .background: operation.number = generator.below(2)
      case .trimCount: operation.number = generator.below(2)
      case .trimSize: operation.number = generator.pick([0, 100])
      case .pause: operation.number = generator.pick([1, 12, 60, 1_500])
      default: break
      }
      return operation
    }

    private mutating func addOutsider() {
      let verbs: [Scene.Verb] = [
        .unlink, .unlink, .touch, .use, .overflow, .overflow, .kill, .stop, .replace,
      ]
      var operations: [Scene.Operation] = []
      for _ in 0..<1 + generator.below(2) {
        let verb = generator.pick(verbs)
        var operation = Scene.Operation(verb: verb)
        switch verb {
        case .unlink, .touch, .use: operation.name = generator.pick(names)
        case .replace: break
        default: operation.number = generator.pick(scene.caches).process
        }
        operations.append(operation)
      }
      scene.threads.append(Scene.ThreadSpec(cache: nil, operations: operations))
    }

    /// Returns a call that fails, among the first of its kind.
    mutating func failure(in scene: Scene, within count: Int) -> Scene.FailureSpec {
      let calls: [(SystemCall, [Int32])] = [
        (.openat, [2, 13, 24, 5]), (.linkat, [28, 2]), (.renameat, [28, 5]), (.write, [28, 5]),
        (.fsync, [5]), (.unlinkat, [5, 13]), (.fstat, [5]), (.fstatat, [5, 12]),
        (.futimens, [1, 5]), (.flock, [37]), (.readdir, [5]), (.read, [5]), (.inotify, [24]),
      ]
      let (call, errnos) = generator.pick(calls)
      return Scene.FailureSpec(
        process: generator.pick(scene.caches).process, call: call,
        n: 1 + generator.below(count), count: generator.pick([1, 1, 2, 1_000]),
        errno: generator.pick(errnos))
    }
  }

  extension Scene {
    /// Whether the history tells all that the judge must know.
    ///
    /// It does not tell into which of two directories a file was put while one took the place of
    /// the other.
    var isJudgeable: Bool {
      let verbs = threads.flatMap { $0.operations.map(\.verb) }
      // Nor what a damaged file holds that has no proof, or is stamped, which makes it valid.
      // Damage in the tick of a store cannot be seen.
      let unproved: Set<Scene.Verb> = [.stamp, .plant, .moveIn, .overwrite]
      if verbs.contains(.damage), isCoarse || verbs.contains(where: unproved.contains) {
        return false
      }
      // Looks at the free space, every five seconds, soon are more points than a scene has.
      let pauses = threads.flatMap(\.operations).filter { $0.verb == .pause }.compactMap(\.number)
      if caches.contains(where: { $0.options[.free] != nil }), pauses.reduce(0, +) > 60_000 {
        return false
      }
      return !verbs.contains(.replace) || !verbs.contains { $0 == .plant || $0 == .moveIn }
    }
  }
#endif
