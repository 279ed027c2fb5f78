@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// A simple, slow model of a memory cache without concurrency.
struct MemoryHistoryModel: SequentialModel {
  typealias Recorded = RecordedCall<MemoryCall, MemoryOutcome>

  struct Entry: Hashable {
    let key: Int
    let value: Int
    var expiry: Int
    let lifetime: Int
  }

  /// The entries, the most recently used first.
  var entries: [Entry] = []
  var now = 0
  /// The time that calls have read and not used yet.
  private var times: [Int: Int] = [:]
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

  /// Returns a history with the reading of the clock as a call of its own.
  static func steps(_ history: [Recorded]) -> [Recorded] {
    history.flatMap { whole in
      guard whole.call.countsFromClock else { return [whole] }
      func step(_ call: MemoryCall, _ outcome: MemoryOutcome) -> Recorded {
        RecordedCall(
          thread: whole.thread, call: call, outcome: outcome, began: whole.began,
          ended: whole.ended)
      }
      let reading = step(.clock(whole.began), .done)
      return [reading, step(.later(whole.began, whole.call), whole.outcome)]
    }
  }

  mutating func admits(_ outcome: MemoryOutcome, of call: MemoryCall) -> Bool {
    switch call {
    case .clock(let number):
      times[number] = now
      return outcome == .done
    case .later(let number, let call):
      guard let time = times.removeValue(forKey: number) else { return false }
      return admits(outcome, of: call, at: time)
    default: return admits(outcome, of: call, at: now)
    }
  }

  private mutating func admits(
    _ outcome: MemoryOutcome, of call: MemoryCall, at time: Int
  ) -> Bool {
    if expires { entries.removeAll { $0.expiry <= now } }
    switch call {
    case .value(let key): return outcome == .value(read(key, time))
    case .peek(let key): return outcome == .value(entries.first { $0.key == key }?.value)
    case .contains(let key): return outcome == .flag(entries.contains { $0.key == key })
    case .store(let key, let value, let seconds):
      store(value, key, seconds, time)
      return outcome == .done
    case .remove(let key): return outcome == .flag(remove(key) != nil)
    case .removeAll: return trim(0, outcome)
    case .trim(let count): return trim(count, outcome)
    case .keys: return outcome == .keys(entries.map(\.key))
    case .count: return outcome == .number(entries.count)
    case .advance(let seconds):
      now += seconds
      return outcome == .done
    case .clock, .later: return false
    }
  }

  private mutating func read(_ key: Int, _ time: Int) -> Int? {
    if forgetsReads { return entries.first { $0.key == key }?.value }
    guard var entry = remove(key) else { return nil }
    if entry.expiry != .max { entry.expiry = max(entry.expiry, time + entry.lifetime) }
    entries.insert(entry, at: 0)
    return entry.value
  }

  private mutating func store(_ value: Int, _ key: Int, _ seconds: Int?, _ time: Int) {
    _ = remove(key)
    let expiry = seconds.map { time + $0 } ?? .max
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
