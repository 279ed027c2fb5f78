public import LarderBasics
import LarderSystem
import Synchronization

/// An entry that left the disk, as an element of a sequence of removals.
public struct DiskRemovalEvent: Sendable, Hashable {
  /// The name that its file had in the directory: the last part of ``DiskCache/path(forKey:)``.
  public let name: String
  /// The key, if the entry was removed or replaced by key; nil otherwise, because no file is opened
  /// to find it out.
  public let key: CacheKey?
  /// The reason for which it left.
  public let cause: RemovalCause
  /// The number of removals that the sequence left out since the event before this one, because its
  /// buffer was full. The sum over all events is exact; the position of the missing ones is not.
  public internal(set) var missedCount = 0
}

extension DiskCache {
  /// Returns a sequence of the entries that this process removes from the directory from now on,
  /// with the cause. It is for one task; call this again for another task.
  ///
  /// An entry is reported when its file is gone, whichever object of this process on the directory
  /// removed it. Removals by other processes and people are not reported. The sequence ends when
  /// the last object on the directory is closed.
  ///
  /// A task that falls behind by more than the buffer misses the oldest events; later ones count
  /// them. The cost falls on removals: a lock for each of them while there is a sequence, nothing
  /// while there is none.
  ///
  /// - Parameter limit: The most events that wait for the task, at least 1.
  public func removals(bufferingNewest limit: Int = 100) -> RemovalEvents<DiskRemovalEvent> {
    engine.removals.add(bufferingNewest: limit)
  }
}

extension DiskEngine {
  /// Reports to the sequences of removals that an entry's file is gone. Called without the lock.
  func tellOfRemoval(_ name: EntryName, key: CacheKey? = nil, _ cause: RemovalCause) {
    guard removals.isObserved.load(ordering: .relaxed) else { return }
    removals.tell(DiskRemovalEvent(name: name.description, key: key, cause: cause))
  }
}
