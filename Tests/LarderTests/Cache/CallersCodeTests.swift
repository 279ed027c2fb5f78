import Glibc
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// Code of the caller's that a cache calls or releases.
private enum CallersCode: CaseIterable, Sendable {
  case deinitialiser, errorDeinitialiser, clock, encoder, decoder, hook
}

/// Runs as the caller's code of one kind and uses the cache for the key that is being changed.
private final class Caller: Sendable {
  private struct State {
    var armed: CallersCode?
    var isInside = false
    var cache: Cache<Page>?
  }

  private let state = Mutex(State())
  let runs = Counter()

  func arm(_ code: CallersCode, _ cache: Cache<Page>) {
    state.withLock { ($0.armed, $0.cache) = (code, cache) }
  }

  func disarm() {
    let cache = state.withLock { state in
      defer { state = State() }
      return state.cache
    }
    withExtendedLifetime(cache) {}
  }

  /// Not again from within, because it makes values and reads the clock itself.
  func run(_ code: CallersCode) {
    let cache = state.withLock { state -> Cache<Page>? in
      guard state.armed == code, !state.isInside else { return nil }
      state.isInside = true
      return state.cache
    }
    guard let cache else { return }
    runs.add()
    _ = cache.memory.value(forKey: "k")
    _ = try? cache.contains("k")
    _ = try? cache.value(forKey: "k")
    _ = try? cache.remove(forKey: "k")
    _ = try? cache.store(Page([9], self), forKey: "k")
    _ = try? cache.disk.store([9], forKey: "k")
    _ = cache.statistics
    state.withLock { $0.isInside = false }
  }
}

/// A value whose end runs the caller's code.
private final class Page: Sendable {
  let bytes: [UInt8]
  private let caller: Caller

  init(_ bytes: [UInt8], _ caller: Caller) { (self.bytes, self.caller) = (bytes, caller) }

  deinit { caller.run(.deinitialiser) }
}

/// An error of a load whose end runs the caller's code.
private final class PageError: Error {
  private let caller: Caller

  init(_ caller: Caller) { self.caller = caller }

  deinit { caller.run(.errorDeinitialiser) }
}

private struct Operation: Sendable, CustomTestStringConvertible {
  let name: String
  let run: @Sendable (Cache<Page>, Caller) async throws -> Void
  var testDescription: String { name }

  init(_ name: String, _ run: @escaping @Sendable (Cache<Page>, Caller) async throws -> Void) {
    (self.name, self.run) = (name, run)
  }

