@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// A simple, slow implementation of the promises of `EntryIndex`.
struct NaiveIndex {
  private(set) var entries: [EntryName: IndexedEntry] = [:]
  private var sorted: [EntryName] = []
  private var strays: [EntryName] = []

  var count: Int { entries.count }
  var byteCount: UInt64 { entries.values.reduce(0) { $0 + $1.byteCount } }
  var allocatedByteCount: UInt64 { entries.values.reduce(0) { $0 + $1.allocatedByteCount } }
  var nextExpiry: Timestamp? { entries.values.map(\.expiry).filter { $0 < .never }.min() }

  mutating func upsert(_ entry: IndexedEntry, order: EntryIndex.Placement) -> Bool {
    let entry = entry.counted
    let old = entries.updateValue(entry, forKey: entry.name)
    let isReplacing = old.map { $0.inode != entry.inode } ?? false
    if order == .byLastAccess && old?.lastAccess == entry.lastAccess { return isReplacing }
    unlink(entry.name)
    if goesLast(entry, order) { sorted.append(entry.name) } else { strays.append(entry.name) }
    return isReplacing
  }

  private func goesLast(_ entry: IndexedEntry, _ order: EntryIndex.Placement) -> Bool {
    guard let last = sorted.last else { return true }
    if stamp(last) == entry.lastAccess { return last < entry.name }
    return order == .mostRecent || stamp(last) < entry.lastAccess
  }

  mutating func touch(_ name: EntryName, at time: Timestamp) -> Bool {
    guard var entry = entries[name] else { return false }
    entry.lastAccess = time
    _ = upsert(entry, order: .mostRecent)
    return true
  }

  @discardableResult
  mutating func change(_ name: EntryName, _ body: (inout IndexedEntry) -> Void) -> Bool {
    guard var entry = entries[name] else { return false }
    body(&entry)
    entries[name] = entry.counted
    return true
  }

  mutating func remove(_ name: EntryName) -> IndexedEntry? {
    unlink(name)
    return entries.removeValue(forKey: name)
  }

  mutating func removeAll() { self = NaiveIndex() }

  private mutating func unlink(_ name: EntryName) {
    sorted.removeAll { $0 == name }
    strays.removeAll { $0 == name }
  }

  private func stamp(_ name: EntryName) -> Timestamp { entries[name]?.lastAccess ?? .never }
}

extension NaiveIndex {
  /// Returns the names in the order of eviction. It merges the names in the order of use and the
  /// strays, by the first element of each.
  func namesInOrder() -> [EntryName] {
    var names: [EntryName] = []
    var rest = sorted[...]
    for name in strays.sorted(by: precedes) {
      let earlier = rest.prefix { !precedes(name, $0) }
      names += earlier + [name]
      rest = rest.dropFirst(earlier.count)
    }
    return names + rest
  }

  private func precedes(_ a: EntryName, _ b: EntryName) -> Bool {
    stamp(a) == stamp(b) ? a < b : stamp(a) < stamp(b)
  }

  mutating func take(_ plan: TrimPlan) -> (expired: [Victim], evicted: [Victim]) {
    let before = allocatedByteCount
    let expired = entries.values.filter { $0.expiry <= plan.now && $0.name != plan.protected }
    for entry in expired { _ = remove(entry.name) }
    var evicted: [Victim] = []
    for name in namesInOrder() {
      let freed = before - allocatedByteCount
      if isFulfilled(plan, freed: freed, next: stamp(name)) { break }
      if name != plan.protected, let entry = remove(name) {
        evicted.append(Victim(entry: entry, cause: plan.cause))
      }
    }
    return (expired.map { Victim(entry: $0, cause: .expired) }, evicted)
  }

  private func isFulfilled(_ plan: TrimPlan, freed: UInt64, next: Timestamp) -> Bool {
    let size = plan.maximumSize?.measure == .bytes ? byteCount : allocatedByteCount
    return size <= plan.maximumSize?.byteCount ?? .max
      && count <= plan.maximumCount ?? .max && freed >= plan.byteCountToFree
      && plan.outdatedAccess.map { next > $0 } ?? true
  }
}

extension IndexedEntry {
  /// The entry as an index counts it, with values clamped to the index's range.
  var counted: IndexedEntry {
    var entry = self
    entry.lastAccess = lastAccess.counted
    entry.expiry = min(expiry.counted, .never)
    entry.changeTime = changeTime.counted
    if case .seconds(let count) = check?.lifetime {
      entry.check?.lifetime = .seconds(min(count, .max - 4))
    }
    return entry
  }
}

extension Timestamp {
  var counted: Timestamp {
    let latest = Timestamp(seconds: 1 << 34 - 1, nanoseconds: 999_999_999)
    return min(max(self, Timestamp(seconds: 0)), latest)
  }
}
