import LarderBasics
package import LarderDisk
import LarderMemory
import LarderSystem
import Synchronization

// What memory drops when the disk changes. The engine tells the cache the key of a change that goes
// through it, and the name alone of one by another process.
extension Cache: EngineObserver {
  package func hear(of change: DiskChange) {
    switch change {
    // With another extension the key's file belongs to another cache in the same directory.
    case .entryWillChange(let subject), .entryChanged(let subject):
      guard subject.name.fileExtension == disk.fileExtension else { return }
      // No load is superseded before the change, because this may be the load's own store: if its
      // first attempt fails, the second must not be declined. After the change, with the name held,
      // all loads that began before it are superseded, so that none is stored after it.
      guard case .entryChanged = change else { return drop(subject.key) }
      supersede(subject.key)
      // A store has dropped the value before it was published, so one that is there was removed.
      drop(subject.key, .explicit)
    // Also what a limit has removed from the disk before.
    case .variantsRemoved(let base):
      for key in [base] + keptKeys.keys(where: { $0.isVariant(of: base) }) { drop(key, .explicit) }
    // Between processes the last store wins: a running load is stored at its end, as if begun now.
    case .filesChanged(let names):
      for key in names.compactMap(keptKeys.key) { drop(key) }
    case .anyChanged: memory.removeAll(.replaced, elsewhere: true)
    case .cleared:
      supersedeAll()
      memory.removeAll(.explicit, elsewhere: true)
      forgetKeys()
    }
  }

  /// Supersedes the loads, of values and of files, that are running for the keys in question, and
  /// forgets all kept errors: to look for theirs would take a digest of each.
  ///
  /// - Complexity: O(r) digests of keys for r running loads.
  package func supersedeLoads(where isRemoved: (Subject) -> Bool) -> [Subject] {
    let keys = flights.keys + fileFlights.keys
    let removed = keys.map { disk.subject($0) }.filter(isRemoved)
    for subject in removed { supersede(subject.key) }
    depart(errors: flights.forgetFailures() + fileFlights.forgetFailures())
    return removed
  }
}

extension Cache {
  /// Takes the value of a key out of memory. It leaves when no name is held.
  func drop(_ key: CacheKey, _ cause: RemovalCause = .replaced) {
    var removals = Removals<CacheKey, Value>()
    _ = memory.remove(key, cause, at: PackedTime(disk.engine.heldNow), into: &removals)
    depart(removals)
  }

  /// Forgets the keys of values that are not in memory any more.
  func forgetKeys() { keptKeys.forget { !memory.contains($0, at: .zero) } }

  func depart(
    _ values: consuming Removals<CacheKey, Value> = Removals(), errors: [any Error] = []
  ) {
    guard values.count > 0 || !errors.isEmpty else { return }
    departures.add(values, errors)
    disk.engine.observers.addDeparture()
  }

  /// Supersedes the running loads of a key, and forgets a kept error.
  ///
  /// - Parameter isOwn: Whether a load of the key has stored its value, which supersedes no load.
  func supersede(_ key: CacheKey, isOwn: Bool = false) {
    if !isOwn, disk.engine.sharesLoads { disk.engine.overtake(disk.subject(key).name) }
    depart(errors: flights.supersede(key, isOwn: isOwn) + fileFlights.supersede(key))
  }

  /// Supersedes all running loads, and forgets all kept errors.
  func supersedeAll() {
    disk.engine.overtake(nil)
    depart(errors: flights.supersedeAll() + fileFlights.supersedeAll())
  }

  /// Reports and releases what has left.
  package func letGo() {
    // Also if the cache is closed before they are told.
    memory.observers.putOffEnd()
    var values = departures.takeValues()
    memory.finish(&values)
    memory.observers.finish()
  }
}

/// What left a cache while a name was held: values of the memory tier and kept errors of loads.
///
/// Their deinitialisers are the caller's and may use the cache, also for the key whose name is
/// held. So they are collected here, and released once the name is free:
///
/// 1. A change of a name adds what leaves, with the name held.
/// 2. The call that made the change lets it go at its end (`EngineObservers.letGo`). If a thread of
///    the engine made it, a thread that does nothing else does so.
final class Departures<Value: Sendable>: Sendable {
  private struct Content: Sendable {
    var values = Removals<CacheKey, Value>()
    var errors: [any Error] = []
  }

  private let content = ForkSafeMutex(Content())

