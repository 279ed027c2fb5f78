@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// A simple, slow model of a memory cache without concurrency.
struct MemoryHistoryModel: SequentialModel {
  struct Entry: Hashable {
    let key: Int
    let value: Int
    var expiry: Int
    let lifetime: Int
  }

  /// The entries, the most recently used first.
  var entries: [Entry] = []
  var now = 0
  var countLimit = Int.max
  /// Whether values can expire. Then the number of values that a removal removes is not checked,
  /// because expired values are removed whenever they are found.
  var expires = false
  /// Whether the model is deliberately wrong: a read counts as no use.
  var forgetsReads = false

  init(_ histories: MemoryHistories) {
    countLimit = histories.countLimit ?? .max
    expires = histories.lifetimes != [nil]
  }

  mutating func admits(_ outcome: MemoryOutcome, of call: MemoryCall) -> Bool {
    if expires { entries.removeAll { $0.expiry <= now } }
    switch call {
    case .value(let key): return outcome == .value(read(key))
    case .peek(let key): return outcome == .value(entries.first { $0.key == key }?.value)
    case .contains(let key): return outcome == .flag(entries.contains { $0.key == key })
    case .store(let key, let value, let seconds):
      store(value, key, seconds)
      return outcome == .done
    case .remove(let key): return outcome == .flag(remove(key) != nil)
    case .removeAll: return trim(0, outcome)
    case .trim(let count): return trim(count, outcome)
    case .keys: return outcome == .keys(entries.map(\.key))
    case .count: return outcome == .number(entries.count)
    case .advance(let seconds):
      now += seconds
      return outcome == .done
    }
  }

  private mutating func read(_ key: Int) -> Int? {
    if forgetsReads { return entries.first { $0.key == key }?.value }
    guard var entry = remove(key) else { return nil }
    if entry.expiry != .max { entry.expiry = max(entry.expiry, now + entry.lifetime) }
    entries.insert(entry, at: 0)
    return entry.value
  }

  private mutating func store(_ value: Int, _ key: Int, _ seconds: Int?) {
    _ = remove(key)
    let expiry = seconds.map { now + $0 } ?? .max
    entries.insert(Entry(key: key, value: value, expiry: expiry, lifetime: seconds ?? 0), at: 0)
    if entries.count > countLimit { entries.removeLast() }
  }

  private mutating func remove(_ key: Int) -> Entry? {
    guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
    return entries.remove(at: index)
  }

  private mutating func trim(_ count: Int, _ outcome: MemoryOutcome) -> Bool {
    let removed = max(0, entries.count - count)
    entries.removeLast(removed)
    return expires || outcome == .number(removed)
  }
}
