public import LarderBasics
import LarderSystem
import Synchronization

extension DiskCache {
  /// Removes a value and returns whether there was one, valid or expired.
  ///
  /// Removes no foreign file, whatever its name. If the directory is durable, the absence of the
  /// value is on the disk when this returns, even if another process removed it.
  ///
  /// - Throws: `CacheError`: `.readOnly`, `.permissionDenied`, `.closed`, `.forked`, `.io`.
  @discardableResult
  public func remove(forKey key: some CacheKeyConvertible) throws(CacheError) -> Bool {
    try checkUsable("remove")
    let subject = subject(key)
    return try engine.countingErrors { () throws(CacheError) in try remove(subject.name, subject) }
  }

  /// Removes an entry, as `DiskEngine.remove` does, with what waits to take its place.
  package func remove(
    _ name: EntryName, _ subject: Subject? = nil,
    whileHeld: (Bool) -> Void = { _ in }
  ) throws(CacheError) -> Bool {
    try engine.remove(name, subject, onSettled: behind?.dropping(name), whileHeld: whileHeld)
  }

  /// Removes every entry and waits for the end, and for stores that were giving a file its name.
  /// Entries that other processes store meanwhile may stay. Goes on past a failure.
  ///
  /// - Throws: `CacheError`, as `removeAllInBackground()` and `RemovalProgress.wait()` do.
  @discardableResult
  public func removeAll() throws(CacheError) -> BulkRemoval {
    let progress = try removeAllInBackground()
    return try engine.countingErrors { () throws(CacheError) in try progress.wait() }
  }

  /// Starts to remove every entry. When this returns, reads in this process find none of the older
  /// values and totals are 0. Until the end, they may miss what other processes store.
  ///
  /// Waits for a removal that is running only if it has dropped more pending values than the
  /// `writeBehindLimit`, because they stay in memory until its end.
  ///
  /// - Throws: `CacheError`: `.readOnly`, `.closed`, `.forked`, and the reason for which a
  ///   directory that has replaced this one may not be used. A failure to read the directory is
  ///   found later and thrown by `RemovalProgress.wait()`.
  /// - Complexity: O(n) in memory; the files are removed in the background.
  public func removeAllInBackground() throws(CacheError) -> RemovalProgress {
    try checkUsable("removeAll")
    defer { engine.observers.letGo() }
    return try engine.startClearing(beside: behind)
  }

  /// Removes the expired entries, and those older than the age limit.
  ///
  /// Waits for the first scan, and for the files to be gone. What a sweep in the background has
  /// removed before is not counted.
  ///
  /// - Complexity: O(k log n) for k removed ones.
  /// - Throws: `CacheError`, as `removeAllInBackground()` does, and what the scan met.
  @discardableResult
  public func removeExpired() throws(CacheError) -> BulkRemoval {
    try trim(to: .living, "removeExpired")
  }

  /// Removes expired entries, then the least recently used, until the values take at most this many
  /// bytes, by the configured measure.
  ///
  /// Waits for the first scan, and for the files to be gone. An entry that is used or replaced
  /// meanwhile stays and is not counted. A negative number traps.
  ///
  /// - Throws: `CacheError`, as `removeAllInBackground()` does, and what the scan met.
  /// - Complexity: O(k log n) for k removed ones.
  @discardableResult
  public func trim(toCost byteCount: Int) throws(CacheError) -> BulkRemoval {
    precondition(byteCount >= 0, "a size to trim to is negative")
    return try trim(to: .size(byteCount))
  }

  /// Removes expired entries, then the least recently used, until there are at most this many.
  ///
  /// - Throws: `CacheError`, as `trim(toCost:)` does.
  /// - Complexity: O(k log n) for k removed ones.
  @discardableResult
  public func trim(toCount count: Int) throws(CacheError) -> BulkRemoval {
    precondition(count >= 0, "a count to trim to is negative")
    return try trim(to: .count(count))
  }

  /// Removes expired entries and those whose last access was an age ago or earlier.
  ///
  /// - Throws: `CacheError`, as `trim(toCost:)` does.
  /// - Complexity: O(k log n) for k removed ones.
  @discardableResult
  public func trim(toAge age: Duration) throws(CacheError) -> BulkRemoval {
    precondition(age >= .zero, "an age to trim to is negative")
    return try trim(to: .age(age))
  }

  /// Removes entries until a goal is reached, and counts the error that the caller gets.
  package func trim(
    to goal: TrimGoal, _ operation: String = "trim"
  ) throws(CacheError) -> BulkRemoval {
    try checkWhole(operation)
    return try engine.countingErrors { () throws(CacheError) in
      try engine.trim(operation) { TrimPlan(for: goal, at: $0, configuration) }
    }
  }

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
    // In a forked child nothing is removed any more, so the sequence ends at once.
    if engine.isForked { engine.removals.finish() }
    return engine.removals.add(bufferingNewest: limit)
  }
}

extension RemovalObservers<DiskRemovalEvent> {
  /// Reports to the sequences that an entry's file is gone. Called without the lock.
  func tell(_ name: EntryName, key: CacheKey? = nil, _ cause: RemovalCause) {
    guard isObserved.load(ordering: .relaxed) else { return }
    tell(DiskRemovalEvent(name: name.description, key: key, cause: cause))
  }
}
