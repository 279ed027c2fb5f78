public import LarderBasics

extension MemoryCache {
  /// The values that leave from now on and why, for one task; ask again for another task.
  ///
  /// ```swift
  /// for await removal in cache.removals(bufferingNewest: 100) {
  ///   print(removal.key, removal.cause, removal.missedCount)
  /// }
  /// ```
  ///
  /// A task that falls behind by more than the buffer misses the oldest; the events count them.
  /// Every sequence hears of every value, and the removal listener too. The cost falls on removals:
  /// a lock for each of them while there is a sequence, nothing while there is none.
  ///
  /// - Parameter limit: The most values that wait for the task, at least 1; they stay in memory.
  /// - Complexity: O(1) here; a removal costs O(1) for each sequence that is listened to.
  public func removals(bufferingNewest limit: Int = 100) -> RemovalEvents<RemovalEvent<Key, Value>>
  {
    observers.add(bufferingNewest: limit)
  }
}
