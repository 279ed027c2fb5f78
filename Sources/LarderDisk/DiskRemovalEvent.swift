public import LarderBasics
import LarderSystem
import Synchronization

/// An entry that left the disk, as a sequence of removals tells of it.
public struct DiskRemovalEvent: Sendable, Hashable {
  /// The name that its file had in the directory: the last part of ``DiskCache/path(forKey:)``.
  public let name: String
  /// The key, where it was removed or replaced by key; nil otherwise, since no file is opened to
  /// find it out.
  public let key: CacheKey?
  /// Why it left.
  public let cause: RemovalCause
  /// How many removals the sequence left out since the event before this one, because its buffer
  /// was full. All of them together are exact; where in the sequence they are missing is not.
  public internal(set) var missedCount = 0
}

extension DiskCache {
  /// The entries that this process removes from the directory from now on, and why, for one task;
  /// ask again for another task.
  ///
  /// An entry is told of when its file is gone, whichever object of this process on the directory
  /// removed it. What other processes and people remove is not told of. The sequence ends when the
  /// last object on the directory is closed.
  ///
  /// A task that falls behind by more than the buffer misses the oldest; the events count them. The
  /// cost falls on removals: a lock for each of them while there is a sequence, nothing while there
  /// is none.
  ///
  /// - Parameter limit: The most events that wait for the task, at least 1.
  public func removals(bufferingNewest limit: Int = 100) -> RemovalEvents<DiskRemovalEvent> {
    engine.removals.add(bufferingNewest: limit)
  }
}

extension DiskEngine {
  /// Tells who listens that an entry's file is gone. Called without the lock.
  func tellOfRemoval(_ name: EntryName, key: CacheKey? = nil, _ cause: RemovalCause) {
    guard removals.isObserved.load(ordering: .relaxed) else { return }
    removals.tell(DiskRemovalEvent(name: name.description, key: key, cause: cause))
  }
}
