import Larder

/// The known entries of a watched directory, and counts of the changes observed.
///
/// A pure value: the caller passes in observations and the time.
struct WatchLedger: Sendable {
  private var entries: [String: DiskEntry] = [:]
  /// The entries whose expiry was reported, so that each is reported once.
  private var expired: Set<String> = []
  /// No other entry expires before this time.
  private var nextExpiry = Timestamp.never
  // 128 bits, so that the sum is exact again after files that claim nearly 2⁶³ bytes are removed.
  private var exactByteCount: Int128 = 0
  /// The number of events of each kind.
  private(set) var tally: [WatchEvent.Kind: Int] = [:]
  /// The number of events so far.
  private(set) var eventCount = 0

  /// The number of stores that were overwritten or removed again before they were seen.
  private(set) var unseenStoreCount = 0
  /// The number of times that the system dropped events.
  private(set) var lossCount = 0

  /// The number of entries.
  var count: Int { entries.count }
  /// The bytes of all values together, or the largest `Int` if the sum exceeds it.
  var byteCount: Int { Int(clamping: exactByteCount) }

  /// The limit of the cache, if it is known.
  private let limit: Int64?
  /// The bytes at the fullest look so far, which are taken for the limit if it is not known.
  private var fullest: Int128 = 0
  /// The looks for which removals still count as those of a purge that was recognised.
  private var purgeLooks = 0
  /// Whether a value was stored between the last two looks.
  private var wasStoring = false

  /// Creates a ledger with the present entries.
  init(_ contents: [DiskEntry], at now: Timestamp, limit: Int64? = nil) {
    self.limit = limit
    for entry in contents { set(entry) }
    expired = Set(contents.filter { $0.isExpired(at: now) }.map(\.name))
    fullest = exactByteCount
  }

  /// Updates the ledger with sightings, and with the expiries that have passed since the last call.
  mutating func take(_ sightings: WatchSightings, at now: Timestamp) -> [WatchEvent] {
    var events: [WatchEvent] = []
    var gone: [DiskEntry] = []
    unseenStoreCount += sightings.unseenStoreCount
    for name in sightings.order {
      let known = entries[name.description]
      guard let found = sightings.found[name] else {
        if let known { gone.append(known) }
        if known == nil, sightings.published.contains(name) { unseenStoreCount += 1 }
        continue
      }
      let isNew = sightings.published.contains(name)
      let kind = Self.kind(known, found, isNew: isNew, at: now)
      set(found)
      if let kind { events.append(event(kind, found, now)) }
    }
    let isStoring = !sightings.published.isEmpty
    notePurge(gone, isStoring: isStoring || wasStoring)
    wasStoring = isStoring
    return events + remove(gone, at: now) + expire(at: now)
  }

  /// Replaces all entries after events were lost. Reports stores and removals, but no uses, and of
  /// replacements those by a value of another length.
  mutating func replaceAll(_ contents: [DiskEntry], at now: Timestamp) -> [WatchEvent] {
    var events: [WatchEvent] = []
    lossCount += 1
    let names = Set(contents.map(\.name))
    let gone = entries.values.filter { !names.contains($0.name) }
    for entry in contents {
      let kind = Self.kind(entries[entry.name], entry, isNew: false, at: now)
      set(entry)
      if let kind, kind != .used { events.append(event(kind, entry, now)) }
    }
    let byUse = gone.sorted(by: EntryOrder.used.precedes)
    notePurge(byUse, isStoring: !events.isEmpty)
    return events + remove(byUse, at: now) + expire(at: now)
  }

  /// The sentence on what was not seen; nil if nothing is known to be missing.
  var missedText: String? {
    var parts: [String] = []
    if unseenStoreCount > 0 {
      let verb = unseenStoreCount == 1 ? "was" : "were"
      let stores = unseenStoreCount.counted("store")
      parts.append("\(stores) \(verb) overwritten or removed again between two looks")
    }
    if lossCount > 0 {
      parts.append("events were lost \(lossCount.counted("time")), so the directory was read anew")
    }
    return parts.isEmpty ? nil : "not shown: " + parts.joined(separator: "; ")
  }