  static let all = [
    Operation("store") { try $0.storeNow([2], $1) },
    Operation("store without expiry") { try $0.storeNow([2], $1, .never) },
    Operation("a store that is rejected") { try $0.storeNow([], $1, .expired) },
    Operation("a store that the hook declines") { try $0.storeNow([0], $1) },
    Operation("a store that fails") { cache, caller in
      #expect(throws: CacheError.self) { try cache.storeNow([255], caller) }
    },
    Operation("store of another key, which evicts this one") { cache, caller in
      for number in 0..<4 {
        _ = try await cache.store(Page([2], caller), forKey: "other \(number)")
      }
    },
    Operation("store in pieces") { cache, _ in
      try await cache.disk.store(forKey: "k") { try $0.write([3]) }
    },
    Operation("storeIfAbsent") { cache, _ in try await cache.disk.storeIfAbsent([3], forKey: "k") },
    Operation("store on the disk tier") { cache, _ in
      try await cache.disk.store([3], forKey: "k")
    },
    Operation("remove") { cache, _ in try await cache.remove(forKey: "k") },
    Operation("removeValue") { cache, _ in _ = try await cache.disk.removeValue(forKey: "k") },
    Operation("removeAll") { cache, _ in try await cache.removeAll() },
    Operation("removeAll(where:)") { cache, _ in
      _ = try await cache.removeAll { _ in true }
    },
    Operation("removeVariants") { cache, _ in _ = try await cache.removeVariants(of: "k") },
    Operation("removeExpired") { cache, _ in try await cache.removeExpired() },
    Operation("trim") { cache, _ in try await cache.disk.trim(toCount: 0) },
    Operation("touch") { cache, _ in
      _ = try await cache.disk.touch(forKey: "k", expiration: .seconds(9))
    },
    Operation("value") { cache, _ in _ = try await cache.value(forKey: "k") },
    Operation("value from disk") { cache, _ in
      cache.memory.removeAll()
      _ = try await cache.value(forKey: "k")
    },
    Operation("a load") { cache, caller in
      try await cache.remove(forKey: "k")
      _ = try await cache.value(forKey: "k") { Page([4], caller) }
    },
    Operation("a forced load") { cache, caller in
      _ = try await cache.value(forKey: "k", options: .reload) { _ in .value(Page([4], caller)) }
    },
    Operation("a load that renews") { cache, _ in
      // It throws if the code has removed the value before.
      _ = try? await cache.value(forKey: "k", options: .reload) { _ in .notModified() }
    },
    Operation("a load that keeps nothing") { cache, caller in
      _ = try await cache.value(forKey: "k", options: .reload) { _ in .notKept(Page([4], caller)) }
    },
    Operation("a load into memory alone") { cache, caller in
      _ = try await cache.value(forKey: "k", options: [.reload, .memoryOnly]) { _ in
        .value(Page([4], caller))
      }
    },
    Operation("a load that fails, and a store after it") { cache, caller in
      try await cache.remove(forKey: "k")
      var options = LoadOptions()
      options.failureLifetime = .seconds(60)
      _ = try? await cache.value(forKey: "k", options: options) { _ -> Loaded<Page> in
        throw PageError(caller)
      }
      _ = try await cache.store(Page([5], caller), forKey: "k")
    },
    Operation("a load that fails, and a removal of all") { cache, caller in
      try await cache.remove(forKey: "k")
      var options = LoadOptions()
      options.failureLifetime = .seconds(60)
      _ = try? await cache.value(forKey: "k", options: options) { _ -> Loaded<Page> in
        throw PageError(caller)
      }
      try await cache.removeAll()
    },
    Operation("flush") { cache, _ in try await cache.flush() },
    Operation("close") { cache, _ in try await cache.close() },
  ]
}

extension Cache<Page> {
  fileprivate func storeNow(
    _ bytes: [UInt8], _ caller: Caller, _ expiration: Expiration? = nil
  ) throws {
    try store(Page(bytes, caller), forKey: "k", expiration: expiration)
  }
}

private struct Unencodable: Error {}

@Suite(.watched)
struct `Code of the caller's` {
  private static func cache(
    in scene: DiskScene, for caller: Caller, _ change: (inout CacheConfiguration) -> Void = { _ in }
  ) throws -> Cache<Page> {
    let coder = Coder<Page>(
      encode: { page in
        caller.run(.encoder)
        if page.bytes == [255] { throw Unencodable() }
        return page.bytes
      },
      decode: { bytes in
        caller.run(.decoder)
        return Page(bytes, caller)
      })
    let clock = scene.clock
    return try scene.open(coder) { configuration in
      configuration.memoryCountLimit = 2
      configuration.disk.clock = WallClock {
        caller.run(.clock)
        return clock.now
      }
      configuration.disk.shouldStore = { key, byteCount in
        caller.run(.hook)
        return byteCount > 0
      }
      change(&configuration)
    }
  }

  @Test(arguments: Operation.all, [nil, 1 << 20])
  private func `may use the cache for the key that is being changed`(
    operation: Operation, writeBehindLimit: Int?
  ) async throws {
    for code in CallersCode.allCases {
      let (scene, caller) = (try DiskScene(), Caller())
      let cache = try Self.cache(in: scene, for: caller) {
        $0.disk.writeBehindLimit = writeBehindLimit
      }
      try cache.storeNow([1], caller)
      caller.arm(code, cache)
      try await operation.run(cache, caller)
      caller.disarm()
      try await cache.close()
    }
  }

