@testable import Larder
@testable import LarderBasics
@testable import LarderFixtures
@testable import LarderMemory

/// A simple, slow and exact LRU: an array, the most recent first, searched linearly.
///
/// It shares no code with the tested cache except `Timestamp` and `Expiration`.
struct NaiveLRU {
  struct Entry: Equatable {
    var key: Int
    var value: Int
    var cost: Int
    var expiry: Int64
    var lifetime: Int64?
    var lastUse: Int64
  }

  var entries: [Entry] = []
  var costLimit = Int.max
  var countLimit = Int.max
  var ageLimit = Int64.max
  var trimTarget = 1.0
  var now: Int64 = 0
  var storesSinceSweep = 0
  /// The removed entries in order: key, value and cause.
  var removed: [String] = []

  static let never: Int64 = 1 << 33

  func isExpired(_ entry: Entry) -> Bool {
    entry.expiry <= now || (ageLimit != .max && now - entry.lastUse >= ageLimit)
  }

  func index(of key: Int) -> Int? { entries.firstIndex { $0.key == key } }

  mutating func take(_ index: Int, _ cause: RemovalCause) {
    let entry = entries.remove(at: index)
    removed.append("\(entry.key)=\(entry.value) \(cause)")
  }

  mutating func value(_ key: Int) -> Int? {
    guard let index = index(of: key) else { return nil }
    guard !isExpired(entries[index]) else {
      take(index, .expired)
      return nil
    }
    var entry = entries.remove(at: index)
    entry.lastUse = now
    if let lifetime = entry.lifetime { entry.expiry = max(entry.expiry, now + lifetime) }
    entries.insert(entry, at: 0)
    return entry.value
  }

  mutating func store(_ value: Int, _ key: Int, cost: Int, lifetime: Int64?) -> StoreOutcome {
    let old = index(of: key)
    let reason: StoreOutcome.Reason? =
      (lifetime ?? 1) <= 0 || ageLimit == 0
      ? .expired : cost > costLimit || countLimit == 0 ? .tooLarge : nil
    if let reason {
      if let old { take(old, .replaced) }
      return .rejected(reason)
    }
    storesSinceSweep += 1
    if let old { take(old, isExpired(entries[old]) ? .expired : .replaced) }
    let expiry = lifetime.map { now + $0 } ?? Self.never
    entries.insert(
      Entry(key: key, value: value, cost: cost, expiry: expiry, lifetime: lifetime, lastUse: now),
      at: 0)
    makeRoom(hadOld: old != nil)
    return .stored
  }

  mutating func remove(_ key: Int) -> Bool {
    guard let index = index(of: key) else { return false }
    let wasExpired = isExpired(entries[index])
    take(index, wasExpired ? .expired : .explicit)
    return !wasExpired
  }

  var totalCost: Int { entries.reduce(0) { $0 + $1.cost } }

  mutating func makeRoom(hadOld: Bool) {
    guard totalCost > costLimit || entries.count > countLimit else { return }
    if storesSinceSweep >= (hadOld ? entries.count : entries.count - 1) / 8 {
      sweep(besidesFirst: true)
    }
    if totalCost > costLimit {
      evict(.evicted, keeping: 1) { $0.totalCost <= $0.target($0.costLimit) }
    }
    if entries.count > countLimit {
      evict(.evicted, keeping: 1) { $0.entries.count <= $0.target($0.countLimit) }
    }
  }

  func target(_ limit: Int) -> Int { Int((Double(limit) * trimTarget).rounded()) }

  mutating func evict(
    _ cause: RemovalCause, keeping: Int, until isEnough: (NaiveLRU) -> Bool
  ) {
    while entries.count > keeping, !isEnough(self) {
      let last = entries.count - 1
      take(last, isExpired(entries[last]) ? .expired : cause)
    }
  }

  mutating func sweep(besidesFirst: Bool = false) {
    guard entries.contains(where: { $0.expiry <= now }) || ageLimit != .max else { return }
    storesSinceSweep = 0
    for index in entries.indices.reversed() where !(besidesFirst && index == 0) {
      if isExpired(entries[index]) { take(index, .expired) }
    }
  }
}
