import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// Code of the caller's that a cache calls or releases.
enum CallersCode: CaseIterable, Sendable {
  case deinitialiser, errorDeinitialiser, clock, encoder, decoder, hook, key
  /// A closure that is given to one call, and the end of what such a closure has captured.
  case closure, captureDeinitialiser
}

/// Runs as the caller's code of one kind and uses the cache for the key that is being changed.
final class Caller: Sendable {
  private struct State {
    var armed: CallersCode?
    var isInside = false
    var cache: Cache<CallerPage>?
  }

  private let state = Mutex(State())
  let runs = Counter()
  let clock: ManualClock

  init(_ clock: ManualClock) { self.clock = clock }

  func arm(_ code: CallersCode, _ cache: Cache<CallerPage>) {
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
    let cache = state.withLock { state -> Cache<CallerPage>? in
      // Each write behind reads the clock, and a clock that stores makes the next write.
      guard state.armed == code, !state.isInside, runs.value < 100 else { return nil }
      state.isInside = true
      return state.cache
    }
    guard let cache else { return }
    _ = cache.memory.value(forKey: "k")
    _ = try? cache.contains("k")
    _ = try? cache.value(forKey: "k")
    _ = try? cache.remove(forKey: "k")
    _ = try? cache.store(CallerPage([9], self), forKey: "k")
    _ = try? cache.disk.store([9], forKey: "k")
    _ = cache.statistics
    cache.memory.countLimit = 2
    state.withLock { $0.isInside = false }
    runs.add()
  }

  var key: CallerKey { CallerKey(caller: self) }

  func page(_ bytes: [UInt8]) -> CallerPage { CallerPage(bytes, self) }

  /// Returns a closure for one call.
  func closure() -> @Sendable () -> Void {
    let capture = Capture(self)
    return { capture.caller.run(.closure) }
  }

  private final class Capture: Sendable {
    let caller: Caller

    init(_ caller: Caller) { self.caller = caller }

    deinit { caller.run(.captureDeinitialiser) }
  }
}

/// A value whose end runs the caller's code.
final class CallerPage: Sendable {
  let bytes: [UInt8]
  private let caller: Caller

  init(_ bytes: [UInt8], _ caller: Caller) { (self.bytes, self.caller) = (bytes, caller) }

  deinit { caller.run(.deinitialiser) }
}

/// An error of a load whose end runs the caller's code.
final class CallerError: Error {
  private let caller: Caller

  init(_ caller: Caller) { self.caller = caller }

  deinit { caller.run(.errorDeinitialiser) }
}

/// A key of a type of the caller's.
struct CallerKey: CacheKeyConvertible {
  let caller: Caller

  var cacheKey: CacheKey {
    caller.run(.key)
    return "k"
  }
}

private struct Unencodable: Error {}

extension DiskScene {
  /// Opens a cache that calls the caller's code wherever it can.
  func open(
    for caller: Caller, _ change: (inout CacheConfiguration) -> Void = { _ in }
  ) throws -> Cache<CallerPage> {
    let coder = Coder<CallerPage>(
      encode: { page in
        caller.run(.encoder)
        if page.bytes == [255] { throw Unencodable() }
        return page.bytes
      },
      decode: { bytes in
        caller.run(.decoder)
        return caller.page(bytes)
      })
    let clock = clock
    return try open(coder) { configuration in
      configuration.memoryCountLimit = 2
      configuration.disk.expiredGrace = .seconds(600)
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
}
