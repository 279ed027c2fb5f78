package import LarderBasics
import LarderSystem
import Synchronization

/// A change of the disk that the objects in front of it are told of.
package enum DiskChange: Sendable {
  /// The value of a key is about to be replaced. An observer must drop its value before the new one
  /// becomes visible. The store may still fail, so it must not conclude anything else.
  case entryWillChange(Subject)
  /// The value of a key was replaced or removed. The name has the file extension of the cache that
  /// changed it; other extensions are other entries.
  case entryChanged(Subject)
  /// The values of a key and of its variants were removed, under every file extension.
  case variantsRemoved(of: CacheKey)
  /// Files were replaced, removed, stamped or written, mostly by another process. `Cache` drops the
  /// values of the keys that it keeps for the names, and supersedes no load, because between
  /// processes the last store wins.
  case filesChanged([EntryName])
  /// Any file may have been replaced.
  case anyChanged
  /// Everything was removed. Values stored after the call stay; those stored during it may go.
  case cleared
}

/// An object that holds values in memory or loads them, and is told when the disk has changed.
package protocol EngineObserver: AnyObject, Sendable {
  /// Tells the observer of a change.
  ///
  /// May be called by any thread. Mostly the thread holds the name, so the call comes before any
  /// other change of it. The observer must not change the name in this directory.
  func hear(of change: DiskChange)
  /// Tells the observer to release what left it during such calls. Called with no name held.
  func letGo()
  /// Tells the observer that this process removes the values of all keys that a closure recognises.
  /// The loads of such keys that are running must not be stored; `hear(of:)` tells of their values
  /// in memory.
  ///
  /// May be called by any thread, also while it holds a name.
  ///
  /// - Returns: The keys of these loads.
  func supersedeLoads(where isRemoved: (Subject) -> Bool) -> [Subject]
}

/// The observers of one engine.
package final class EngineObservers: Sendable {
  private struct Observer: Sendable {
    let identity: ObjectIdentifier
    // Weak, because the memory tier holds the engine. One that is being freed needs no call.
    weak var object: (any EngineObserver)?
  }

  private let observers = ForkSafeMutex<[Observer]>([])
  /// Whether there is an observer, so that a change in a cache without a memory tier takes no lock.
  /// An observer sets it before it looks at any name, and a change reads it after it has marked its
  /// name, so one of the two sees the other.
  private let areThere = Atomic<Bool>(false)
  /// Whether something of the caller's has left an observer and was not let go.
  private let hasDepartures = Atomic<Bool>(false)
  private let isReleasePlanned = Atomic<Bool>(false)
  /// The number of threads that tell observers of a change.
  private let tellingCount = Atomic<Int>(0)
  private let threads: IOExecutor

  init(_ threads: IOExecutor) { self.threads = threads }

  /// Whether there is no observer.
  var isEmpty: Bool { !areThere.load(ordering: .sequentiallyConsistent) }

  /// Adds an observer, which is told of every change from now on. It is not kept alive.
  package func add(_ observer: any EngineObserver) {
    let observer = Observer(identity: ObjectIdentifier(observer), object: observer)
    observers.withLock { observers in
      observers.append(observer)
      areThere.store(true, ordering: .sequentiallyConsistent)
    }
  }

  /// Removes an observer by its identity, because its deinit calls this.
  package func remove(_ observer: ObjectIdentifier) {
    observers.withLock { observers in
      observers.removeAll { $0.identity == observer }
      areThere.store(!observers.isEmpty, ordering: .sequentiallyConsistent)
    }
  }

  /// Whether a thread tells observers of a change, and so may hold the last reference to one.
  package var isTelling: Bool { tellingCount.load(ordering: .sequentiallyConsistent) > 0 }

  /// Tells all observers that still live, except one, of a change.
  func tell(except origin: ObjectIdentifier? = nil, _ change: (any EngineObserver) -> Void) {
    tellingCount.add(1, ordering: .sequentiallyConsistent)
    for observer in all(except: origin) { change(observer) }
    tellingCount.add(-1, ordering: .sequentiallyConsistent)
  }

  /// Tells all observers that still live, except one, of a change. A call that changes an entry
  /// releases at its end what has left them; other changes have no such call.
  func tell(_ change: DiskChange, except origin: ObjectIdentifier? = nil) {
    tell(except: origin) { $0.hear(of: change) }
    switch change {
    case .entryWillChange, .entryChanged, .variantsRemoved: break
    case .filesChanged, .anyChanged, .cleared: letGoElsewhere()
    }
  }

  /// Tells the memory tiers of the removal of a name's file, before or after it.
  func tell(of removal: Removal, _ name: EntryName) {
    if isEmpty { return }
    if case .cleared = removal { return }
    if case .chosen(let key) = removal {
      // The key is the file's and untrusted. It decides only which value leaves memory.
      if let key { tell(.entryChanged(Subject(key: key, name: name))) }
      // Most files record no key, so the name alone decides on loads.
      supersedeLoads { $0.name == name }
    }
    tell(.filesChanged([name]))
  }

  /// Tells the caches that values of unknown keys are removed, of which no running load is stored.
  ///
  /// - Returns: The keys of these loads.
  @discardableResult
  func supersedeLoads(where isRemoved: (Subject) -> Bool) -> [Subject] {
    var superseded: [Subject] = []
    tell { superseded += $0.supersedeLoads(where: isRemoved) }
    return superseded
  }

  /// Remembers that something of the caller's has left an observer.
  package func addDeparture() { hasDepartures.store(true, ordering: .sequentiallyConsistent) }

  /// Releases what has left the observers. Called at the end of each call, with no name held.
  package func letGo() {
    guard hasDepartures.load(ordering: .relaxed),
      hasDepartures.exchange(false, ordering: .acquiring)
    else { return }
    for observer in all() { observer.letGo() }
  }

  /// Releases on one of the engine's threads what has left the observers. The end of the next call
  /// does so if no thread can be had.
  func letGoElsewhere() {
    guard hasDepartures.load(ordering: .sequentiallyConsistent),
      !isReleasePlanned.exchange(true, ordering: .sequentiallyConsistent)
    else { return }
    _ = threads.submitAside { [weak self] in
      self?.letGo()
      self?.isReleasePlanned.store(false, ordering: .sequentiallyConsistent)
      // What left meanwhile found this release planned.
      self?.letGoElsewhere()
    }
  }

  /// Returns all observers that still live, except one.
  ///
  /// The references are strong. They are taken under the lock and used outside of it.
  func all(except origin: ObjectIdentifier? = nil) -> [any EngineObserver] {
    if isEmpty { return [] }
    return observers.withLock { observers in
      observers.compactMap { $0.identity == origin ? nil : $0.object }
    }
  }
}
