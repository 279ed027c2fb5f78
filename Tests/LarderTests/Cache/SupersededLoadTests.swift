import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// Loads whose key is stored or removed before they end.
@Suite(.watched)
struct `Superseded loads` {
  let scene: DiskScene

  struct Failure: Error {}

  /// A reason for which the value of a load is not stored.
  enum Obstacle: String, Sendable, CaseIterable {
    case coderThrows, declined, tooLarge, expired, diskFull

    func apply(to configuration: inout CacheConfiguration) {
      switch self {
      case .declined: configuration.disk.shouldStore = { _, count in count < 8 }
      case .tooLarge: configuration.disk.sizeLimit = 8
      case .coderThrows, .expired, .diskFull: break
      }
    }

    var expiration: Expiration? { self == .expired ? .date(Timestamp(seconds: 1)) : nil }
  }

  private static let coder = Coder<String>(
    encode: { value in
      if value == "not encodable" { throw Failure() }
      return Array(value.utf8)
    }, decode: { String(decoding: $0, as: UTF8.self) })

  init() throws {
    scene = try DiskScene()
  }
}

extension `Superseded loads` {
  private func open(
    _ change: (inout CacheConfiguration) -> Void = { _ in }
  ) throws -> Cache<String> {
    try scene.open(Self.coder, change)
  }

