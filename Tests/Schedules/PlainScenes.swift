#if LARDER_SCHEDULES
  @testable import LarderDisk
  @testable import LarderSystem

  /// A generator of plain scenes: two or three threads with one or two operations of a theme, in a
  /// state in which these have something to do. The fewer choices there are, the more of them are
  /// right by chance.
  struct PlainScenes {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed &+ 211) }

    mutating func make() -> Scene {
      let theme = generator.pick(Theme.all)
      var scene = Scene()
      scene.isCoarse = generator.once(in: 8)
      if theme.outside.contains("!") { scene.isCoarse = false }
      if generator.once(in: 32) { scene.early = 64 }
      addCaches(theme, &scene)
      addStart(theme, &scene)
      let count = generator.pick([2, 2, 2, 3, 3])
      var mustBeOutside = theme.hasOutsider
      if mustBeOutside, generator.once(in: 2) {
        addThread(nil, theme, length: 1, isFirst: true, &scene)
        mustBeOutside = false
      }
      for number in 0..<count {
        let isOutside =
          number > 0 && (mustBeOutside || !theme.outside.isEmpty && generator.once(in: 4))
        if isOutside { mustBeOutside = false }
        let own = number < scene.caches.count ? number : generator.below(scene.caches.count)
        let length = generator.pick([1, 1, 2, 2, 3, 4])
        addThread(isOutside ? nil : own, theme, length: length, &scene)
      }
      if count == 2, generator.once(in: 2) { addObserver(theme, &scene) }
      if !theme.failures.isEmpty,
        theme.failsOften ? generator.below(3) > 0 : generator.once(in: 5)
      {
        addFailure(theme, &scene)
      }
      return scene
    }

    /// Adds a thread that reads a name in memory and on the disk, in the middle of what others do.
    private mutating func addObserver(_ theme: Theme, _ scene: inout Scene) {
      let name = generator.once(in: theme.nameCount > 1 ? 3 : 8) ? "b" : "a"
      let text = generator.pick(["V? R?", "R? V?", "R? R?", "R? V? R?", "V? R? H?", "F? R?"])
      scene.threads.append(
        Scene.ThreadSpec(
          cache: generator.below(scene.caches.count),
          operations: text.replacing("?", with: name).split(separator: " ").compactMap {
            Scene.Operation($0)
          }))
    }

    private mutating func addCaches(_ theme: Theme, _ scene: inout Scene) {
      let relation = generator.pick(theme.relations)
      var spec = Scene.CacheSpec()
      spec.isDisk = generator.below(8) < (theme.needsMemory ? 1 : 4)
      spec.coherence = generator.pick(Setting.coherences).1
      if relation != .twoProcesses, generator.once(in: 6) { spec.mode = .exclusive }
      if let options = theme.options {
        let choice = generator.pick(options)
        spec.options[choice.0] = choice.1
      }
      if generator.once(in: 5) {
        let choice = generator.pick(Setting.options)
        spec.options[choice.option] = choice.value
      }
      scene.caches = [spec]
      switch relation {
      case .twoObjects: spec.isDisk = generator.below(8) < (theme.needsMemory ? 1 : 4)
      case .twoExtensions: spec.options[.ext] = 1
      case .twoProcesses:
        if !generator.once(in: 4) { spec.options = [:] }
        spec.process = 1
        spec.coherence = generator.pick(Setting.coherences).1
        spec.isDisk = generator.once(in: 2)
      default: return
      }
      scene.caches.append(spec)
    }

    /// Adds what an earlier process has left, and what the first cache has done.
    private mutating func addStart(_ theme: Theme, _ scene: inout Scene) {
      scene.initial = generator.pick([[], ["a"], ["a"]])
      if theme.nameCount > 1, generator.once(in: 3) { scene.initial = ["a", "b"] }
      let text =
        generator.once(in: 8)
        ? generator.pick(Setting.states).text
        : generator.pick(theme.states)
      let operations = text.split(separator: " ").compactMap { Scene.Operation($0) }
      if operations.isEmpty { return }
      scene.threads.append(Scene.ThreadSpec(cache: 0, operations: operations, isFirst: true))
    }

    /// - Parameter cache: Nil for an outsider.
    private mutating func addThread(
      _ cache: Int?, _ theme: Theme, length: Int, isFirst: Bool = false, _ scene: inout Scene
    ) {
      let letters = cache == nil ? theme.outside : theme.verbs
      if let cache, !theme.scripts.isEmpty, generator.below(3) > 0 {
        let operations = script(of: cache, theme, scene)
        scene.threads.append(
          Scene.ThreadSpec(cache: cache, operations: operations, isFirst: isFirst))
        return
      }
      let operations = (0..<length).map { _ in
        let move = move(of: cache, among: letters, scene)
        return spelled(move, theme, scene)
      }
      scene.threads.append(
        Scene.ThreadSpec(cache: cache, operations: operations.compactMap(\.self), isFirst: isFirst))
    }

    /// Returns what a thread of a theme does as a whole, one time of two followed by one operation
    /// more.
    private mutating func script(
      of cache: Int, _ theme: Theme, _ scene: Scene
    ) -> [Scene.Operation] {
      let name = generator.once(in: theme.nameCount > 1 ? 2 : 8) ? "b" : "a"
      let text = generator.pick(theme.scripts).replacing("?", with: name)
        .replacing("+", with: name == "a" ? "b" : "a")
      var operations = text.split(separator: " ").compactMap { Scene.Operation($0) }
      if generator.once(in: 2) {
        let move = move(of: cache, among: theme.verbs, scene)
        if let last = spelled(move, theme, scene) { operations.append(last) }
      }
      return operations
    }

    private mutating func move(of cache: Int?, among letters: String, _ scene: Scene) -> Move {
      let isExclusive = scene.caches.contains { $0.mode == .exclusive }
      let moves = Move.verbs[cache == nil ? 1 : 0]
      while true {
        let letter = generator.pick(Array(letters))
        // Seldom any.
        let isAny = cache != nil && generator.once(in: 12)
        guard
          let some = isAny
            ? generator.pick(moves) : moves.first(where: { $0[0].text.first == letter })
        else { continue }
        let move = generator.once(in: 2) ? some[0] : generator.pick(some)
        if move.needsMemory, let cache, scene.caches[cache].isDisk { continue }
        if isExclusive, move.verb == .plant || move.verb == .moveIn { continue }
        return move
      }
    }

    private mutating func spelled(
      _ move: Move, _ theme: Theme, _ scene: Scene
    ) -> Scene.Operation? {
      let name = generator.once(in: theme.nameCount > 1 ? 2 : 8) ? "b" : "a"
      if move.namesProcess {
        return Scene.Operation("\(move.text.prefix(1))\(generator.pick(scene.caches).process)")
      }
      return Scene.Operation(Substring(move.text.replacing("?", with: name)))
    }

    private mutating func addFailure(_ theme: Theme, _ scene: inout Scene) {
      let (call, errnos) = generator.pick(theme.failures)
      scene.failures = [
        Scene.FailureSpec(
          process: 0, call: call, n: 1 + generator.below(3),
          count: generator.pick([1, 1, 2, 1_000]), errno: generator.pick(errnos))
      ]
    }
  }

  /// Operations that meet in one part of the library, with what brings them there.
  private struct Theme {
    /// The letters of a cache's operations, more often those that are there more than once.
    let verbs: String
    /// What a thread may do as a whole, with `?` for a name and `+` for the other one.
    var scripts: [String] = []
    /// The letters of an outsider's operations.
    var outside = ""
    /// Whether there is always an outsider.
    var hasOutsider = false
    /// One of these is set; none if nil.
    var options: [(Scene.Option, Int)]?
    /// What the first cache has done before.
    var states = ["", "N", "Sa100"]
    var relations: [Setting] = [.oneObject, .oneObject, .oneObject, .twoObjects, .twoProcesses]
    var nameCount = 1
    var failures: [(SystemCall, [Int32])] = []
    /// Whether calls fail in two of three scenes, in place of one of five.
    var failsOften = false

    var needsMemory: Bool { verbs.contains { "OM~&".contains($0) } }

    static let all = [
      loads, refreshes, nested, refused, limits, limits, clears, scans, memory, behind, behind,
      lifetimes, lifetimes, uses, timers, files, damage, fullDisk, opening, directories, anything,
    ]

    private static let loads = Theme(
      verbs: "OOOKJcIDDSXRej",
      scripts: ["O?100", "I?100", "I?100 R?", "K?100", "O?100 P60 R?", "D? O?100", "c?100 O?100"],
      outside: "rw", states: ["", "", "Sa100", "Sa100 Da"],
      relations: [.oneObject, .oneObject, .oneObject, .twoObjects, .twoProcesses])

    /// Behind an expired value.
    private static let refreshes = Theme(
      verbs: "~~~JJOIcSDR", scripts: ["~?100", "~?100 R?", "I?100 P60 R?", "J?", "S?100", "D?"],
      outside: "rw", states: ["Qa100 P1500", "Qa100 N P1500"],
      relations: [.oneObject, .oneObject, .oneObject, .twoObjects, .twoProcesses])

    private static let nested = Theme(
      verbs: "&&&OJ", states: ["", "", "Sa100"], relations: [.twoObjects], nameCount: 2)

    /// Loads of what is not stored.
    private static let refused = Theme(
      verbs: "OOOIKSSWaDR", options: [(.admit, 150), (.admit, 150), (.size, 250)])

    private static let limits = Theme(
      verbs: "SSSSSWaAATTUdENnRO",
      scripts: [
        "S?100", "S?100 S+100", "A?100", "A?100 P5 A+100", "Y?", "D? S?100", "T1", "U100", "N",
        "R?",
        "S?100 L", "W?100", "S?100 P0",
      ],
      options: [(.count, 1), (.count, 1), (.count, 2), (.size, 150), (.size, 250), (.target, 100)],
      states: ["Sa100", "Sa100", "Sa100 N", "Sa100 Sb100 N"],
      relations: [.oneObject, .oneObject, .twoObjects, .twoProcesses, .twoProcesses],
      nameCount: 2, failures: [(.unlinkat, [5, 13])])

    private static let clears = Theme(
      verbs: "XXXBBBjxSSSDOARGN", outside: "r",
      options: [(.behind, 1_000), (.aside, 1), (.size, 250)],
      states: ["", "N", "Sa100", "Sa100 N"], failures: [(.unlinkat, [5, 13])])

    private static let scans = Theme(
      verbs: "NNnnnZLDDSSXeTC", outside: "rtuohlwyz", states: ["", "", "N", "Sa100"],
      failures: [(.readdir, [5]), (.openat, [24, 5]), (.fstatat, [5, 12])])

    private static let memory = Theme(
      verbs: "MMggppSSODRXT", options: [(.memory, 1), (.age, 1_000), (.aside, 1)],
      relations: [.oneObject, .oneObject, .oneObject, .twoObjects])

    /// Values that wait to be written.
    private static let behind = Theme(
      verbs: "SSSSGGCXDRQBFAWYe",
      scripts: [
        "S?100 S?100", "S?100 G", "D? S?100 G", "S?100 D?", "G", "C", "Y?", "A?100", "X",
        "S?100 V?",
        "S?100 P0 R?", "S?100 S+100 G", "e? S?100", "S?600 S?100", "S?100 B1",
      ], options: [(.behind, 100), (.behind, 1_000), (.behind, 1_000), (.behind, 1_000)],
      states: ["", "", "N", "Sa100 Da"],
      failures: [(.linkat, [28, 2]), (.renameat, [28, 5]), (.write, [28, 5]), (.unlinkat, [5])])

    private static let lifetimes = Theme(
      verbs: "QQEEYf~IRVSeDA",
      scripts: [
        "A?100", "S?100 S?100", "R? P1500 E", "S?100 P1500 E", "Y?", "Q?100", "V? f?", "E", "I?100",
        "R? P0 R?", "Q?100 P0 R?", "D? A?100",
      ], options: [(.granularity, 0), (.granularity, 5)],
      states: ["Qa100 N P1500", "Qa100 P1500", "Sa100 P12 Ra", "Qa100 N P60", "Qa100 P60"],
      relations: [.oneObject, .oneObject, .oneObject, .twoObjects, .twoProcesses, .twoProcesses])

    /// Uses that are to reach the disk.
    private static let uses = Theme(
      verbs: "RRRVFGGNPS",
      scripts: [
        "R?", "R? P5 R+", "R? R+", "G", "V? G", "N", "F?", "R? P0 R?", "R? P0", "D?", "S?100", "C",
        "Z R?", "n R?",
      ], outside: "ut", options: [(.granularity, 5), (.granularity, 5), (.granularity, 0)],
      states: ["Sa100 P12", "Sa100 N P12", "Sa100 Sb100 P12", "Sa100 Sb100 N P12"],
      relations: [.oneObject, .oneObject, .oneObject, .twoObjects, .twoProcesses], nameCount: 2)

    /// What the library does at times of its own: sweeps, drains, the writing of what waits.
    private static let timers = Theme(
      verbs: "PPSQRDENMgIGX",
      scripts: [
        "P0", "P0 S?100", "P0 Q+100", "P0 R?", "P0 D?", "P0 E", "P1 S?100", "P0 P0 S+100", "Q?100",
        "P0 X", "P0 G", "P0 M4",
      ],
      options: [(.age, 1_000), (.granularity, 5), (.behind, 1_000), (.memory, 1)],
      states: [
        "Qa100", "Qa100 P119999", "Qa100 N P599999", "Sa100 P12 Ra", "Qa100 P60 P0", "Sa100",
      ],
      nameCount: 2)

    private static let files = Theme(
      verbs: "FFVKvSSDWaqGC", outside: "iryz", options: [(.durable, 1), (.aside, 1)],
      failures: [(.fsync, [5]), (.read, [5]), (.fstat, [5])])

    /// Files that a disk has damaged.
    private static let damage = Theme(
      verbs: "RRVFvSDIOYGCNeHE",
      scripts: [
        "R?", "V?", "F?", "I?100", "G", "C", "v", "S?100", "R? R?", "D?", "N R?", "X", "Y?",
      ],
      outside: "!!!ryz", hasOutsider: true, options: [(.aside, 1), (.behind, 1_000)],
      states: ["", "Ra", "N", "Sa100", "Sa100 N", "Sa100 Ra"],
      relations: [.oneObject, .oneObject, .twoObjects, .twoProcesses],
      failures: [(.unlinkat, [5, 13])])

    private static let fullDisk = Theme(
      verbs: "SSSAAWaqRDNG",
      scripts: [
        "S?100", "A?100", "A?100 P5 A+100", "S?100 S+100", "W?100", "A?100 S+100", "D? A?100",
        "S?100 G",
      ],
      options: [(.size, 1_000), (.behind, 1_000), (.durable, 1)],
      states: ["Sa100 N", "Sa100 Sb100 N", "Sa100 Sb100", "Sc100 N"],
      relations: [.oneObject, .oneObject, .twoObjects, .twoProcesses], nameCount: 2,
      failures: [(.write, [28]), (.write, [28]), (.linkat, [28]), (.openat, [28])],
      failsOften: true)

    /// Caches that are opened and closed, also while others have the directory.
    private static let opening = Theme(
      verbs: "CCCSRNDGXB",
      scripts: ["C", "C", "C C", "C S?100", "C R?", "S?100 C", "N", "X", "B0 C", "R?"],
      outside: "m", options: [(.behind, 1_000), (.aside, 1), (.durable, 1)],
      states: ["", "Sa100", "Sa100 N"],
      relations: [.oneObject, .twoObjects, .twoObjects, .twoExtensions, .twoProcesses],
      failures: [(.flock, [11, 11, 37]), (.openat, [24, 5]), (.inotify, [24])], failsOften: true)

    private static let directories = Theme(
      verbs: "SSSRRXDGNOBFT", outside: "m", hasOutsider: true,
      relations: [.oneObject, .oneObject, .twoObjects, .twoProcesses])

    private static let anything = Theme(
      verbs: String(Move.verbs[0].compactMap(\.first?.text.first)), nameCount: 2)
  }
#endif
