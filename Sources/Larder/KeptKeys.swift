import LarderBasics
import LarderDisk
import LarderSystem
import Synchronization

/// The keys whose values a memory tier may hold, by the names of their entries.
///
/// What others do to a file is told by its name, and a name does not say its key. A key that is not
/// in memory any more is forgotten when as many have gathered as there are values.
package final class KeptKeys: Sendable {
  private struct State: Sendable {
    var keys: [EntryName: CacheKey] = [:]
    /// The names whose values are on their way into memory: one for each thread at most.
    var arriving: [EntryName] = []
    /// The number of keys at which those no longer kept are forgotten.
    var most = 1024
  }

  private let state = ForkSafeMutex(State())

  /// Remembers a key before its value is kept; `settle(_:)` has to follow when it is.
  ///
  /// - Parameter isKept: Whether a key's value is still in memory.
  /// - Returns: Another key of the same name, whose value must leave memory: if both stayed, news
  ///   of the name would reach one of them.
  /// - Complexity: O(1) amortised.
  func insert(
    _ key: CacheKey, _ name: EntryName, isKept: (CacheKey) -> Bool
  ) -> CacheKey? {
    state.withLock { state in
      if state.keys.count >= state.most {
        state.keys = state.keys.filter { isKept($0.value) || state.arriving.contains($0.key) }
        state.most = max(1024, 2 * state.keys.count)
      }
      state.arriving.append(name)
      let old = state.keys.updateValue(key, forKey: name)
      return old == key ? nil : old
    }
  }

  /// Takes note that the value of a name is kept, or will not be.
  func settle(_ name: EntryName) {
    state.withLock { state in
      if let index = state.arriving.lastIndex(of: name) { state.arriving.remove(at: index) }
    }
  }

  /// The key of a name, if its value may be in memory.
  func key(of name: EntryName) -> CacheKey? {
    state.withLock { $0.keys[name] }
  }
}
