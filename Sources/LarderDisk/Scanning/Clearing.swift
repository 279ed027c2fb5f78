public import LarderBasics
import LarderSystem
import Synchronization

/// The removal of everything. The index decides what it takes, and no time is compared: while it
/// hides files, a name that the index does not hold counts as free.
///
/// 1. `begin`: the index becomes empty, and a scan that is going on is given up. What this process
///    stores from here on enters the index, so it stays.
/// 2. A walk through the directory removes the files of the names that the index does not hold. A
///    file that it cannot remove, or that took its name after the walk had read it, becomes an
///    entry again. Then the walk waits for all names that are held, and removes the files of stores
///    that held their names at the beginning, which no read may find before that.
/// 3. `endWalk`: another walk follows if a further removal has begun during this one.
/// 4. `reveal`: nothing is hidden any more, because the last walk has ended or another directory is
///    held.
/// 5. `end`: the waiting threads have been woken, and the next removal may begin.
struct Clearing: Sendable {
  /// The number of removals that have begun.
  private(set) var count = 0
  /// Whether a removal has begun and not ended.
  private(set) var isRunning = false
  private var isWalking = false
  /// The progress of the removals that have begun during the walk.
  private var next: RemovalProgress?
  /// Whether a name that the index does not hold counts as free.
  private(set) var hidesFiles = false
  /// The totals of the hidden files that are known to be still on the disk.
  private(set) var remaining = IndexTotals()
  /// The files of stores that held their names when a removal began. A walk removes them as well.
  var late: [EntryName: IndexedEntry] = [:]

  /// Whether a removal may begin: none is running, or its walk goes on in the held directory.
  var mayBegin: Bool { !isRunning || isWalking && hidesFiles }

  /// Hides everything, also what was stored since a removal that is running began.
  ///
  /// - Parameter remaining: The totals, for which a store under a limit waits; 0 before a scan.
  /// - Returns: The progress, and the number of the walk that the caller starts, if it does.
  @discardableResult
  mutating func begin(remaining: IndexTotals) -> (progress: RemovalProgress, walk: Int?) {
    count += 1
    hidesFiles = true
    self.remaining += remaining
    let (progress, walk) = (next ?? RemovalProgress(), isWalking ? nil : count)
    if isWalking { next = progress }
    (isRunning, isWalking) = (true, true)
    return (progress, walk)
  }

  /// Notes that a walk has read all names. What is still counted is gone by other hands, unless
  /// another walk follows, so that no store waits for it while this one waits for held names.
  mutating func endReading() { if next == nil { remaining = IndexTotals() } }

  /// Ends a walk. Returns the progress and the number of the walk that has to follow; nil for none,
  /// and nothing is hidden any more then.
  mutating func endWalk() -> (progress: RemovalProgress, walk: Int)? {
    isWalking = next != nil
    if !isWalking { reveal() }
    return exchange(&next, with: nil).map { ($0, count) }
  }

  /// Hides nothing any more.
  mutating func reveal() {
    hidesFiles = false
    remaining = IndexTotals()
  }

  /// Lets the next removal begin.
  mutating func end() { isRunning = false }

  /// Subtracts a file from those that remain, because it is gone or an entry again.
  mutating func subtract(_ entry: IndexedEntry) {
    remaining -= IndexTotals(
      byteCount: entry.byteCount, allocatedByteCount: entry.allocatedByteCount)
  }
}

/// A removal of everything that goes on in the background.
public final class RemovalProgress: Sendable {
  private let state = ForkSafeMutex<State>((BulkRemoval(), nil))
  private let changed = EventCount()
  /// The state at the end, which needs no lock that a forked child may have inherited locked.
  private let outcome = AtomicLazyReference<Outcome>()
  private let forkCount = ProcessIdentity.forkCount

  private typealias State = (result: BulkRemoval, failure: CacheError?)

  private final class Outcome: Sendable {
    let state: State

    init(_ state: State) { self.state = state }
  }

  /// The entries removed so far.
  ///
  /// Grows until the end; never waits. Empty in a child that was forked before the end.
  public var result: BulkRemoval {
    if let outcome = outcome.load() { return outcome.state.result }
    return isForked ? BulkRemoval() : state.withLock { $0.result }
  }

  /// Whether the removal has ended.
  public var isFinished: Bool { outcome.load() != nil }

  private var isForked: Bool { forkCount != ProcessIdentity.forkCount }

  /// Waits for the end.
  ///
  /// - Throws: `CacheError` if the directory could not be read; removed entries stay removed.
  ///   `.forked` in a forked child, unless the end came before the fork, because the removal is the
  ///   parent's and goes on there.
  /// - Returns: All entries removed.
  @discardableResult
  public func wait() throws(CacheError) -> BulkRemoval {
    let end = try changed.wait { () throws(CacheError) -> Outcome? in
      if let outcome = outcome.load() { return outcome }
      if isForked { throw CacheError(.forked, operation: "removeAll") }
      return nil
    }
    if let failure = end.state.failure { throw failure }
    return end.state.result
  }

  /// Adds the outcome of some entries; `result` includes it at once.
  func add(_ result: BulkRemoval) { state.withLock { $0.result.add(result) } }

  /// Notes the failure that `wait()` throws. `finish()` has to follow.
  func fail(_ error: CacheError) { state.withLock { $0.failure = error } }

  /// Ends the removal and wakes all waiting threads.
  func finish() {
    _ = outcome.storeIfNil(Outcome(state.withLock { $0 }))
    changed.signal()
  }
}
