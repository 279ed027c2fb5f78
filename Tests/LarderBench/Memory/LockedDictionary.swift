import Synchronization

/// The baseline: the standard dictionary under one lock.
///
/// It has no order of use, so a read changes nothing. To make room, it removes the key that was
/// stored first, which a ring of keys tells.
final class LockedDictionary: BenchmarkedCache {
  private struct State {
    var values: [String: [UInt8]] = [:]
    var ring: [String] = []
    var oldest = 0
  }

  private let state = Mutex(State())
  private let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
  }

  func get(_ key: String) -> [UInt8]? {
    state.withLock { $0.values[key] }
  }

  func set(_ key: String, _ value: [UInt8]) {
    state.withLock { state in
      guard state.values.updateValue(value, forKey: key) == nil else { return }
      guard state.ring.count == capacity else {
        state.ring.append(key)
        return
      }
      state.values[state.ring[state.oldest]] = nil
      state.ring[state.oldest] = key
      state.oldest = state.oldest + 1 == capacity ? 0 : state.oldest + 1
    }
  }
}
