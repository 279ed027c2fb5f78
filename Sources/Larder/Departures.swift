import LarderBasics
import LarderDisk
import LarderMemory
import LarderSystem

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

extension Cache {
  /// Takes the value of a key out of memory. It leaves when no name is held.
  func drop(_ key: CacheKey) {
    var removals = Removals<CacheKey, Value>()
    memory.remove(forKey: key, cause: .replaced, at: disk.engine.heldNow, into: &removals)
    depart(removals)
  }

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
    depart(errors: flights.supersede(key, isOwn: isOwn) + fileFlights.supersede(key))
  }

  /// Supersedes all running loads, and forgets all kept errors.
  func supersedeAll() {
    depart(errors: flights.supersedeAll() + fileFlights.supersedeAll())
  }

  /// Reports and releases what has left.
  package func letGo() {
    var values = departures.takeValues()
    memory.finish(&values)
  }
}
