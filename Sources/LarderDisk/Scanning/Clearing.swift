import LarderSystem

/// The removal of everything: it hides all files at once and removes them one after the other.
///
/// 1. `begin`: every file is hidden.
/// 2. A walk through the directory removes the files of the names that are still hidden. It keeps a
///    file that was stored meanwhile or turns out to be newer.
/// 3. `endWalk`: another walk follows if a further removal has begun during this one.
/// 4. `reveal`: nothing is hidden any more, because the walk is over or another directory is held.
/// 5. `end`: the waiting threads have been woken, and the next removal may begin.
struct Clearing: Sendable {
  /// The number of removals that have begun.
  private(set) var count = 0
  /// Whether a removal has begun and not ended.
  private(set) var isRunning = false
  private var isWalking = false
  /// The progress of the removals that have begun during the walk.
  private var next: RemovalProgress?
  /// Whether any file is hidden.
  // A flag of its own and not an optional set, because every look at the engine's state checks it.
  private(set) var hidesFiles = false
  /// The totals of the hidden files that are known to be still on the disk.
  private(set) var remaining = IndexTotals()
  /// The names whose files are not hidden; empty while nothing is hidden.
  private var kept: NameSet = []
  /// The files that this process has stamped since the beginning.
  private var restamped: NameMap<FileStatus> = [:]
}

extension Clearing {
  /// Whether the file of a name is hidden, so that the walk removes it.
  func hides(_ name: EntryName) -> Bool {
    hidesFiles && !kept.contains(name)
  }

  /// Whether a removal that still hides files has begun since `count` was read.
  func hasBegun(since count: Int) -> Bool { self.count != count && hidesFiles }

  /// Whether a removal may begin: none is running, or its walk goes on in the directory that is
  /// held.
  var mayBegin: Bool { !isRunning || isWalking && hidesFiles }

  /// Hides everything, also what was stored since a removal that is running began.
  ///
  /// - Parameter remaining: The totals of the files, for which a store under a limit waits; zero
  ///   before the first scan.
  /// - Returns: The progress, whether the caller starts the walk, and what it releases.
  @discardableResult
  mutating func begin(
    remaining: IndexTotals
  ) -> (progress: RemovalProgress, mustWalk: Bool, Remains) {
    count += 1
    hidesFiles = true
    // The stamps stay: the walk may have met their files before.
    let remains = Remains(kept: kept, restamped: [:])
    kept = []
    self.remaining.add(remaining)
    let (progress, mustWalk) = (next ?? RemovalProgress(), !isWalking)
    if isWalking { next = progress }
    (isRunning, isWalking) = (true, true)
    return (progress, mustWalk, remains)
  }

  /// Ends a walk. Returns the progress of the walk that has to follow; nil for none.
  mutating func endWalk() -> RemovalProgress? {
    isWalking = next != nil
    return exchange(&next, with: nil)
  }

  /// The sets of a removal that hides nothing any more. The caller releases them outside of the
  /// engine's lock.
  struct Remains: Sendable {
    fileprivate let kept: NameSet
    fileprivate let restamped: NameMap<FileStatus>
  }

  /// Hides nothing any more.
  @discardableResult
  mutating func reveal() -> Remains {
    let remains = Remains(kept: kept, restamped: restamped)
    hidesFiles = false
    kept = []
    restamped = [:]
    remaining = IndexTotals()
    return remains
  }

  /// Lets the next removal begin.
  mutating func end() { isRunning = false }
}

// Names during a removal.
extension Clearing {
  /// Keeps the file that a name has now.
  mutating func keep(_ name: EntryName) {
    if hidesFiles { kept.insert(name) }
  }

  /// Notes the status of a file that this process has stamped. The walk may have met it before.
  mutating func noteRestamped(_ name: EntryName, _ status: FileStatus) {
    guard hidesFiles, restamped[name].map({ $0.change < status.change }) ?? true else { return }
    restamped[name] = status
  }

  /// Returns the change time that an entry's file must have to be removed; nil if the entry stays.
  func changeTime(toRemove entry: IndexedEntry) -> Timestamp? {
    guard hides(entry.name) else { return nil }
    guard let own = restamped[entry.name], own.inode == entry.inode else { return entry.changeTime }
    return max(own.change, entry.changeTime)
  }

  /// Subtracts a file that is gone from those that remain.
  mutating func noteGone(_ entry: IndexedEntry) {
    remaining.subtractAtMost(
      byteCount: entry.byteCount, allocatedByteCount: entry.allocatedByteCount)
  }
}
