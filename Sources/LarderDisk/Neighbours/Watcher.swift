package import LarderSystem
import Synchronization

/// A queue of events of an engine's directory, and its reading.
///
/// When an event comes, the process's `JobTimer` has one of the engine's threads read all events
/// and act on them. It looks for the next one 10 ms later, so that a burst of a neighbour's stores
/// wakes a thread a hundred times a second at most. A caller that cannot wait for it reads the
/// queue itself with `catchUp`.
///
/// A change by another process goes through these steps:
///
/// 1. `EventQueue`: the kernel writes an event for the name.
/// 2. `Watcher`: reads the queue to its end and collects the names as an `EventBatch`.
/// 3. `DiskEngine.act(on:since:)`: looks at the file of each name (`DiskEngine+Neighbours.swift`).
/// 4. `EngineState.settle`: the index takes over the difference.
/// 5. `EngineObservers`: the memory tiers drop the value.
///
/// Two other ways lead to step 4: a scan, on a schedule if there are no events (`RescanSchedule`),
/// and a read that finds another file or none.
package final class Watcher: Sendable {
  private struct State: Sendable {
    /// The watch on the directory as it is held now.
    var watch: Int32?
    /// The thread that reads events and acts on them.
    var reader: ThreadIdentity?
    /// Whether no thread may begin to read any more.
    var isStopped = false
    /// A time by the system's clock at which the queue had been read to its end.
    var lastEmpty = WallClock.systemCoarse.now()
  }

  /// The answer to a thread that wants to read.
  private enum Turn: Sendable {
    case granted
    /// The call comes from inside of the reading.
    case alreadyReading
    /// The watcher was stopped.
    case refused
  }

  private let queue: EventQueue
  private let state = ForkSafeMutex(State())
  private let changed = EventCount()
  // Raised before the queue is read and lowered when everything read was acted upon. The flag is
  // sequentially consistent and the look at the queue is a system call, so a caller that finds the
  // queue empty and the flag down has missed nothing that happened before.
  private let isReading = Atomic<Bool>(false)
  private weak let engine: DiskEngine?
  private let threads: IOExecutor

  /// The pause in which events gather. Together with the time to act on them it stays below the
  /// time by which a memory tier may trail, which is 50 ms.
  private static let gatheringTime = Duration.milliseconds(10)
  /// The length of the buffer for events. 64 KiB hold 1,024 events of entries' names.
  private static let bufferByteCount = 64 << 10

  /// Makes the watch; `start()` begins to wait for events.
  init(_ engine: DiskEngine) throws(Errno) {
    self.engine = engine
    threads = engine.threads
    queue = try EventQueue(faults: engine.configuration.faults)
    try follow(engine.location)
  }

  /// Watches the directory that is held now instead of the one before.
  func follow(_ location: DirectoryLocation) throws(Errno) {
    var handle: DirectoryHandle
    repeat {
      handle = location.handle
      try watch(handle, path: location.path)
      // Another thread may have followed another replacement meanwhile, and this watch may have
      // replaced that thread's.
    } while handle !== location.handle
  }

  private func watch(_ handle: DirectoryHandle, path: String) throws(Errno) {
    let fresh = try queue.watch(handle, path: path, for: EventBatch.kinds)
    let old = state.withLock { state in
      let old = state.watch
      state.watch = fresh
      return old
    }
    guard let old, old != fresh else { return }
    do throws(Errno) {
      try queue.endWatch(old)
    } catch {
      // The watch has ended with its directory.
    }
  }

  /// Begins to wait for events.
  ///
  /// - Throws: `EAGAIN` if the system has no thread left.
  func start() throws(Errno) {
    try waitForEvents(after: .zero)
    // `stop()` had nothing to forget if it came first.
    if state.withLock({ $0.isStopped }) { JobTimer.own.forget(queue.number) }
  }

  private func waitForEvents(after delay: Duration) throws(Errno) {
    try JobTimer.own.submit(whenReadable: queue.number, after: delay, to: threads) {
      [weak self] in self?.readForOwnThread()
    }
  }

  /// Ends the watching. No thread acts on an event afterwards, except one that calls this while it
  /// acts, inside of that action.
  ///
  /// Waits for a thread that is acting on events. The queue is closed by one of the engine's
  /// threads, because that takes long.
  func stop() {
    while true {
      let ticket = changed.ticket()
      let mustWait = state.withLock { state in
        state.isStopped = true
        return state.reader != nil && state.reader != .current
      }
      guard mustWait else { break }
      changed.wait(ticket)
    }
    guard queue.mayEndElsewhere() else { return JobTimer.own.forget(queue.number) }
    threads.submit { [self] in JobTimer.own.forget(queue.number) }
  }

  /// Reads and acts after an event, and begins to wait for the next one.
  ///
  /// The engine is held only during the turn. Its end can begin while nothing happens.
  private func readForOwnThread() {
    guard takeTurn() == .granted else { return }
    defer { endTurn() }
    guard let engine else { return }
    readEvents(for: engine)
    // Within the turn, so that `stop()` waits for it and forgets it.
    if state.withLock({ $0.isStopped }) { return }
    do throws(Errno) {
      try waitForEvents(after: Self.gatheringTime)
    } catch {
      engine.eventsEnded(because: error)
    }
  }

  /// Reads what has happened, so that the engine knows everything up to the time of the call.
  ///
  /// - Returns: Whether that was possible. It is not after `stop()` if events are left.
  /// - Complexity: One system call if nothing has happened.
  func catchUp(_ engine: DiskEngine) throws(Errno) -> Bool {
    if try queue.isEmpty, !isReading.load(ordering: .sequentiallyConsistent) { return true }
    switch takeTurn() {
    case .alreadyReading: return true
    case .refused: return false
    case .granted: break
    }
    defer { endTurn() }
    readEvents(for: engine)
    return true
  }

  /// Reads the events and acts on them. The caller has the turn, because the order of events
  /// counts.
  private func readEvents(for engine: DiskEngine) {
    var buffer = [UInt8](repeating: 0, count: Self.bufferByteCount)
    // Read from the coarse clock, because the kernel takes change times from it.
    let start = state.withLock { $0.lastEmpty }
    var batch = EventBatch()
    do throws(Errno) {
      // Taken before each read, so that no event that the read misses is older than this time.
      var time = WallClock.systemCoarse.now()
      // Reads to the end of the queue before any name is looked at, because most files that came
      // and went meanwhile cancel out.
      let isEmpty = try queue.readAll(into: &buffer) { events in
        let watch = state.withLock { $0.watch ?? -1 }
        for event in events { batch.add(event, watch: watch) }
        time = WallClock.systemCoarse.now()
      }
      if isEmpty { state.withLock { [time] in $0.lastEmpty = time } }
    } catch {
      engine.eventsEnded(because: error)
    }
    if !batch.isEmpty { engine.act(on: batch, since: start) }
  }

  /// Waits for the turn to read. A thread that is granted it calls `endTurn()`.
  private func takeTurn() -> Turn {
    while true {
      let ticket = changed.ticket()
      let turn: Turn? = state.withLock { state in
        if state.reader == .current { return .alreadyReading }
        if state.isStopped { return .refused }
        guard state.reader == nil else { return nil }
        state.reader = .current
        return .granted
      }
      if turn == .granted { isReading.store(true, ordering: .sequentiallyConsistent) }
      if let turn { return turn }
      changed.wait(ticket)
    }
  }

  private func endTurn() {
    isReading.store(false, ordering: .sequentiallyConsistent)
    state.withLock { $0.reader = nil }
    changed.signal()
  }
}

