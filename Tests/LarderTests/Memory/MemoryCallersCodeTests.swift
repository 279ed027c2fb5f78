import Testing

@testable import Larder
@testable import LarderMemory
@testable import LarderSystem

/// Code of the caller's that a memory cache calls or releases, and that uses the cache itself.
///
/// Only `==` and `hash(into:)` of the keys may not: `==` is called under the lock.
@Suite(.watched)
struct `Code of the caller's in a memory cache` {}

extension `Code of the caller's in a memory cache` {
  private enum Code: CaseIterable, Sendable {
    case cost, listener, clock, valueDeinitialiser, keyDeinitialiser
  }

  private final class Caller: Sendable {
    private let armed = Shared<Code?>(nil)
    private let cache = Shared<Cache?>(nil)
    let runs = Counter()

    /// A value whose end runs the caller's code.
    var value: ReleaseProbe { ReleaseProbe { self.run(.valueDeinitialiser) } }

    func arm(_ code: Code, _ cache: Cache) {
      self.cache.value = cache
      armed.value = code
    }

    func disarm() {
      armed.value = nil
      cache.value = nil
    }

    /// Not again from within, because each use of the cache runs it.
    func run(_ code: Code) {
      guard armed.value == code, let cache = cache.value else { return }
      armed.value = nil
      let key = Key("k", self)
      _ = cache.value(forKey: key)
      _ = cache.contains(key)
      cache.remove(forKey: key)
      cache.store(ReleaseProbe {}, forKey: key, expiration: .seconds(1))
      _ = (cache.keys.count, cache.totalCost, cache.statistics)
      cache.countLimit = 3
      cache.removeExpired()
      runs.add()
    }
  }

  /// A key whose end runs the caller's code.
  private final class Key: Hashable, Sendable {
    let text: String
    let caller: Caller

    init(_ text: String, _ caller: Caller) { (self.text, self.caller) = (text, caller) }

    deinit { caller.run(.keyDeinitialiser) }

    static func == (one: Key, other: Key) -> Bool { one.text == other.text }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }
  }

  private typealias Cache = MemoryCache<Key, ReleaseProbe>

  private struct Operation: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let codes: Set<Code>
    let run: @Sendable (Cache, ManualClock, Caller) -> Void

    init(
      _ name: String, _ codes: Set<Code>,
      _ run: @escaping @Sendable (Cache, ManualClock, Caller) -> Void
    ) {
      (testDescription, self.codes, self.run) = (name, codes, run)
    }

    static let leaving: Set<Code> = [
      .clock, .listener, .valueDeinitialiser, .keyDeinitialiser,
    ]
    static let all = [
      Self("store", Set(Code.allCases)) { $0.store($2.value, forKey: Key("k", $2)) },
      Self("store at a cost", leaving) { $0.store($2.value, forKey: Key("k", $2), cost: 2) },
      Self("a store that is rejected", leaving) {
        $0.store($2.value, forKey: Key("k", $2), cost: 2, expiration: .expired)
      },
      Self("stores of other keys, which evict this one", Set(Code.allCases)) {
        for number in 0..<4 { $0.store($2.value, forKey: Key("\(number)", $2)) }
      },
      Self("value", [.clock, .keyDeinitialiser]) { _ = $0.value(forKey: Key("k", $2)) },
      Self("an expired value", leaving) {
        $1.advance(by: .seconds(9))
        _ = $0.value(forKey: Key("k", $2))
      },
      Self("peek", [.clock, .keyDeinitialiser]) { _ = $0.peek(Key("k", $2)) },
      Self("contains", [.clock, .keyDeinitialiser]) { _ = $0.contains(Key("k", $2)) },
      Self("keys", [.clock]) { cache, _, _ in _ = cache.keys },
      Self("values", [.clock]) { cache, _, _ in _ = cache.values },
      Self("remove", leaving) { cache, _, caller in cache.remove(forKey: Key("k", caller)) },
      Self("removeAll", leaving.subtracting([.clock])) { cache, _, _ in cache.removeAll() },
      Self("removeExpired", leaving) { cache, clock, _ in
        clock.advance(by: .seconds(9))
        cache.removeExpired()
      },
      Self("a sweep", leaving) { cache, clock, _ in
        clock.advance(by: .seconds(9))
        cache.sweep()
      },
      Self("trim to a count", leaving) { cache, _, _ in cache.trim(toCount: 0) },
      Self("trim to a cost", leaving) { cache, _, _ in cache.trim(toCost: 0) },
      Self("trim to an age", leaving) { cache, _, _ in cache.trim(toAge: .zero) },
      Self("a lowered count", leaving) { cache, _, _ in cache.countLimit = 0 },
      Self("a lowered cost", leaving) { cache, _, _ in cache.costLimit = 0 },
      Self("a lowered age", leaving) { cache, _, _ in cache.ageLimit = .zero },
      Self("pressure", leaving.subtracting([.clock])) { cache, _, _ in cache.respond(to: .empty) },
      // The buffer holds the last event, so the value of the one before leaves.
      Self("a sequence of removals that is not taken", Set(Code.allCases)) {
        let removals = $0.removals(bufferingNewest: 1)
        for number in 0..<4 { $0.store($2.value, forKey: Key("\(number)", $2)) }
        $0.removeAll()
        withExtendedLifetime(removals) {}
      },
    ]
  }

  @Test(arguments: Operation.all) private func `may use the cache`(operation: Operation) {
    for code in Code.allCases {
      let (caller, clock) = (Caller(), ManualClock(Timestamp(seconds: 1_800_000_000)))
      var configuration = Cache.Configuration(countLimit: 3)
      configuration.sweepInterval = nil
      configuration.expiration = .seconds(5)
      configuration.extending = .off
      configuration.clock = WallClock {
        caller.run(.clock)
        return clock.now
      }
      configuration.cost = { _, _ in
        caller.run(.cost)
        return 1
      }
      configuration.removalListener = { _, _, _ in caller.run(.listener) }
      let cache = Cache(configuration)
      cache.store(caller.value, forKey: Key("k", caller))
      caller.arm(code, cache)
      operation.run(cache, clock, caller)
      #expect((caller.runs.value > 0) == operation.codes.contains(code), "\(code)")
      caller.disarm()
    }
  }

  @Test func `may use the cache and the monitor when it is told of pressure`() throws {
    let (cache, told) = (MemoryCache<Int, Int>(), Happening())
    let (box, runs) = (Shared<MemoryPressureMonitor?>(nil), Counter())
    var configuration = MemoryPressureMonitor.Configuration()
    configuration.stepListener = { _ in
      cache.store(1, forKey: 1)
      box.value?.attach(cache)
      box.value?.detach(cache)
      _ = box.value?.status
      box.value?.stop()
      runs.add()
      told.tell()
    }
    let monitor = MemoryPressureMonitor(configuration, .silent, named: .descriptor)
    box.value = monitor
    monitor.signal()
    #expect(told.wait { runs.value > 0 })
    box.value = nil
    monitor.stop()
  }
}
