#if LARDER_SCHEDULES
  @testable import LarderDisk
  @testable import LarderSystem

  /// What two operations may have beside themselves: how their caches are related and set, and what
  /// else is in the scene.
  enum Setting: Int, CaseIterable, Sendable {
    // The relation of the two caches. An outsider has none.
    case oneObject, twoObjects, twoExtensions, twoProcesses
    // What one of the two caches is.
    case disk, memory, events, strict, unwatched, exclusive
    // What is set for one of the two caches.
    case behind100, behind1000, size250, size1000, count1, count2, granularity0, granularity5
    case durable, target, admit, free, age, memory1, aside
    // What else there is.
    case neighbour, neighbourWithMemory, neighbourWithLimit, reader, outsider, threeThreads
    case coarse, early, initial
    // What was done before.
    case indexed, inMemory, expired, full, used, removed, clearing
    // Which calls fail.
    case failingStore, failingRemoval, failingLook

    static var count: Int { allCases.count }

    static let relations: [Setting] = [.oneObject, .twoObjects, .twoExtensions, .twoProcesses]

    static let coherences: [(Setting, DiskCache.Coherence)] = [
      (.events, .events), (.strict, .strict), (.unwatched, .none),
    ]

    static let options: [(setting: Setting, option: Scene.Option, value: Int)] = [
      (.behind100, .behind, 100), (.behind1000, .behind, 1_000), (.size250, .size, 250),
      (.size1000, .size, 1_000), (.count1, .count, 1), (.count2, .count, 2),
      (.granularity0, .granularity, 0), (.granularity5, .granularity, 5), (.durable, .durable, 1),
      (.target, .target, 100), (.admit, .admit, 150), (.free, .free, 1 << 60),
      (.age, .age, 1_000), (.memory1, .memory, 1), (.aside, .aside, 1),
    ]

    static let states: [(setting: Setting, text: String)] = [
      (.indexed, "N"), (.inMemory, "Sa100"), (.expired, "Qa100 N P1500"),
      (.full, "Sa100 Sb100 N"), (.used, "Sa100 P12 Ra"), (.removed, "Sa100 Da"),
      (.clearing, "Sa100 B0"),
    ]

    static let failures: [(setting: Setting, calls: [(SystemCall, [Int32])])] = [
      (
        .failingStore,
        [(.linkat, [28, 2]), (.renameat, [28, 5]), (.write, [28, 5]), (.fsync, [5])]
      ),
      (.failingRemoval, [(.unlinkat, [5, 13])]),
      (
        .failingLook,
        [
          (.openat, [2, 13, 24, 5]), (.fstat, [5]), (.fstatat, [5, 12]), (.futimens, [1, 5]),
          (.flock, [37]), (.readdir, [5]), (.read, [5]), (.inotify, [24]),
        ]
      ),
    ]
  }

  extension Scene {
    /// Returns the settings of two threads that have caches or are outsiders.
    func settings(of first: Int, _ second: Int) -> [Setting] {
      let own = [threads[first].cache, threads[second].cache].compactMap(\.self)
      var all = shared
      if own.count == 2 { all.append(relation(own[0], own[1])) }
      for cache in Set(own) { all += settings(of: caches[cache]) }
      return Set(all).sorted { $0.rawValue < $1.rawValue }
    }

    private func relation(_ first: Int, _ second: Int) -> Setting {
      if first == second { return .oneObject }
      if caches[first].process != caches[second].process { return .twoProcesses }
      let isOne = caches[first].options[.ext] == caches[second].options[.ext]
      return isOne ? .twoObjects : .twoExtensions
    }

    private func settings(of cache: CacheSpec) -> [Setting] {
      var all: [Setting] = [cache.isDisk ? .disk : .memory]
      all += Setting.coherences.filter { $0.1 == cache.coherence }.map(\.0)
      if cache.mode == .exclusive { all.append(.exclusive) }
      all += Setting.options.filter { cache.options[$0.option] == $0.value }.map(\.setting)
      return all
    }

    /// The settings of all pairs of the scene.
    private var shared: [Setting] {
      var all: [Setting] = []
      let neighbours = caches.filter { $0.process != caches[0].process }
      if neighbours.contains(where: \.isDisk) { all.append(.neighbour) }
      if neighbours.contains(where: { !$0.isDisk }) { all.append(.neighbourWithMemory) }
      if neighbours.contains(where: { $0.options[.size] != nil }) {
        all.append(.neighbourWithLimit)
      }
      if caches.contains(where: { $0.mode == .readOnly }) { all.append(.reader) }
      if threads.contains(where: { $0.cache == nil }) { all.append(.outsider) }
      if threads.count(where: { !$0.isFirst }) > 2 { all.append(.threeThreads) }
      if isCoarse { all.append(.coarse) }
      if early > 0 { all.append(.early) }
      if !initial.isEmpty { all.append(.initial) }
      if let first = threads.first(where: \.isFirst) {
        let text = first.operations.map(\.text).joined(separator: " ")
        all += Setting.states.filter { $0.text == text }.map(\.setting)
      }
      for failure in failures {
        all += Setting.failures.filter { $0.calls.contains { $0.0 == failure.call } }.map(\.setting)
      }
      return all
    }
  }
#endif
