@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory

/// A model of a directory: the states that each key can be in, as far as they follow from the
/// operations. Without failures, each key has one.
struct DiskModel {
  /// A value under a key.
  struct Entry: Hashable {
    var bytes: [UInt8]
    var expiry: Timestamp
    /// The seconds that a use adds; nil if it adds none.
    var lifetime: Int64?
  }

  private var states: [String: Set<Entry?>] = [:]
  /// The keys from the least to the most recently used.
  private(set) var order: [String] = []
  /// Whether every key has one state and the order of uses is known.
  private(set) var isExact = true

  /// Returns the states that a key can be in at a time. An expired value counts as absent.
  func possible(_ key: String, at now: Timestamp) -> Set<Entry?> {
    Set(states[key, default: [nil]].map { $0.flatMap { $0.expiry.hasCome(at: now) ? nil : $0 } })
  }

  /// Returns the keys that certainly have a value.
  func keys(at now: Timestamp) -> [String] {
    order.filter { !possible($0, at: now).contains(nil) }
  }

  /// Sets the states that a key can be in from now on.
  mutating func set(_ key: String, _ new: Set<Entry?>) {
    states[key] = new == [nil] ? nil : new
    if states[key] == nil { order.removeAll { $0 == key } }
    if new.count > 1 { isExact = false }
  }

  /// Adds states that a key can be in, after an operation that may have failed.
  mutating func add(_ key: String, _ more: Set<Entry?>) {
    set(key, states[key, default: [nil]].union(more))
  }

  /// Makes a key the most recently used.
  mutating func use(_ key: String) {
    order.removeAll { $0 == key }
    order.append(key)
  }

  /// Records that a use extends the expiry, certainly or possibly.
  mutating func extend(_ key: String, at now: Timestamp, isCertain: Bool) {
    let old = states[key, default: [nil]]
    let extended = old.map { entry -> Entry? in
      guard var entry, let lifetime = entry.lifetime, !entry.expiry.hasCome(at: now) else {
        return entry
      }
      entry.expiry = max(entry.expiry, now.adding(seconds: lifetime))
      return entry
    }
    set(key, isCertain ? Set(extended) : old.union(extended))
    use(key)
  }

  /// Records that any key may be gone.
  mutating func mayHaveLost() {
    for key in Array(states.keys) { add(key, [nil]) }
    isExact = false
  }

  /// Removes expired values.
  mutating func removeExpired(at now: Timestamp) {
    for (key, old) in states {
      set(key, Set(old.map { $0.flatMap { $0.expiry.hasCome(at: now) ? nil : $0 } }))
    }
  }

  /// Records that expired values may have been swept, so that they may stay absent if the clock
  /// goes back.
  mutating func mayHaveSwept(at now: Timestamp) {
    for (key, old) in states where old != possible(key, at: now) { add(key, [nil]) }
  }

  /// Keeps the entries that were used last.
  mutating func trim(toCount count: Int, at now: Timestamp) {
    removeExpired(at: now)
    for key in order.dropLast(count) { set(key, [nil]) }
  }

  mutating func removeAll() {
    states = [:]
    order = []
    isExact = true
  }

  /// Records that the order of uses, or the index's knowledge of it, is unknown.
  mutating func loseOrder() { isExact = false }
}