  func add(_ values: consuming Removals<CacheKey, Value>, _ errors: [any Error]) {
    content.withLock { [values] content in
      content.values.append(contentsOf: values)
      content.errors += errors
    }
  }

  /// Takes everything out. The errors are released on return.
  func takeValues() -> Removals<CacheKey, Value> {
    content.withLock { exchange(&$0, with: Content()) }.values
  }
}

/// The keys of the values that a memory tier may hold, by the names of their entries.
///
/// An event about a file names the file, and the key cannot be derived from the name. The keys are
/// in 1,024 parts, so that a part that grows or is looked through holds the lock for a short time.
/// Keys of a part that are not in memory any more are forgotten when twice as many have gathered in
/// it as were kept last time, and all of them when memory is emptied or short.
package final class KeptKeys: Sendable {
  private struct Part: Sendable {
    var keys: [EntryName: CacheKey] = [:]
    /// The number of keys at which keys that are not in memory any more are forgotten.
    var most = 8
  }

  private struct State: Sendable {
    var parts = [Part](repeating: Part(), count: 1024)
    /// The names whose values are being stored in memory: one for each thread at most.
    var arriving: [EntryName] = []

    mutating func forget(inPart number: Int, where isGone: (CacheKey) -> Bool) {
      let keys = parts[number].keys.filter { !isGone($0.value) || arriving.contains($0.key) }
      parts[number] = Part(keys: keys, most: max(8, 2 * keys.count))
    }
  }

  private let state = ForkSafeMutex(State())

  /// Remembers a key before its value is stored in memory. Each call needs a later
  /// `endInsertion(of:)`.
  ///
  /// - Parameter isGone: Whether a key's value is not in memory any more.
  /// - Returns: Another key of the same name. Its value must leave memory, because an event about
  ///   the name would only reach one of the two.
  /// - Complexity: O(1) amortised, and O(n / 1024) for n keys.
  func insert(_ key: CacheKey, _ name: EntryName, isGone: (CacheKey) -> Bool) -> CacheKey? {
    let number = Self.part(of: name)
    return state.withLock { state in
      if state.parts[number].keys.count >= state.parts[number].most {
        state.forget(inPart: number, where: isGone)
      }
      state.arriving.append(name)
      let old = state.parts[number].keys.updateValue(key, forKey: name)
      return old == key ? nil : old
    }
  }

  /// Forgets keys whose values are not in memory any more, 8 parts in a hold of the lock.
  func forget(where isGone: (CacheKey) -> Bool) {
    for first in stride(from: 0, to: 1024, by: 8) {
      state.withLock { for part in first..<first + 8 { $0.forget(inPart: part, where: isGone) } }
    }
  }

  /// Returns the part of a name, by a hash that no chosen key can foresee.
  private static func part(of name: EntryName) -> Int { name.hashValue & 1023 }

  /// Records that the value of a name is in memory now, or will not be.
  func endInsertion(of name: EntryName) {
    state.withLock { state in
      if let index = state.arriving.lastIndex(of: name) { state.arriving.remove(at: index) }
    }
  }

  /// Returns the key of a name, if its value may be in memory.
  func key(of name: EntryName) -> CacheKey? {
    state.withLock { $0.parts[Self.part(of: name)].keys[name] }
  }

  /// Returns the keys in question whose values may be in memory, 16 parts in a hold of the lock.
  func keys(where isMeant: (CacheKey) -> Bool) -> [CacheKey] {
    stride(from: 0, to: 1024, by: 16).flatMap { first in
      state.withLock { $0.parts[first..<first + 16].flatMap { $0.keys.values.filter(isMeant) } }
    }
  }
}

extension Cache: MemoryPressureResponding {
  /// Frees memory of the memory tier, or lets it fill again. The disk tier keeps its values.
  public func respond(to step: MemoryPressureStep) {
    // In a forked child a thread that it does not have may hold the locks.
    guard !disk.engine.isForked else { return }
    memory.respond(to: step)
    forgetKeys()
  }
}

extension Cache {
  /// Returns a sequence of the values that leave this cache from now on, and the causes. These are
  /// the values that leave its disk tier, as in ``DiskCache/removals(bufferingNewest:)``.
  ///
  /// A value that the memory tier drops to keep to its limits is still on disk; the removals of
  /// ``memory`` report it.
  ///
  /// - Parameter limit: The most events that wait for the task, at least 1.
  public func removals(bufferingNewest limit: Int = 100) -> RemovalEvents<DiskRemovalEvent> {
    disk.removals(bufferingNewest: limit)
  }
}
