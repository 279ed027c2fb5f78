import Synchronization

/// An oracle for one key: the results that a read may return while other threads store, remove and
/// read.
///
/// Every change has a version and two moments, before its begin and after its end. A change is dead
/// when another one that began after its end has ended too, because then the dead one was certainly
/// the first. A read that begins later and finds a dead version has found a replaced value.
final class FreshnessOracle: Sendable {
  /// The kinds of changes of a key.
  enum Change: Sendable {
    case store
    case removal
    /// A load. Its value counts as stored when the load begins, even if it is stored much later,
    /// because a store or removal during the load wins.
    case load
  }

  private struct Live: Sendable {
    let change: Change
    let began: Int
    var ended: Int?
  }

  private struct State: Sendable {
    var clock = 0
    var lastVersion: UInt64 = 0
    /// The version of the latest change that is no store.
    var lastOther: UInt64 = 0
    var live: [UInt64: Live] = [:]
    /// The moments at which versions died, as far back as the reads in progress need them.
    var deaths: [UInt64: Int] = [:]
    /// The moments at which the reads in progress began.
    var readings: Set<Int> = []

    mutating func tick() -> Int {
      clock += 1
      return clock
    }
  }

  /// The state of the key before a read.
  struct Reading: Sendable {
    fileprivate let began: Int
    /// Whether a store had ended, and only stores were in progress or came last.
    fileprivate let mustHit: Bool
    fileprivate let lastVersion: UInt64
  }

  /// The judgement of a read's result.
  enum Verdict: Sendable {
    case fine
    /// The value had been replaced or removed.
    case replaced
    /// There was no value although one must exist, unless it may be evicted.
    case lost
  }

  private let state = Mutex(State())

  /// Records the begin of a change and returns its version.
  func begin(_ change: Change) -> UInt64 {
    state.withLock { state in
      state.lastVersion += 1
      let now = state.tick()
      if change != .store { state.lastOther = state.lastVersion }
      // The moment of a load is its beginning.
      state.live[state.lastVersion] = Live(
        change: change, began: now, ended: change == .load ? now : nil)
      return state.lastVersion
    }
  }

  /// Records the end of a change. A failed change may have had any effect, so it ends no other.
  func end(_ version: UInt64, hasFailed: Bool = false) {
    state.withLock { state in
      guard !hasFailed, let change = state.live[version], change.change != .load else { return }
      let now = state.tick()
      state.live[version]?.ended = now
      for (other, known) in state.live {
        guard let ended = known.ended, ended < change.began else { continue }
        state.live[other] = nil
        state.deaths[other] = now
      }
      if state.deaths.count > 64 {
        let oldest = state.readings.min() ?? now
        state.deaths = state.deaths.filter { $0.value > oldest }
      }
    }
  }

  /// Records the begin of a read and returns the state before it.
  func beginReading() -> Reading {
    state.withLock { state in
      let stored = state.live.values.contains { $0.change == .store && $0.ended != nil }
      let isAll = state.live.values.allSatisfy { $0.change == .store }
      let now = state.tick()
      state.readings.insert(now)
      return Reading(began: now, mustHit: stored && isAll, lastVersion: state.lastVersion)
    }
  }

  /// Judges the result of a read: a version, or nil for no value.
  func end(_ reading: Reading, found version: UInt64?) -> Verdict {
    state.withLock { state in
      state.readings.remove(reading.began)
      guard let version else {
        return reading.mustHit && state.lastOther <= reading.lastVersion ? .lost : .fine
      }
      if state.live[version] != nil { return .fine }
      // An unrecorded death was before the read. A version that never existed is treated alike.
      return state.deaths[version, default: 0] > reading.began ? .fine : .replaced
    }
  }
}
