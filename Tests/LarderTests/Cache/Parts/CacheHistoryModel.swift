@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// A model of a cache without concurrency: values, with the times at which they expire.
struct CacheHistoryModel: SequentialModel {
  struct Entry: Hashable {
    let value: String
    let expiry: Int
  }

  var entries: [Int: Entry] = [:]
  var now = 0

  mutating func admits(_ outcome: CacheHistories.Outcome, of call: CacheHistories.Call) -> Bool {
    switch call {
    case .value(let key): return outcome == .value(living(key)?.value)
    case .contains(let key): return outcome == .flag(living(key) != nil)
    case .store(let key, let value, let date):
      entries[key] = Entry(value: value, expiry: date ?? .max)
      return outcome == .done
    case .remove(let key):
      let removed = entries.removeValue(forKey: key)
      // An expired value may have been rejected, or a sweep may have removed it first.
      if let removed, removed.expiry <= now, case .flag = outcome { return true }
      return outcome == .flag(removed != nil)
    case .removeAll:
      entries = [:]
      return outcome == .done
    case .forget: return outcome == .done
    case .advance(let seconds):
      now += seconds
      return outcome == .done
    }
  }

  private func living(_ key: Int) -> Entry? { entries[key].flatMap { $0.expiry > now ? $0 : nil } }
}
