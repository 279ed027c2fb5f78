#if LARDER_SCHEDULES
  import Glibc
  import Synchronization

  @testable import Larder
  @testable import LarderBasics
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  /// A run of a schedule: the caches, the threads, and their observations.
  final class SceneRun: Sendable {
    /// An open cache object.
    enum Slot: Sendable {
      case memory(Cache<[UInt8]>)
      case disk(DiskCache)

      var disk: DiskCache {
        switch self {
        case .memory(let cache): cache.disk
        case .disk(let disk): disk
        }
      }

      // A cache with memory trims both tiers.

      func trim(toCount count: Int) throws {
        switch self {
        case .memory(let cache): try cache.trim(toCount: count)
        case .disk(let disk): try disk.trim(toCount: count)
        }
      }

      func trim(toCost cost: Int) throws {
        switch self {
        case .memory(let cache): try cache.trim(toCost: cost)
        case .disk(let disk): try disk.trim(toCost: cost)
        }
      }

      func trim(toAge age: Duration) throws {
        switch self {
        case .memory(let cache): try cache.trim(toAge: age)
        case .disk(let disk): try disk.trim(toAge: age)
        }
      }
    }

    private struct State {
      var slots: [Slot?] = []
      var processes: [Int] = []
      var clocks: [WallClock] = []
      /// Whether each thread has ended, or never will.
      var isOver: [Bool] = []
      var killed: Set<Int> = []
      var replacementCount = 0
      /// The seconds by which the wall clock of each process was set back.
      var delays: [Int64] = []
      /// The removals that each cache has told of since it was opened.
      var removals: [RemovalEvents<DiskRemovalEvent>?] = []
      var round = 0
      /// What the scene begins with.
      var saved: [SavedFile] = []
      /// The removals that the memory tier of each cache has told of since it was opened.
      var memoryRemovals: [MemoryRemovals?] = []
    }

    typealias MemoryRemovals = RemovalEvents<RemovalEvent<CacheKey, [UInt8]>>

    let scene: Scene
    let history = History()
    let path: String
    let allowance: Allowance
    /// How often the threads run, one time after the other.
    let roundCount: Int
    /// Whether every round begins with the same files.
    let isSweep: Bool
    private let state: Synchronization.Mutex<State>
    private let latch = ScheduledLock()

    init(_ scene: Scene, path: String, _ strategy: Strategy) {
      self.scene = scene
      (roundCount, isSweep) = (strategy.roundCount, strategy.isSweep)
      self.path = path
      allowance = Allowance(scene)
      var state = State()
      state.slots = Array(repeating: nil, count: scene.caches.count)
      state.isOver = scene.threads.map(\.isFirst)
      state.removals = Array(repeating: nil, count: scene.caches.count)
      state.memoryRemovals = Array(repeating: nil, count: scene.caches.count)
      state.delays = Array(repeating: 0, count: (scene.caches.map(\.process).max() ?? 0) + 1)
      self.state = Synchronization.Mutex(state)
    }

    var processCount: Int { (scene.caches.map(\.process).max() ?? 0) + 1 }
    func processNumber(_ process: Int) -> Int { state.withLock { $0.processes[process] } }
    var killed: Set<Int> { state.withLock { $0.killed } }
    func slot(_ cache: Int) -> Slot? { state.withLock { $0.slots[cache] } }

    /// Runs the first thread, which directs the schedule.
    func direct() {
      Scheduler.setQuiet(true)
      mkdir(path, 0o700)
      let processes = (0..<processCount).map { _ in Scheduler.makeProcess() }
      let clocks = processes.indices.map { process in
        WallClock {
          ScheduledFiles.wallTime.adding(seconds: -self.state.withLock { $0.delays[process] })
        }
      }
      state.withLock { state in
        state.processes = processes
        state.clocks = clocks
      }
      prepare()
      for cache in scene.caches.indices { inProcess(of: cache) { open(cache) } }
      for round in 0..<roundCount {
        if isSweep, round > 0 { beginAnew() }
        run(round)
        if round < roundCount - 1 { judgeRound() }
      }
      rest()
    }

    private func run(_ round: Int) {
      begin(round)
      for failure in scene.failures {
        Scheduler.plan(
          failure.errno, for: failure.call, at: failure.n, count: failure.count,
          process: processNumber(failure.process))
      }
      Scheduler.setQuiet(false)
      if roundCount > 1 { Scheduler.beginRound() }
      for thread in scene.threads.indices where !scene.threads[thread].isFirst { start(thread) }
      waitForThreads()
      // The threads of the library still interrupt each other.
      Scheduler.sleep(milliseconds: roundCount > 1 && !isSweep ? 60 : 20)
      Scheduler.setQuiet(true)
      Scheduler.forgetFailures()
    }

    /// Runs the operations that come before all others.
    private func begin(_ round: Int) {
      state.withLock { state in
        state.round = round
        state.isOver = scene.threads.map(\.isFirst)
      }
      if round > 0, !isSweep { inProcess(of: 0) { storeAgain(round) } }
      for (number, thread) in scene.threads.enumerated() where thread.isFirst {
        if let cache = thread.cache {
          inProcess(of: cache) { performAll(of: number) }
        } else {
          performAll(of: number)
        }
      }
    }

    /// Closes all caches, and opens them on the files that the scene begins with.
    private func beginAnew() {
      for cache in scene.caches.indices { inProcess(of: cache) { close(cache) } }
      for cache in scene.caches.indices { inProcess(of: cache) { release(cache) } }
      Scheduler.sleep(milliseconds: 100)
      for name in RawFiles.names(in: path) where name != "CACHEDIR.TAG" {
        unlink("\(path)/\(name)")
      }
      for name in scene.names { unlink(movedPath(name)) }
      history.beginRound()
      let saved = state.withLock { $0.saved }
      for file in saved {
        let call = history.begin(
          Scene.Operation(verb: .store, name: file.name, number: 100), thread: "before",
          process: -1, cache: nil, value: file.value)
        file.restore()
        history.end(call, .stored)
      }
      for cache in scene.caches.indices { inProcess(of: cache) { open(cache) } }
    }

    /// Stores the initial values in an earlier process.
    private func prepare() {
      guard !scene.initial.isEmpty || scene.caches.contains(where: { $0.mode.isReadOnly }) else {
        return
      }
      Scheduler.enter(process: Scheduler.makeProcess())
      defer { Scheduler.enter(process: 0) }
      var configuration = DiskCache.Configuration(sizeLimit: nil)
      configuration.coherence = .none
      configuration.fileExtension = scene.caches.first?.options[.ext].map { "e\($0)" }
      attempt("preparing") {
        let cache = try DiskCache(directory: path, configuration: configuration)
        for (index, name) in scene.initial.enumerated() {
          let operation = Scene.Operation(verb: .store, name: name, number: 100)
          let call = history.begin(
            operation, thread: "before", process: -1, cache: nil, value: 9_001 + index)
          try cache.store(SceneValue.bytes(9_001 + index, count: 100), forKey: SceneValue.key(name))
          history.end(call, .stored)
        }
        try cache.close()
        if isSweep { save() }
      }
      Scheduler.sleep(milliseconds: 100)
    }

    /// Keeps what an earlier process has left, for the next rounds.
    private func save() {
      let ext = scene.caches.first?.options[.ext]
      let saved = scene.initial.enumerated().map { index, name in
        SavedFile("\(path)/\(SceneValue.fileName(name, ext: ext))", name, value: 9_001 + index)
      }
      state.withLock { $0.saved = saved }
    }

    func attempt(_ what: String, _ body: () throws -> Void) {
      do {
        try body()
      } catch {
        // If calls are made to fail, any error is allowed.
        if !scene.failures.isEmpty { return }
        history.report("\(what) failed: \(error)")
      }
    }

    /// Runs a body in the process of a cache.
    func inProcess<Result>(of cache: Int, _ body: () -> Result) -> Result {
      Scheduler.enter(process: processNumber(scene.caches[cache].process))
      defer { Scheduler.enter(process: 0) }
      return body()
    }

    /// Opens a cache in the process of the calling thread.
    func open(_ cache: Int) {
      let spec = scene.caches[cache]
      let clock = state.withLock { $0.clocks[spec.process] }
      var configuration = spec.configuration(clock)
      if scene.failures.contains(where: { $0.process == spec.process }) {
        configuration.disk.faults = FaultInjector()
      }
      attempt("opening") { setSlot(try openSlot(spec, configuration), cache) }
    }

    /// Opens a cache. One that only reads makes no directory, and opens again if an outsider has
    /// moved the directory away and was about to make another.
    private func openSlot(
      _ spec: Scene.CacheSpec, _ configuration: CacheConfiguration
    ) throws(CacheError) -> Slot {
      while true {
        let earlier = replacementCalls.count { $0.end != .max }
        do throws(CacheError) {
          if spec.isDisk {
            return .disk(try DiskCache(directory: path, configuration: configuration.disk))
          }
          return .memory(try Cache(directory: path, coder: .bytes, configuration: configuration))
        } catch  where error.code == .directoryMissing {
          guard spec.mode.isReadOnly, replacementCalls.count > earlier else { throw error }
          Scheduler.sleep(milliseconds: 1)
        }
      }
    }

    private var replacementCalls: [Call] {
      history.calls.filter { $0.operation.verb == .replace }
    }

    /// Puts an object into a cache's place, and listens to what it removes. Both are one step,
    /// because two threads that open the cache at once must not listen to each other's object.
    private func setSlot(_ slot: Slot, _ cache: Int) {
      let removals = slot.disk.removals(bufferingNewest: 1_000)
      var memoryRemovals: MemoryRemovals?
      if case .memory(let front) = slot {
        memoryRemovals = front.memory.removals(bufferingNewest: 1_000)
      }
      // What was there before is released outside of the lock.
      let old = state.withLock { [memoryRemovals] state in
        let old = (state.slots[cache], state.removals[cache], state.memoryRemovals[cache])
        state.slots[cache] = slot
        state.removals[cache] = removals
        state.memoryRemovals[cache] = memoryRemovals
        return old
      }
      withExtendedLifetime(old) {}
    }

    /// Takes the removals that a cache's memory tier tells of.
    func takeMemoryRemovals(_ cache: Int) -> MemoryRemovals? {
      state.withLock { state in
        defer { state.memoryRemovals[cache] = nil }
        return state.memoryRemovals[cache]
      }
    }

    /// Takes the removals that a cache tells of.
    func takeRemovals(_ cache: Int) -> RemovalEvents<DiskRemovalEvent>? {
      state.withLock { state in
        defer { state.removals[cache] = nil }
        return state.removals[cache]
      }
    }

    /// Sets the wall clock of a process back by an hour.
    func stepBack(_ process: Int) { state.withLock { $0.delays[process] += 3_600 } }

    func release(_ cache: Int) {
      // The cache is released outside of the lock.
      let old = state.withLock { state in
        defer { state.slots[cache] = nil }
        return state.slots[cache]
      }
      withExtendedLifetime(old) {}
    }

    private func start(_ thread: Int) {
      let spec = scene.threads[thread]
      let process = spec.cache.map { processNumber(scene.caches[$0].process) }
      Scheduler.spawn("t\(thread)", process: process ?? 0) {
        self.performAll(of: thread)
        self.end(thread)
      }
    }

    private func performAll(of thread: Int) {
      let first = state.withLock { $0.round } * 10_000 + thread * 100 + 1
      for (index, operation) in scene.threads[thread].operations.enumerated() {
        perform(operation, thread: thread, value: first + index)
      }
    }

    private func end(_ thread: Int) {
      let isLast = state.withLock { state in
        state.isOver[thread] = true
        return !state.isOver.contains(false)
      }
      if isLast { Scheduler.wake(ObjectIdentifier(latch)) }
    }

    private func waitForThreads() {
      while state.withLock({ $0.isOver.contains(false) }) {
        Scheduler.wait(for: ObjectIdentifier(latch), "the scene's threads", until: nil)
      }
    }

    /// Ends a process as SIGKILL does.
    func kill(_ process: Int) {
      let caches = scene.caches.indices.filter { scene.caches[$0].process == process }
      Scheduler.kill(process: processNumber(process))
      let slots = state.withLock { state in
        state.killed.insert(process)
        for (index, thread) in scene.threads.enumerated()
        where thread.cache.map(caches.contains) ?? false {
          state.isOver[index] = true
        }
        defer { for cache in caches { state.slots[cache] = nil } }
        return caches.compactMap { state.slots[$0] }
      }
      // Retained, because objects of a killed process must not be released in its neighbours.
      for slot in slots {
        switch slot {
        case .memory(let cache): _ = unsafe Unmanaged.passRetained(cache)
        case .disk(let cache): _ = unsafe Unmanaged.passRetained(cache)
        }
      }
      if !state.withLock({ $0.isOver.contains(false) }) {
        Scheduler.wake(ObjectIdentifier(latch))
      }
    }

    /// Returns a path beside the directory, for a replaced one.
    func nextAside() -> String {
      state.withLock { state in
        state.replacementCount += 1
        return "\(path)-old\(state.replacementCount)"
      }
    }

    /// Returns the path at which an outsider keeps the file of a name that was moved away.
    func movedPath(_ name: Character) -> String { "\(path)-moved-\(name)" }

    /// Removes the files of the schedule.
    func clean() {
      let count = state.withLock { $0.replacementCount }
      for number in 1..<count + 1 { unlink("\(path)-old\(number).link") }
      for name in scene.names { unlink(movedPath(name)) }
      for directory in [path] + (1..<count + 1).map({ "\(path)-old\($0)" }) {
        RawFiles.removeDirectory(directory)
      }
    }
  }

  extension Scene.CacheSpec {
    /// Made once, because its limits are read from files of the kernel.
    private static let defaults = CacheConfiguration()

    func configuration(_ clock: WallClock) -> CacheConfiguration {
      var all = Self.defaults
      all.memoryCountLimit = options[.memory]
      all.memoryCostLimit = nil
      all.disk.mode = mode
      all.disk.coherence = coherence
      all.disk.clock = clock
      all.disk.extending = .lifetime
      all.disk.sizeLimit = options[.size]
      all.disk.countLimit = options[.count]
      // The scenes count values alone, most of them of 100 bytes, with keys of one byte.
      all.disk.writeBehindLimit = options[.behind].map {
        $0 + max(1, $0 / 100) * Backlog.cost(of: 0, "k", [])
      }
      if let granularity = options[.granularity] {
        all.disk.recencyGranularity = .milliseconds(granularity)
      }
      if options[.shared] == 1 { all.singleFlight = .directory }
      if let turn = options[.turn] { all.disk.longestTurn = .milliseconds(turn) }
      if options[.aside] == 1 { all.disk.watchAsideByteCount = 0 }
      if options[.durable] == 1 { all.disk.durability = .durable }
      if let target = options[.target] { all.disk.trimTarget = Double(target) / 100 }
      if let admit = options[.admit] { all.disk.shouldStore = { _, count in count <= admit } }
      if let ext = options[.ext] { all.disk.fileExtension = "e\(ext)" }
      all.disk.freeSpaceLimit = options[.free]
      all.disk.ageLimit = options[.age].map { .milliseconds($0) }
      return all
    }
  }
#endif
