import Synchronization

/// What a read of one key may find, whoever stores, removes and reads it at the same time.
///
/// Every change has a version and two moments, before it began and after it ended. A change is dead
/// once another has ended that began after its end: whatever order the two may have had, the dead
/// one was first. A read that begins after that and finds it has found something that was replaced.
final class FreshnessOracle: Sendable {
  /// What changes a key.
  enum Change: Sendable {
    case store
    case removal
    /// The value of a load counts as stored when the load begins, however late it is: what is
    /// stored or removed meanwhile wins.
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
    /// The latest change that is no store.
    var lastOther: UInt64 = 0
    var live: [UInt64: Live] = [:]
    /// When versions died, as far back as a read that is going on may ask.
    var deaths: [UInt64: Int] = [:]
    /// When the reads that are going on began.
    var readings: Set<Int> = []

    mutating func tick() -> Int {
      clock += 1
      return clock
    }
  }

  /// What was known before a read.
  struct Reading: Sendable {
    fileprivate let began: Int
    /// Whether a store had ended, and nothing but stores was going on or came last.
    fileprivate let mustHit: Bool
    fileprivate let lastVersion: UInt64
  }

  /// What is to be said of what a read found.
  enum Verdict: Sendable {
    case fine
    /// It found a value that had been replaced or removed.
    case replaced
    /// It found nothing where something must be, unless it may be evicted.
    case lost
  }

  private let state = Mutex(State())

  /// Announces a change and returns its version.
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

  /// Says that a change has ended. One that failed may have done anything, and ended nothing.
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

  /// Takes down what is known before a read.
  func beginReading() -> Reading {
    state.withLock { state in
      let stored = state.live.values.contains { $0.change == .store && $0.ended != nil }
      let isAll = state.live.values.allSatisfy { $0.change == .store }
      let now = state.tick()
      state.readings.insert(now)
      return Reading(began: now, mustHit: stored && isAll, lastVersion: state.lastVersion)
    }
  }

  /// Judges what a read found: a version, or nothing.
  func end(_ reading: Reading, found version: UInt64?) -> Verdict {
    state.withLock { state in
      state.readings.remove(reading.began)
      guard let version else {
        return reading.mustHit && state.lastOther <= reading.lastVersion ? .lost : .fine
      }
      if state.live[version] != nil { return .fine }
      // A death that is not on record was before the read, and so is a version that never was.
      return state.deaths[version, default: 0] > reading.began ? .fine : .replaced
    }
  }
}
