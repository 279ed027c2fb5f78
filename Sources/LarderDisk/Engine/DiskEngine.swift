import LarderBasics
package import LarderSystem
import Synchronization

/// What all objects on one directory in one process share: the open directory, the index, and the
/// threads' agreement on who changes which name.
///
/// The disk tier has one lock, around `EngineState`, and nothing touches the disk or waits under
/// it.
package final class DiskEngine: Sendable {
  package let configuration: DiskCache.Configuration
  let location: DirectoryLocation
  package let generations = EntryGenerations()
  private let state = ForkSafeMutex(EngineState())
  /// Signalled when a name is free again, victims are gone, a scan ends.
  let changed = EventCount()
  /// The memory tiers in front of this directory in this process.
  package let observers = EngineObservers()
  /// The events of the directory, from when they are first needed.
  let watching = Watching()
  /// The sequences that hear of what leaves the directory.
  let removals = RemovalObservers<DiskRemovalEvent> { $0.missedCount = $1 }
  let writer: EntryWriter
  let reader: EntryReader
  let recency: Recency
  /// Flags that every read checks, mirrored in an atomic so that reads need no lock.
  private let rarities = Atomic<UInt8>(0)
  // Asked by every read: what the directory is on is known by its handle, behind a lock.
  private let networkMark: Atomic<Bool>
  private let pathMark: Atomic<Bool>
  /// Mirrors `FullDisk.count`: every store asks it before it writes.
  let fullDiskMark = Atomic<Int>(0)
  private let forkCount = ProcessIdentity.forkCount

  init(_ location: DirectoryLocation, _ configuration: DiskCache.Configuration) {
    self.location = location
    self.configuration = configuration
    recency = configuration.recency
    let fileSystem = configuration.fileSystem ?? location.handle.fileSystem
    networkMark = Atomic(fileSystem.isNetwork)
    pathMark = Atomic(fileSystem.isPathBound)
    writer = EntryWriter(configuration, fileSystem)
    reader = EntryReader(configuration, location)
    let lastStamp = configuration.clock.lastStamp(in: location.handle.identity)
    state.withLock { state in
      state.counters.note(isDirectoryUnsafe: location.isUnsafe)
      if let lastStamp { state.uses.resume(from: lastStamp) }
    }
  }

  package var now: Timestamp { configuration.clock.now() }
  /// Whether other machines may share the directory that is held now.
  var isOnNetwork: Bool { networkMark.load(ordering: .relaxed) }
  /// Whether an open file may be answered for by another that took its path.
  var isPathBound: Bool { pathMark.load(ordering: .relaxed) }
  /// What the directory that is held now is on.
  var fileSystem: FileSystemKind { configuration.fileSystem ?? location.handle.fileSystem }
  package var isReadOnly: Bool { configuration.mode.isReadOnly }
  var isForked: Bool { forkCount != ProcessIdentity.forkCount }

  /// Asks anew what the directory is on, after another one has taken its place.
  func noteFileSystem() { note(fileSystem) }

  /// Goes by another file system from now on: reads, stores, and what events can tell.
  ///
  /// Where they begin to tell all, they do once the directory is watched.
  func note(_ fileSystem: FileSystemKind) {
    networkMark.store(fileSystem.isNetwork, ordering: .relaxed)
    pathMark.store(fileSystem.isPathBound, ordering: .relaxed)
    writer.note(fileSystem)
    if fileSystem.isNetwork { watching.isComplete.store(false, ordering: .releasing) }
  }

  /// Runs a change of one name, after every other change of it and before the next.
  ///
  /// The caller must not hold another name, and must not wait for the evictor inside.
  func changing<Result, Failure: Error>(
    _ name: EntryName, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    acquire(name)
    defer { release(name) }
    return try body()
  }

  func acquire(_ name: EntryName) {
    while true {
      let ticket = changed.ticket()
      if withState({ $0.locks.take(name) }) { break }
      changed.wait(ticket)
    }
    generations.begin(name)
  }

  func release(_ name: EntryName) {
    generations.end(name)
    if !withState({ $0.locks.giveBack(name) }) { followLateNews(of: name) }
    changed.signal()
  }

  /// Waits until the state fulfils a condition, which is tried after every signal.
  func wait<Result: Sendable>(for condition: (inout EngineState) -> Result?) -> Result {
    while true {
      let ticket = changed.ticket()
      if let result = withState({ condition(&$0) }) { return result }
      changed.wait(ticket)
    }
  }

  /// Counts a failure of a best-effort step.
  package func noteUpkeepFailure(_ errno: Errno) {
    withState { $0.counters.countUpkeepFailure(errno) }
  }

  /// Looks at or changes what the engine knows. The closure must neither wait nor touch the disk.
  // Always inlined, and the mutex's own with it: else what a closure captures, such as a key, is
  // copied for each look.
  @inline(__always)
  func withState<Result: Sendable>(_ body: (inout EngineState) -> Result) -> Result {
    state.withLock { state in
      #if LARDER_HOLDS
        let start = HoldRecord.Start()
        defer { HoldRecord.engine.note(start) }
      #endif
      let result = body(&state)
      let now = state.rarities.rawValue
      // Under the lock, so that of two changes the later one is not overtaken.
      if now != rarities.load(ordering: .relaxed) { rarities.store(now, ordering: .releasing) }
      return result
    }
  }

  /// Whether a flag was set at some moment during the call.
  func mayBe(_ rarity: EngineState.Rarities) -> Bool {
    EngineState.Rarities(rawValue: rarities.load(ordering: .acquiring)).contains(rarity)
  }

  /// Whether a name's file is gone in this process's view, as of a moment before the call returns.
  ///
  /// Most of the time nothing is hidden, which shows without the lock: what was hidden before the
  /// call set the mark before.
  func hidesFile(named name: EntryName) -> Bool {
    guard mayBe(.hidesFiles) else { return false }
    return withState { $0.hidesFile(named: name) }
  }
}
