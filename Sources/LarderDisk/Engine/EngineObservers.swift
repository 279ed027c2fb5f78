import LarderSystem
import Synchronization

/// Somebody who holds values in memory and must hear when they are no longer those on disk.
package protocol EngineObserver: AnyObject, Sendable {
  /// The value of a key is about to be replaced. What memory holds of it must go before the new
  /// value shows; the store may still fail, so that nothing else follows from this.
  ///
  /// Called as `entryChanged(_:)` is.
  func entryChanges(_ subject: DiskEngine.Subject)
  /// The value of a key was replaced or removed, under the name that it has with one extension.
  ///
  /// Called by any thread, with the name held and so before any other change of it: an observer must
  /// not change the name in this directory.
  func entryChanged(_ subject: DiskEngine.Subject)
  /// Everything was removed.
  ///
  /// Values stored after the call stay; those that were being stored at that moment may go.
  func entriesCleared()
  /// The file of a name was replaced, removed, stamped or written by somebody else; with nil, any
  /// file may have been.
  ///
  /// May be called by any thread, and holds the name.
  func fileChanged(_ name: EntryName?)
}

/// The observers of one engine.
package final class EngineObservers: Sendable {
  private struct Observer: Sendable {
    let identity: ObjectIdentifier
    // Weak, since the tier holds the engine. One that is going away hears nothing and needs not.
    weak var object: (any EngineObserver)?
  }

  private let observers = ForkSafeMutex<[Observer]>([])
  /// Whether there is an observer, so that a change in a cache without a memory tier takes no lock.
  /// An observer sets it before it looks at any name, and a change reads it after it has marked its
  /// name, so one of the two sees the other.
  private let areThere = Atomic<Bool>(false)

  /// From now on the observer hears of every change. It is not kept alive.
  package func add(_ observer: any EngineObserver) {
    let observer = Observer(identity: ObjectIdentifier(observer), object: observer)
    observers.withLock { observers in
      observers.append(observer)
      areThere.store(true, ordering: .sequentiallyConsistent)
    }
  }

  /// Takes the identity and not the object, for it is called from a deinit.
  package func remove(_ observer: ObjectIdentifier) {
    observers.withLock { observers in
      observers.removeAll { $0.identity == observer }
      areThere.store(!observers.isEmpty, ordering: .sequentiallyConsistent)
    }
  }

  /// All observers that still live, but one.
  ///
  /// Strong references, taken under the lock and used outside of it.
  func all(except origin: ObjectIdentifier? = nil) -> [any EngineObserver] {
    guard areThere.load(ordering: .sequentiallyConsistent) else { return [] }
    return observers.withLock { observers in
      observers.compactMap { $0.identity == origin ? nil : $0.object }
    }
  }
}

extension DiskEngine {
  /// Tells the memory tiers of a change, except the one that made it.
  package func tellObservers(_ subject: Subject, except origin: ObjectIdentifier?) {
    for observer in observers.all(except: origin) { observer.entryChanged(subject) }
  }

  /// Tells the memory tiers of a change that is about to become visible.
  func tellObservers(before subject: Subject) {
    for observer in observers.all() { observer.entryChanges(subject) }
  }

  /// Tells the memory tiers which files are not those that they may hold values of.
  func tellObservers(ofFiles names: [EntryName]) {
    guard !names.isEmpty else { return }
    for observer in observers.all() {
      for name in names { observer.fileChanged(name) }
    }
  }

  /// Tells the memory tiers that any file may be another now.
  ///
  /// - Complexity: O(n) for what the tiers hold, and a constant for the generations of all names.
  func tellObserversOfReplacement() {
    // Who has read before must not put back what is dropped here.
    generations.beginAll()
    for observer in observers.all() { observer.fileChanged(nil) }
    generations.endAll()
  }

  /// Tells the memory tiers that everything is gone.
  func tellObserversOfClearing() {
    for observer in observers.all() { observer.entriesCleared() }
  }
}