/// The state of an engine's watching of its directory.
package final class Watching: Sendable {
  /// The progress of the watching.
  package enum State: Sendable {
    /// No object has needed it yet.
    case notStarted
    /// A thread makes the watcher, or the system has refused it and scans take its place.
    case starting
    case watching(Watcher)
    /// The engine is ending.
    case ended
  }

  let state = ForkSafeMutex(State.notStarted)
  /// Whether an object on the directory wants to follow events. The engine outlives that object.
  let isWanted = Atomic<Bool>(false)
  /// Whether another thread is to make the start.
  let isPlanned = Atomic<Bool>(false)
  /// Whether the start was tried, read without a lock.
  let isSettled = Atomic<Bool>(false)
  /// Whether the directory was moved away, and its path has not led to one again since.
  let isAstray = Atomic<Bool>(false)
  /// Whether the system has refused events, so that some may have been missed.
  let hasFailed = Atomic<Bool>(false)
  /// Whether events report everything that other processes do.
  let isComplete = Atomic<Bool>(false)

  /// Goes on to a state; returns false and does nothing if the engine has ended.
  func advance(to next: State) -> Bool {
    state.withLock { state in
      if case .ended = state { return false }
      state = next
      return true
    }
  }

  /// Sets whether events report everything, unless the engine has ended or the system has refused
  /// events. Other machines' changes bring none.
  func complete(_ isComplete: Bool) {
    state.withLock { state in
      if case .ended = state { return }
      self.isComplete.store(isComplete, ordering: .sequentiallyConsistent)
      // The thread that reads the events may have failed already.
      if hasFailed.load(ordering: .sequentiallyConsistent) {
        self.isComplete.store(false, ordering: .releasing)
      }
    }
  }
}

/// The names that some events of a directory concern, each name once.
///
/// A pure value. Events say in order that something happened to a name. They say neither what the
/// name stands for now nor which process did it. Only the last event of a name counts.
package struct EventBatch: Sendable, Equatable {
  /// The names with events, and whether the last event freed the name.
  private(set) var names: [EntryName: Bool] = [:]
  /// The names that had another event before the one that freed them.
  private(set) var passing: Set<EntryName> = []
  /// Whether events were lost. Any name may have changed then.
  private(set) var isIncomplete = false
  /// Whether the directory itself was moved, removed or unmounted.
  private(set) var concernsDirectory = false

  /// The kinds of events that are asked of the kernel.
  ///
  /// A store, here or by a neighbour, ends with a new name or a rename. A stamp changes attributes.
  /// A person's write ends with the close of the file; events of each write as well would cost
  /// every store one more event. The order of the bits has no meaning.
  package static let kinds: DirectoryEvent.Kind = [
    .created, .movedTo, .movedFrom, .removed, .attributes, .closedAfterWriting, .removedSelf,
    .movedSelf,
  ]

  /// Whether no event concerns the cache.
  var isEmpty: Bool { self == EventBatch() }

  /// Adds the next event.
  ///
  /// - Parameter watch: The watch on the directory that is held. Events of an earlier watch concern
  ///   another directory.
  mutating func add(_ event: DirectoryEvent, watch: Int32) {
    if event.kind.contains(.overflow) { isIncomplete = true }
    guard event.watch == watch else { return }
    guard let name = event.name else {
      if event.endsWatch { concernsDirectory = true }
      return
    }
    // Temporaries and unnamed files bring events of their stamps too, which are dropped here.
    guard let entry = EntryName(name) else { return }
    let isGone = event.removesName
    if names.updateValue(isGone, forKey: entry) == false, isGone { passing.insert(entry) }
  }
}