  @Test func `one that hangs is given up with its own callers, and later ones load`() async throws {
    let cache = try open()
    let (begun, gate) = (AsyncGate(), AsyncGate())
    let early = Task {
      try await cache.value(forKey: "key") {
        begun.open()
        await gate.wait()
        return "old"
      }
    }
    await begun.wait()
    try await cache.remove(forKey: "key")
    let late = (1...3).map { _ in Task { try await cache.value(forKey: "key") { "new" } } }
    try await eventually("all to wait") { () async in cache.flights.waiterCount == 4 }
    early.cancel()
    for task in late { #expect(try await task.value == "new") }
    await #expect(throws: CancellationError.self) { try await early.value }
    gate.open()
    #expect(try await cache.value(forKey: "key") == "new")
  }

  @Test(arguments: Obstacle.allCases, [nil, 1 << 20])
  func `a load that cannot be stored leaves what was stored since it began`(
    obstacle: Obstacle, writeBehindLimit: Int?
  ) async throws {
    let cache = try open {
      obstacle.apply(to: &$0)
      $0.disk.writeBehindLimit = writeBehindLimit
    }
    let scene = scene
    let value = try await cache.value(forKey: "key", expiration: obstacle.expiration) {
      try cache.storeNow("newer", forKey: "key")
      try cache.flushNow()
      if obstacle == .diskFull {
        scene.faults.plan(.errno(.noSpace), for: .write, onwards: true)
      }
      return obstacle == .coderThrows ? "not encodable" : "loaded value"
    }
    #expect(value.count > 10)
    scene.faults.reset()
    #expect(try await cache.value(forKey: "key") == "newer")
    #expect(try await cache.tier(forKey: "key") == .memory)
    let left = try await cache.disk.value(forKey: "key")
    // A full disk evicts what there is, with write-behind later.
    #expect(left == Array("newer".utf8) || obstacle == .diskFull && left == nil)
  }

  @Test func `stamping a file that records no key supersedes the loads of its name alone`()
    async throws
  {
    let cache = try open()
    try scene.plant(Array("a".utf8), named: scene.name("a").text)
    try await cache.store("b", forKey: "b")
    for key in ["a", "b"] { #expect(try await cache.value(forKey: key) == key) }
    let outcomes = Shared<[StampOutcome]>([])
    let stamp: @Sendable () throws -> Void = { [scene] in
      let outcome = try cache.disk.stamp(scene.name("a").text)
      outcomes.change { $0.append(outcome) }
    }
    _ = try await cache.value(forKey: "c") {
      try stamp()
      return "c"
    }
    for key in ["b", "c"] { #expect(try await cache.tier(forKey: key) == .memory) }
    #expect(try await cache.tier(forKey: "a") == .disk)
    _ = try await cache.value(forKey: "a", options: .reload) {
      try stamp()
      return "new"
    }
    #expect(outcomes.value.count == 2 && !outcomes.value.contains(.absent))
    #expect(try await cache.value(forKey: "a") == "a")
  }

  @Test func `a load is not stored beside a removal of everything that began while it was`()
    async throws
  {
    let cache = try open()
    // The load holds its name and has been judged, and has no file yet that the removal could find.
    let progress = Shared<RemovalProgress?>(nil)
    let removal: @Sendable () -> Void = {
      do {
        progress.value = try cache.removeAllInBackground()
      } catch {
        Issue.record(error)
      }
    }
    scene.faults.plan(.before(removal), for: .linkat, at: 1)
    #expect(try await cache.value(forKey: "key") { "loaded" } == "loaded")
    #expect(scene.faults.struckCount == 1)
    #expect(try await cache.value(forKey: "key") == nil)
    try progress.value?.wait()
    #expect(try scene.names.isEmpty)
    try scene.expectConsistent(cache.disk)
  }

  /// Removes everything when it is told that a value is about to be stored.
  private final class Remover: EngineObserver {
    let disk: DiskCache
    let progress = Shared<RemovalProgress?>(nil)

    init(_ disk: DiskCache) { self.disk = disk }

    func hear(of change: DiskChange) {
      guard case .entryWillChange = change else { return }
      do {
        progress.value = try disk.removeAllInBackground()
      } catch {
        Issue.record(error)
      }
    }
  }

  /// Calls a closure when it is told that a value was replaced or removed.
  private final class Listener: EngineObserver {
    let onChange: @Sendable () -> Void

    init(_ onChange: @escaping @Sendable () -> Void) { self.onChange = onChange }

    func hear(of change: DiskChange) {
      if case .entryChanged = change { onChange() }
    }
  }

  @Test func `a load is stored that began after a value which could not be written`() async throws {
    let (cache, scene) = (try open { $0.disk.writeBehindLimit = 1000 }, scene)
    scene.faults.plan(.errno(.ioError), for: .write, onwards: true)
    try await cache.store("lost", forKey: "key")
    _ = try await cache.value(forKey: "key", options: .reload) {
      #expect(throws: CacheError.self) { try cache.flushNow() }
      scene.faults.reset()
      return "loaded"
    }
    #expect(try await cache.disk.value(forKey: "key") != nil)
    #expect(cache.statistics.loads.unstored == 0)
  }

  @Test(arguments: Obstacle.allCases)
  func `a caller that comes while a loaded value is refused gets it without another load`(
    obstacle: Obstacle
  ) async throws {
    let cache = try open { obstacle.apply(to: &$0) }
    let later = Shared<Task<String, any Error>?>(nil)
    let listener = Listener {
      guard later.value == nil else { return }
      later.value = Task { try await cache.value(forKey: "key") { "second" } }
      do {
        try eventually("a second caller") { cache.flights.waiterCount == 2 }
      } catch {
        Issue.record(error)
      }
    }
    cache.disk.engine.observers.add(listener)
    if obstacle == .diskFull {
      scene.faults.plan(.errno(.noSpace), for: .write, onwards: true)
    }
    let value = try await cache.value(forKey: "key", expiration: obstacle.expiration) {
      obstacle == .coderThrows ? "not encodable" : "loaded value"
    }
    cache.disk.engine.observers.remove(ObjectIdentifier(listener))
    #expect(try await later.value?.value == value)
    #expect(cache.statistics.loads.started == 1)
  }

  @Test func `a load is not stored behind a removal of everything that ran while it was accepted`()
    async throws
  {
    let cache = try open { $0.disk.writeBehindLimit = 1000 }
    let remover = Remover(cache.disk)
    cache.disk.engine.observers.add(remover)
    #expect(try await cache.value(forKey: "key") { "loaded" } == "loaded")
    cache.disk.engine.observers.remove(ObjectIdentifier(remover))
    #expect(try await cache.value(forKey: "key") == nil)
    try remover.progress.value?.wait()
    try await cache.flush()
    #expect(try scene.names.isEmpty)
    try scene.expectConsistent(cache.disk)
  }

  @Test(arguments: [false, true])
  func `a load is not stored after a file that records no key was chosen to be removed`(
    isVariant: Bool
  ) async throws {
    let cache = try open { $0.disk.recordKeys = .never }
    try await cache.store("older", forKey: "key")
    let value = try await cache.value(forKey: "key", options: .reload) {
      let removal =
        isVariant
        ? try await cache.removeVariants(of: "key") : try await cache.removeAll { _ in true }
      #expect(removal.removed == 1)
      return "loaded"
    }
    #expect(value == "loaded")
    #expect(try await cache.value(forKey: "key") == nil)
    #expect(try scene.names.isEmpty)
  }

  @Test func `a load of a file begins anew after its expired file was chosen to be removed`()
    async throws
  {
    let cache = try open {
      $0.disk.recordKeys = .never
      $0.disk.expiredGrace = .seconds(60)
    }
    try await cache.store("older", forKey: "key", expiration: .seconds(10))
    scene.clock.advance(by: .seconds(20))
    let loads = Counter()
    let byteCount = try await cache.withFile(forKey: "key") {
      $0.byteCount
    } orStore: { writer in
      loads.add()
      try await writer.write([UInt8](repeating: 7, count: loads.value))
      if loads.value == 1 { _ = try await cache.removeAll { _ in true } }
    }
    #expect(loads.value == 2 && byteCount == 2)
  }

  @Test func `a load of a variant is not stored after all variants were removed`() async throws {
    let cache = try open()
    let (variant, other) = (CacheKey("key", variant: "de"), CacheKey("key2"))
    let value = try await cache.value(forKey: variant) {
      try await cache.value(forKey: other) {
        let removal = try await cache.removeVariants(of: "key")
        #expect(removal.removed == 0)
        return "loaded"
      }
    }
    #expect(value == "loaded")
    #expect(try await cache.value(forKey: variant) == nil)
    #expect(try await cache.value(forKey: other) == "loaded")
  }

  @Test func `a removal of variants forgets the errors of their loads`() async throws {
    struct Failure: Error {}
    let cache = try open()
    for key in [CacheKey("key"), CacheKey("key", variant: "de")] {
      await #expect(throws: Failure.self) {
        try await cache.value(forKey: key) { throw Failure() }
      }
      try await cache.removeVariants(of: "key")
      #expect(try await cache.value(forKey: key) { "loaded" } == "loaded")
    }
  }

  @Test func `a load that its last caller gave up counts as running until it is stored`()
    async throws
  {
    let (cache, scene, caller) = (try open(), scene, Shared<Task<String, any Error>?>(nil))
    let (variant, running) = (CacheKey("key", variant: "de"), Shared<[CacheKey]>([]))
    // A removal of variants would wait for its name, or the value would come after it.
    let givingUp: @Sendable () -> Void = {
      do {
        try eventually("the caller's task") { caller.value != nil }
        caller.value?.cancel()
        try eventually("the caller to leave") { cache.flights.waiterCount == 0 }
      } catch {
        Issue.record(error)
      }
      running.value = cache.supersedeLoads { _ in true }.map(\.key)
    }
    scene.faults.plan(.before(givingUp), for: .linkat)
    caller.value = Task { try await cache.value(forKey: variant) { "loaded" } }
    await #expect(throws: CancellationError.self) { try await caller.value?.value }
    try await eventually("the load to end") { () async in cache.flights.keys.isEmpty }
    #expect(scene.faults.struckCount == 1)
    #expect(running.value == [variant])
  }

  @Test func `who asks after a removal of everything waits for a load that began after it`()
    async throws
  {
    let (cache, scene, later) = (try open(), scene, Shared<Task<String, any Error>?>(nil))
    // The index has the value by then, and the load has not been told.
    let removal: @Sendable () -> Void = {
      do {
        _ = try cache.removeAllInBackground()
        later.value = Task { try await cache.value(forKey: "key") { "newer" } }
        try eventually("a second caller") { cache.flights.waiterCount == 2 }
      } catch {
        Issue.record(error)
      }
    }
    // News that the storing thread looks at as soon as the index has its value.
    let news: @Sendable () -> Void = {
      cache.disk.engine.lookAgain(at: DiskScene.name(of: Array("key".utf8)))
      scene.faults.plan(.before(removal), for: .fstatat)
    }
    scene.faults.plan(.before(news), for: .linkat)
    #expect(try await cache.value(forKey: "key") { "older" } == "older")
    #expect(scene.faults.struckCount == 2)
    #expect(try await later.value?.value == "newer")
    #expect(try await cache.value(forKey: "key") == "newer")
  }

  @Test(arguments: Obstacle.allCases)
  func `a refresh that cannot be stored removes the older value`(obstacle: Obstacle) async throws {
    let cache = try open {
      obstacle.apply(to: &$0)
      $0.disk.expiredGrace = .seconds(60)
    }
    try await cache.store("older", forKey: "key", expiration: .seconds(10))
    scene.clock.advance(by: .seconds(20))
    if obstacle == .diskFull { scene.faults.plan(.errno(.noSpace), for: .write, onwards: true) }
    let value = try await cache.value(forKey: "key", expiration: obstacle.expiration) {
      obstacle == .coderThrows ? "not encodable" : "loaded value"
    }
    #expect(value.count > 10)
    scene.faults.reset()
    #expect(try scene.names == [])
  }

  @Test(arguments: [false, true])
  func `the failure of a load does not outlast a later store or removal`(
    isStored: Bool
  ) async throws {
    let cache = try open()
    let options = LoadOptions.keepingFailures(for: .seconds(600))
    await #expect(throws: Failure.self) {
      try await cache.value(forKey: "key", options: options) {
        if isStored { try cache.storeNow("newer", forKey: "key") }
        _ = try await cache.remove(forKey: "key")
        throw Failure()
      }
    }
    #expect(try await cache.value(forKey: "key", options: options) { "fresh" } == "fresh")
  }
}

extension Cache {
  /// Flushes synchronously, under a name that an asynchronous context does not overload.
  func flushNow() throws { try flush() }
}
