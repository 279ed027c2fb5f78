#if LARDER_SCHEDULES
  @testable import Larder
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  /// The values of a scene that may be lost without a removal, for reasons such as limits.
  struct Allowance: Sendable {
    /// Whether any value may be lost.
    let everything: Bool
    /// The names of which any value may be lost.
    private let names: Set<Character>
    /// The names of which some values expire.
    private let passing: Set<Character>

    init(_ scene: Scene) {
      let operations = scene.threads.flatMap(\.operations)
      let verbs = Set(operations.map(\.verb))
      let trims: Set<Scene.Verb> = [.trimCount, .trimSize, .trimAge, .replace]
      limitsNothing =
        verbs.isDisjoint(with: [.trimCount, .trimSize, .trimAge, .expire]) && scene.failures.isEmpty
        && !scene.caches.contains { cache in
          [.size, .count, .age, .free].contains { cache.options[$0] != nil }
        }
      var everything =
        !verbs.isDisjoint(with: trims) || scene.failures.contains { !$0.concernsStoreAlone }
      everything = everything || scene.caches.contains { $0.options[.age] != nil }
      everything = everything || scene.caches.contains { $0.options[.free] != nil }
      everything = everything || Self.passesLimit(scene)
      // Values that wait to be written are lost with their process.
      let isBehind = scene.caches.contains { $0.options[.behind] != nil }
      everything = everything || isBehind && verbs.contains(.kill)
      self.everything = everything
      names = Set(
        operations.filter { [.touch, .overwrite, .damage].contains($0.verb) }.compactMap(\.name))
      passing = Set(operations.filter { $0.verb == .shortStore }.compactMap(\.name))
    }

    /// Whether no limit, no trim and no failing call can cost a value.
    let limitsNothing: Bool

    /// Whether a name may lose any value.
    func mayLoseAll(_ name: Character) -> Bool { everything || names.contains(name) }

    /// Whether a name may lose some values.
    func mayLose(_ name: Character) -> Bool { mayLoseAll(name) || passing.contains(name) }

    /// Returns whether all values together could exceed a limit.
    private static func passesLimit(_ scene: Scene) -> Bool {
      var largest: [String: Int] = [:]
      for name in scene.initial { largest["\(name)"] = 100 }
      for thread in scene.threads {
        // A file that is put there by hand counts as well.
        let spec = thread.cache.map { scene.caches[$0] } ?? Scene.CacheSpec()
        for operation in thread.operations where operation.verb.bringsValue {
          let key = "\(operation.name ?? "a") \(spec.options[.ext] ?? 0)"
          let count = operation.number ?? 100
          if let limit = spec.options[.size], count > limit { continue }
          largest[key] = max(largest[key] ?? 0, count)
        }
      }
      // A file that is moved to another name counts beside what takes its own.
      for other in scene.threads.flatMap(\.operations).compactMap(\.otherName) {
        largest["\(other) 0"] = largest.values.max()
      }
      let total = largest.values.reduce(0, +)
      return scene.caches.contains { cache in
        cache.options[.size].map { total > $0 } ?? false
          || cache.options[.count].map { largest.count > $0 } ?? false
      }
    }
  }

  extension HistoryJudge {
    /// Returns a step for each value that another process may have removed with an expired file.
    ///
    /// The other process has looked at the expired file of the name and unlinks it next. There is
    /// no unlink by descriptor, so a value that is stored in between goes, as if evicted.
    func overtakenSteps(_ calls: [Call]) -> [Linearization.Step] {
      guard Set(scene.caches.map(\.process)).count > 1 else { return [] }
      return calls.compactMap { store in
        let isAfterExpiry = calls.contains { short in
          short.operation.verb == .shortStore && short.startTime + 1_000_000_000 <= store.startTime
        }
        guard isAfterExpiry, store.operation.verb.bringsValue, store.process >= 0 else {
          return nil
        }
        return Linearization.Step(
          start: store.start, end: .max, effect: .withdraw(store.value), isOptional: true,
          text: "\(store.text), and removed with an expired file")
      }
    }
  }

  extension Scene.FailureSpec {
    /// Whether the call that fails is one of a store, which tells of its failure and removes what
    /// it was to replace, and no other. A full disk costs other values.
    var concernsStoreAlone: Bool {
      [.write, .linkat, .renameat, .fsync].contains(call) && errno != 28
    }
  }
#endif
