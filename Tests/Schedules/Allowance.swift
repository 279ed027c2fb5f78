#if LARDER_SCHEDULES
  @testable import Larder
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  /// The values of a scene that may be lost without a removal, for reasons such as limits.
  struct Allowance: Sendable {
    /// Whether any value may be lost.
    let everything: Bool
    private let names: Set<Character>

    init(_ scene: Scene) {
      let operations = scene.threads.flatMap(\.operations)
      let verbs = Set(operations.map(\.verb))
      let trims: Set<Scene.Verb> = [.trimCount, .trimSize, .replace]
      var everything = !verbs.isDisjoint(with: trims) || !scene.failures.isEmpty
      everything = everything || scene.caches.contains { $0.options[.age] != nil }
      everything = everything || scene.caches.contains { $0.options[.free] != nil }
      everything = everything || Self.passesLimit(scene)
      // Values that wait to be written are lost with their process.
      let isBehind = scene.caches.contains { $0.options[.behind] != nil }
      everything = everything || isBehind && verbs.contains(.kill)
      self.everything = everything
      let touching: Set<Scene.Verb> = [.shortStore, .unlink, .touch]
      names = Set(operations.filter { touching.contains($0.verb) }.compactMap(\.name))
    }

    func mayLose(_ name: Character) -> Bool { everything || names.contains(name) }

    /// Returns whether all values together could exceed a limit.
    private static func passesLimit(_ scene: Scene) -> Bool {
      var largest: [String: Int] = [:]
      for name in scene.initial { largest["\(name)"] = 100 }
      for thread in scene.threads {
        guard let spec = thread.cache.map({ scene.caches[$0] }) else { continue }
        for operation in thread.operations where operation.verb.bringsValue {
          let key = "\(operation.name ?? "a") \(spec.options[.ext] ?? 0)"
          let count = operation.number ?? 100
          if let limit = spec.options[.size], count > limit { continue }
          largest[key] = max(largest[key] ?? 0, count)
        }
      }
      let total = largest.values.reduce(0, +)
      return scene.caches.contains { cache in
        cache.options[.size].map { total > $0 } ?? false
          || cache.options[.count].map { largest.count > $0 } ?? false
      }
    }
  }
#endif
