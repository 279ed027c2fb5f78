package import LarderBasics
package import LarderSystem
import Synchronization

/// The engine that all objects on one directory share within a process. It holds the open
/// directory, the index, and the locks of the names that threads are changing.
///
/// The disk tier has one lock, around `EngineState`. A thread that holds it does not touch the disk
/// and does not wait.
package final class DiskEngine: Sendable {
  package let configuration: DiskCache.Configuration
  package let location: DirectoryLocation
  package let generations = EntryGenerations()
  private let state: ForkSafeMutex<EngineState>
  /// The event that is signalled when a name is free again, or a purge or a scan ends.
  let changed = EventCount()
  /// The memory tiers in front of this directory in this process.
  package let observers: EngineObservers
  /// The watch on the directory's events, which starts when they are first needed.
  let watching = Watcher()
  /// The sequences that receive the events of entries that leave the directory.
  let removals = RemovalObservers<DiskRemovalEvent> { $0.missedCount = $1 }
  /// The threads of the engine's own jobs: one for each kind, so that a disk that hangs holds few.
  let threads = IOExecutor()
  /// The threads of jobs that wait for those of `threads`: the writing of waiting values and the
  /// end. A thread that runs a job for want of another thread is in the middle of its own.
  let waiting = IOExecutor()
  /// The turns of loads with those of other processes.
  let turns = ForkSafeMutex(TurnTable<CheckedContinuation<Bool, Never>>())
  let writer: EntryWriter
  package let reader: EntryReader
  package let recency: Recency
  /// A mirror of `EngineState.hasRarity`, because every read needs it.
  private let hasRarity = Atomic<Bool>(false)
  /// A mirror of `FullDiskEvictions.count`, because every store reads it before it writes.
  let fullDiskMark = Atomic<Int>(0)
  /// A mirror of `Clearing.count`, because stores check it under a memory tier's lock.
  let clearMark = Atomic<Int>(0)
  /// The longest time for which a load has served expired values, in seconds. Sweeps spare them.
  let grace = Atomic<Int>(0)
  /// The asynchronous reads that their callers' threads and those of caches answered.
  let promptReads = Atomic<Int>(0)
  let switchedReads = Atomic<Int>(0)
  /// The attempts of callers' threads, of which now and then one lets other tasks run first.
  let promptTurns = Atomic<Int>(0)
  private let forkCount = ProcessIdentity.forkCount
  /// Whether the clock is the caller's.
  private let hasOwnClock: Bool
  /// The last time that a clock of the caller's has shown.
  private let lastReading = ForkSafeMutex(Timestamp(seconds: 0))

  init(_ location: DirectoryLocation, _ configuration: DiskCache.Configuration) {
    self.location = location
    self.configuration = configuration
    observers = EngineObservers(threads)
    recency = Recency(
      granularity: configuration.recencyGranularity, isReadOnly: configuration.mode.isReadOnly)
    hasOwnClock = configuration.clock.isOwn
    writer = EntryWriter(configuration)
    reader = EntryReader(configuration, location)
    var start = EngineState()
    start.catalog.index = EntryIndex(inClassesBy: configuration.valueMeasure)
    let lastStamp = configuration.clock.lastStamp(in: location.handle.identity)
    if let lastStamp { start.catalog.uses.advance(to: lastStamp) }
    state = ForkSafeMutex(start)
  }

  package var now: Timestamp {
    let now = configuration.clock.now()
    if hasOwnClock { lastReading.withLock { $0 = now } }
    return now
  }

  /// The time for a thread that may hold a name. A clock of the caller's, which may use the cache,
  /// is not read then: its last reading counts, that before the name was taken or a later one.
  package var heldNow: Timestamp {
    hasOwnClock ? lastReading.withLock { $0 } : configuration.clock.now()
  }
  /// Reads a clock of the caller's, before a thread takes a name.
  func readOwnClock() { if hasOwnClock { _ = now } }

  /// Returns the time by which an expiry is judged: near it the server's on a network.
  package func timeToJudge(_ expiry: Timestamp, at now: Timestamp) -> Timestamp {
    isOnNetwork ? withState { $0.serverClock.time(toJudge: expiry, at: now) } : now
  }

  /// Whether other machines may share the directory that is held now.
  var isOnNetwork: Bool { location.isOnNetwork }
  package var isReadOnly: Bool { configuration.mode.isReadOnly }
  package var isForked: Bool { forkCount != ProcessIdentity.forkCount }

  /// A copy of the index. Its chunks are shared until one of the two writes to them.
  package var entryIndex: EntryIndex { withState { $0.catalog.index } }

  /// Runs a change of one name, while no other thread of this process changes that name.
  ///
  /// The caller must not hold another name, and must not wait for an eviction inside.
  func changing<Result, Failure: Error>(
    _ name: EntryName, readsClock: Bool = true,
    _ body: (borrowing HeldName) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let held = acquire(name, readsClock: readsClock)
    defer { release(name) }
    return try body(held)
  }

  /// Takes a name, after every other change of it. Reads a clock of the caller's before, unless the
  /// thread holds what such a clock may wait for.
  @discardableResult
  func acquire(_ name: EntryName, readsClock: Bool = true) -> HeldName {
    if readsClock { readOwnClock() }
    let (epoch, phase) = wait { $0.locks.take(name) ? ($0.epoch, $0.phase) : nil }
    generations.begin(name)
    return HeldName(name: name, epoch: epoch, phase: phase)
  }

  func release(_ name: EntryName) {
    generations.end(name)
    giveBack(name)
  }

  /// Gives a name back of which nothing was changed but the last access and an extended expiry.
  func giveBack(_ name: EntryName) {
    let (isFree, isUnclaimed) = withState {
      ($0.locks.giveBack(name), $0.evictions.hasUnclaimedPurge)
    }
    if !isFree { followLateEvents(of: name) }
    changed.signal()
    if threads.hasLeftJobs { threads.runReady() }
    if isUnclaimed || !isFree { carryOnPurge() }
  }

  /// Runs a job on one of the engine's threads. If the system has no thread left, this one runs it,
  /// once no thread holds a name: this one may, and the job may wait for it.
  func runAside(_ job: @escaping Job) {
    if threads.submitAside(job) { return }
    if withState({ $0.locks.isEmpty }) { threads.runReady() }
  }

  /// Runs a job on one of the engine's threads after a delay, unless the engine is gone by then.
  func runLater(after delay: Duration, _ job: @escaping @Sendable (DiskEngine) -> Void) {
    JobTimer.own.submit(after: delay, to: threads) { [weak self] in if let self { job(self) } }
    // The engine may have ended since, and have forgotten what was planned before.
    if withState({ $0.phase == .ended }) { JobTimer.own.forget(jobsOf: threads) }
  }

  /// Waits until the state fulfils a condition, which is checked after every signal of `changed`.
  func wait<Result: Sendable>(
    file: StaticString = #fileID, line: Int = #line,
    for condition: (inout EngineState) -> Result?
  ) -> Result {
    changed.wait { withState(file: file, line: line) { condition(&$0) } }
  }

  /// Makes a best-effort system call. Counts a failure, and returns nil then.
  @discardableResult
  func upkeep<Result>(_ call: @autoclosure () throws(Errno) -> Result) -> Result? {
    do throws(Errno) {
      return try call()
    } catch {
      noteUpkeepFailure(error)
      return nil
    }
  }

  /// Counts a failure of a best-effort step.
  package func noteUpkeepFailure(_ errno: Errno) {
    count { $0.upkeepFailures[errno, default: 0] += 1 }
  }

  /// Changes the counters alone.
  func count(_ note: (inout DiskStatistics) -> Void) { withState { note(&$0.counters) } }

  /// Reads or changes the state under the lock. The closure must neither wait nor touch the disk.
  // Always inlined, as the mutex's own: a call would copy what the closure captures, such as a key.
  @inline(__always)
  func withState<Result: Sendable>(
    file: StaticString = #fileID, line: Int = #line, _ body: (inout EngineState) -> Result
  ) -> Result {
    state.withLock { state in
      #if LARDER_HOLDS || LARDER_SCHEDULES
        let start = HoldRecord.Start()
        defer { HoldRecord.engine.note(start, file, line) }
      #endif
      let result = body(&state)
      let now = state.hasRarity
      // Stored under the lock, so that an earlier value cannot overwrite a later one.
      if now != hasRarity.load(ordering: .relaxed) { hasRarity.store(now, ordering: .releasing) }
      return result
    }
  }

  /// Whether something is so that `EngineState.hasRarity` includes, as of a moment during the call.
  ///
  /// Usually the mirror, which is set before what was so before the call, shows that it is not.
  @inline(__always)
  func finds(_ rarity: (inout EngineState) -> Bool) -> Bool {
    hasRarity.load(ordering: .acquiring) && withState(rarity)
  }

  /// Whether a name's file counts as gone in this process.
  func hidesFile(named name: EntryName) -> Bool { finds { $0.hidesFile(named: name) } }

  /// Runs what a caller asked for, counts its error, and lets go what it took out of memory.
  ///
  /// Errors are counted here and not where they arise, because the engine may retry or ignore them.
  // Inlined, because a closure that is called retains the engine.
  @inline(__always)
  package func countingErrors<Result>(
    _ body: () throws(CacheError) -> Result
  ) throws(CacheError) -> Result {
    defer { observers.letGo() }
    do throws(CacheError) {
      return try body()
    } catch {
      throw counted(error)
    }
  }

  /// Counts an error that has a system error number, and returns it.
  package func counted(_ error: CacheError) -> CacheError {
    if let errno = error.errno { count { $0.errors[errno, default: 0] += 1 } }
    return error
  }

  /// Tells the memory tiers of a change, except the one that made it.
  // Inlined, so that a change in a cache without a memory tier costs one look.
  @inline(__always)
  func tell(_ change: @autoclosure () -> DiskChange, except origin: ObjectIdentifier? = nil) {
    if !observers.isEmpty { observers.tell(change(), except: origin) }
  }
}

/// Makes a system call for an operation, whose error tells of the number that it throws.
// Inlined, because a closure that is called retains what it captures.
@inline(__always)
package func attempt<Result: ~Copyable>(
  _ operation: String, at path: @autoclosure () -> String?,
  _ call: @autoclosure () throws(Errno) -> Result
) throws(CacheError) -> Result {
  do throws(Errno) {
    return try call()
  } catch {
    throw CacheError(errno: error, operation: operation, path: path())
  }
}

extension EventCount {
  /// Waits until a condition gives a result. It is checked after every signal.
  func wait<Result, Failure: Error>(
    for condition: () throws(Failure) -> Result?
  ) throws(Failure) -> Result {
    while true {
      let ticket = self.ticket()
      if let result = try condition() { return result }
      wait(ticket)
    }
  }
}