  /// Returns the change of an existing entry; nil for none worth an event, and for an expiry that
  /// was moved into the past, which is reported like one that passes.
  private static func kind(
    _ known: DiskEntry?, _ found: DiskEntry, isNew: Bool, at now: Timestamp
  ) -> WatchEvent.Kind? {
    guard let known else { return .stored }
    if isNew || known.byteCount != found.byteCount { return .replaced }
    if found.isExpired(at: now) && !known.isExpired(at: now) { return nil }
    return known.lastAccess != found.lastAccess || known.expiry != found.expiry ? .used : nil
  }
}

extension WatchLedger {
  private mutating func set(_ entry: DiskEntry) {
    let old = entries.updateValue(entry, forKey: entry.name)
    exactByteCount += Int128(entry.byteCount) - Int128(old?.byteCount ?? 0)
    // Another expiry is reported anew when it passes.
    if old?.expiry != entry.expiry { expired.remove(entry.name) }
    nextExpiry = min(nextExpiry, entry.expiry ?? .never)
  }

  private mutating func forget(_ name: String) {
    if let old = entries.removeValue(forKey: name) { exactByteCount -= Int128(old.byteCount) }
    expired.remove(name)
  }

  private mutating func event(
    _ kind: WatchEvent.Kind, _ entry: DiskEntry, _ now: Timestamp
  ) -> WatchEvent {
    tally[kind, default: 0] += 1
    eventCount += 1
    return WatchEvent(
      number: eventCount, kind: kind, entry: entry, time: now, count: count, byteCount: byteCount)
  }

  /// Recognises a purge by its removals: many at once, from a directory at its limit, while values
  /// are stored.
  ///
  /// The order of use does not show it, because uses reach the disk late: what stays was often
  /// stored earlier than what goes. A purge takes about half of the bytes; of a large directory it
  /// lasts for several looks, so that also 64 entries between two of them count as many.
  private mutating func notePurge(_ gone: [DiskEntry], isStoring: Bool) {
    purgeLooks -= purgeLooks > 0 ? 1 : 0
    if gone.isEmpty { return }
    let byteCount = gone.reduce(Int128(0)) { $0 + Int128($1.byteCount) }
    let isMany = gone.count >= 64 || (gone.count > 1 && byteCount * 8 >= exactByteCount)
    let isFull = exactByteCount * 10 >= (limit.map { Int128($0) } ?? fullest) * 9
    if purgeLooks > 0 || (isStoring && isMany && isFull) { purgeLooks = 3 }
  }

  /// Removes entries, and infers whether each was swept, evicted or removed.
  ///
  /// What goes in a purge was evicted. So was what nearly all remaining entries were used later
  /// than. A few may look older, because their last use has not reached the disk yet.
  ///
  /// - Complexity: O(n log n) for n remaining entries; O(1) if none is removed.
  private mutating func remove(_ gone: [DiskEntry], at now: Timestamp) -> [WatchEvent] {
    for entry in gone { forget(entry.name) }
    fullest = max(fullest, exactByteCount)
    if gone.isEmpty { return [] }
    let left = entries.values.map(\.lastAccess).sorted()
    return gone.map { entry in
      if entry.isExpired(at: now) { return event(.swept, entry, now) }
      let older = left.count(before: entry.lastAccess)
      let isAmongOldest = !left.isEmpty && older * 10 <= left.count
      return event(purgeLooks > 0 || isAmongOldest ? .evicted : .removed, entry, now)
    }
  }

  /// Reports the entries that have expired since the last call.
  ///
  /// - Complexity: O(n log n) for n entries; O(1) if none can have expired.
  private mutating func expire(at now: Timestamp) -> [WatchEvent] {
    if now < nextExpiry { return [] }
    let passed = entries.values.filter { $0.isExpired(at: now) && !expired.contains($0.name) }
    nextExpiry = entries.values.reduce(.never) { next, entry in
      entry.isExpired(at: now) ? next : min(next, entry.expiry ?? .never)
    }
    return passed.sorted { $0.name < $1.name }.map { entry in
      expired.insert(entry.name)
      return event(.expired, entry, now)
    }
  }
}

extension [Timestamp] {
  /// Returns the number of elements before a time, for a sorted array.
  fileprivate func count(before time: Timestamp) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < time { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
