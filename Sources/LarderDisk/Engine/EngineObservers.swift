import LarderSystem
import Synchronization

/// An object that holds values in memory or loads them, and is told when they no longer match the
/// disk.
package protocol EngineObserver: AnyObject, Sendable {
  /// Tells the observer that the value of a key is about to be replaced. The observer must drop its
  /// value before the new one becomes visible. The store may still fail, so the observer must not
  /// conclude anything else.
  ///
  /// Called as `entryChanged(_:)` is.
  func entryChanges(_ subject: DiskEngine.Subject)
  /// Tells the observer that the value of a key was replaced or removed. The name in `subject` has
  /// the file extension of the cache that changed it; other extensions are other entries.
  ///
  /// May be called by any thread. The caller holds the name, so the call comes before any other
  /// change of it. The observer must not change the name in this directory.
  func entryChanged(_ subject: DiskEngine.Subject)
  /// Tells the observer to release what left it during such calls. Called with no name held.
  func letGo()
  /// Tells the observer that everything was removed.
  ///
  /// Values stored after the call stay. Values that are being stored during the call may go.
  func entriesCleared()
  /// Tells the observer that the file of a name was replaced, removed, stamped or written, mostly
  /// by another process. With nil, any file may have been.
  ///
  /// `Cache` drops the value of the key that it keeps for the name (of all keys for nil), and
  /// supersedes no load, because between processes the last store wins.
  ///
  /// May be called by any thread, and mostly while it holds the name.
  func fileChanged(_ name: EntryName?)
  /// Tells the observer that this process removes values whose keys it does not know, but would
  /// recognise. The loads of such keys that are running must not be stored. `fileChanged(_:)` tells
  /// of their values in memory.
  ///
  /// May be called by any thread, also while it holds a name.
  ///
  /// - Returns: The keys of these loads.
  func supersedeLoads(
    where isRemoved: (DiskEngine.Subject) -> Bool
  ) -> [DiskEngine.Subject]
}

/// The observers of one engine.
package final class EngineObservers: Sendable {
  private struct Observer: Sendable {
    let identity: ObjectIdentifier
    // Weak, because the memory tier holds the engine. An observer that is being freed needs no
    // call.
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
    if isEmpty { return }
    tellingCount.add(1, ordering: .sequentiallyConsistent)
    for observer in all(except: origin) { change(observer) }
    tellingCount.add(-1, ordering: .sequentiallyConsistent)
  }

  /// Notes that something of the caller's has left an observer.
  package func noteDeparture() { hasDepartures.store(true, ordering: .sequentiallyConsistent) }

  /// Releases what has left the observers. Called at the end of each call, with no name held.
  @inline(__always)
  package func letGo() {
    if hasDepartures.load(ordering: .relaxed) { letGoNow() }
  }

  private func letGoNow() {
    guard hasDepartures.exchange(false, ordering: .acquiring) else { return }
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

extension DiskEngine {
  /// Tells the memory tiers of a change, except the one that made it.
  package func tellObservers(_ subject: Subject, except origin: ObjectIdentifier?) {
    observers.tell(except: origin) { $0.entryChanged(subject) }
  }

  /// Tells the memory tiers of a change that is about to become visible.
  func tellObservers(before subject: Subject) {
    observers.tell { $0.entryChanges(subject) }
  }

  /// Tells the memory tiers of files that have changed or gone, because they may hold their values.
  func tellObservers(ofFiles names: [EntryName]) {
    guard !names.isEmpty else { return }
    observers.tell { observer in
      for name in names { observer.fileChanged(name) }
    }
    observers.letGoElsewhere()
  }

  /// Tells the caches that values whose keys are not known are removed, so that running loads of
  /// them are not stored.
  ///
  /// - Returns: The keys of these loads.
  @discardableResult
  func supersedeLoads(where isRemoved: (Subject) -> Bool) -> [Subject] {
    var superseded: [Subject] = []
    observers.tell { superseded += $0.supersedeLoads(where: isRemoved) }
    return superseded
  }

  /// Tells the memory tiers what the index has just learned of files, and counts that as told.
  ///
  /// Once the index knows a change, its event is ignored. Until memory knows it too, `catchUp`
  /// returns false.
  func tellObservers(ofLearned names: [EntryName]) {
    tellObservers(ofFiles: names)
    withState { $0.untoldCount -= 1 }
  }

  /// Tells the memory tiers that any file may have been replaced.
  ///
  /// - Complexity: O(n) for what the tiers hold, and a constant for the generations of all names.
  func tellObserversOfReplacement() {
    // A read that began earlier must not put back a value that is dropped here.
    generations.beginAll()
    observers.tell { $0.fileChanged(nil) }
    generations.endAll()
    observers.letGoElsewhere()
  }

  /// Tells the memory tiers that everything is gone.
  func tellObserversOfClearing() {
    observers.tell { $0.entriesCleared() }
    observers.letGoElsewhere()
  }
}