  @Test func `runs where a store replaces a value, without the name`() throws {
    for code in CallersCode.allCases where code != .errorDeinitialiser && code != .decoder {
      let (scene, caller) = (try DiskScene(), Caller())
      let cache = try Self.cache(in: scene, for: caller)
      try cache.storeNow([1], caller)
      caller.arm(code, cache)
      try cache.storeNow([2], caller)
      #expect(caller.runs.value > 0, "\(code)")
      caller.disarm()
      try cache.close()
    }
  }

  @Test func `may store behind while it reads the time of a store that fills the backlog`() throws {
    let (scene, caller) = (try DiskScene(), Caller())
    let cache = try Self.cache(in: scene, for: caller) {
      $0.disk.writeBehindLimit = Backlog.cost(of: 1, "k", [])
    }
    caller.arm(.clock, cache)
    try cache.storeNow([1], caller)
    #expect(caller.runs.value > 0)
    caller.disarm()
    try cache.close()
  }

  @Test func `a clock may open another directory while a cache is being opened`() throws {
    let (scene, other, opened) = (try DiskScene(), try DiskScene(), Counter())
    let clock = scene.clock
    let cache = try scene.open {
      $0.clock = WallClock {
        if opened.value == 0 {
          opened.add()
          do { try other.open().close() } catch { Issue.record(error) }
        }
        return clock.now
      }
    }
    #expect(opened.value == 1)
    try cache.close()
  }

  @Test func `a value leaves when the change of a name by another object is over`() throws {
    let (scene, caller) = (try DiskScene(), Caller())
    let cache = try Self.cache(in: scene, for: caller)
    try cache.storeNow([1], caller)
    let name = cache.disk.subject("k").name
    let engine = cache.disk.engine
    caller.arm(.deinitialiser, cache)
    engine.changing(name) {
      cache.entryChanged(cache.disk.subject("k"))
      #expect(cache.memory.count == 0 && caller.runs.value == 0)
    }
    engine.observers.letGo()
    #expect(caller.runs.value > 0)
    caller.disarm()
    try cache.close()
  }

  @Test func `a cache that ends while it is told of a change releases values elsewhere`() throws {
    let (scene, caller, heard) = (try DiskScene(), Caller(), Happening())
    let other = try Self.cache(in: scene, for: caller)
    let engine = other.disk.engine
    let ended = Shared<[Bool]>([])
    final class Held: Sendable {
      let onEnd: @Sendable () -> Void
      init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
      deinit { onEnd() }
    }
    let coder = Coder<Held>(encode: { _ in [1] }, decode: { _ in Held {} })
    let last = Shared<Cache<Held>?>(
      try scene.open(coder) { $0.disk = other.disk.configuration })
    let thread = ThreadIdentity.current
    try last.value?.store(
      Held {
        let isHere = ThreadIdentity.current == thread
        ended.change { $0.append(isHere) }
        heard.tell()
      }, forKey: "other")
    engine.observers.tell { _ in last.value = nil }
    #expect(heard.wait { ended.value == [false] })
    try other.close()
  }
}

@Suite(.watched)
struct `A process without threads` {
  /// Gives threads stacks that no process can have, so that none can be started.
  private static func refuseThreads() {
    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    unsafe pthread_attr_init(attributes)
    unsafe pthread_attr_setstacksize(attributes, 1 << 47)
    typealias SetDefault = @convention(c) (UnsafePointer<pthread_attr_t>) -> Int32
    guard let symbol = unsafe dlsym(nil, "pthread_setattr_default_np") else { return }
    _ = unsafe unsafeBitCast(symbol, to: SetDefault.self)(attributes)
  }

  @Test func `runs a job once the name is free that the caller holds`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      let cache = try scene.open()
      let (engine, name, ran) = (cache.engine, cache.subject("k").name, Counter())
      Self.refuseThreads()
      engine.runAside { engine.changing(name) { ran.add() } }
      #expect(ran.value == 1)
      engine.changing(name) {
        engine.runAside { engine.changing(name) { ran.add() } }
        // A job with a delay runs nothing here either.
        engine.planDrain(within: .seconds(3600))
        #expect(ran.value == 1)
      }
      #expect(ran.value == 2)
      try cache.close()
    }
  }
}
