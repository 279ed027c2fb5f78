package import LarderSystem
import Synchronization

/// The watch on an engine's directory: a queue of events, and its reading.
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
/// 3. `DiskEngine.act(on:)`: looks at the file of each name (`DiskEngine+Neighbours.swift`).
/// 4. `EngineState.settle`: the index takes over the difference.
/// 5. `EngineObservers`: tells the memory tiers, which drop the value.
///
/// Two other ways lead to step 4: a scan, which without events comes after so many stores of this
/// process (`RescanSchedule`), and a read that finds another file or none.
package final class Watcher: Sendable {
  /// The progress of the watching. Each step comes once at most, and in this order.
  enum Progress: Int, Sendable {
    /// No object has needed it yet.
    case notStarted
    /// Another thread is to start it.
    case planned
    case started
    /// The directory is watched, or cannot be.
    case settled
    /// The engine is ending.
    case ended
  }

  private struct State: Sendable {
    /// Nil before the start and after the end of the events.
    var queue: EventQueue?
    /// The watch on the directory as it is held now.
    var watch: Int32?
    /// The thread that reads events and acts on them.
    var reader: ThreadIdentity?
  }

  private let state = ForkSafeMutex(State())
  private let changed = EventCount()
  /// Whether an object on the directory wants to follow events. The engine outlives that object.
  let isWanted = Atomic<Bool>(false)
  private let progress = Atomic(Progress.notStarted.rawValue)
  /// Whether events report everything that other processes do.
  let isComplete = Atomic<Bool>(false)

  /// The pause in which events gather. Together with the time to act on them it stays below the
  /// time by which a memory tier may trail, which is 50 ms.
  private static let gatheringTime = Duration.milliseconds(10)
  /// The length of the buffer for events. 64 KiB hold 1,024 events of entries' names.
  private static let bufferByteCount = 64 << 10

  /// Goes on to a step; returns false and does nothing if that has come before.
  @discardableResult
  func advance(to next: Progress) -> Bool {
    progress.max(next.rawValue, ordering: .acquiringAndReleasing).oldValue < next.rawValue
  }

  /// Whether a step has come, read without a lock.
  func has(_ step: Progress) -> Bool { progress.load(ordering: .acquiring) >= step.rawValue }

  /// Watches the directory, and begins to wait for events.
  ///
  /// - Throws: The error of `inotify`, or `EAGAIN` if the system has no thread left.
  func start(_ engine: DiskEngine) throws(Errno) {
    try open(engine)
    try waitForEvents(engine, after: .zero)
    complete(!engine.isOnNetwork)
  }

  /// Makes the queue, in which events gather from here on.
  func open(_ engine: DiskEngine) throws(Errno) {
    let queue = try EventQueue(faults: engine.configuration.faults)
    state.withLock { if !has(.ended) { $0.queue = queue } }
    try follow(engine.location)
  }

  /// Watches the directory that is held now instead of the one before.
  func follow(_ location: DirectoryLocation) throws(Errno) {
    guard let queue = state.withLock({ $0.queue }) else { return }
    var handle: DirectoryHandle
    repeat {
      handle = location.handle
      let fresh = try queue.watch(handle, path: location.path, for: EventBatch.kinds)
      let old = state.withLock { exchange(&$0.watch, with: fresh) }
      // It fails if the watch has ended with its directory.
      if let old, old != fresh { do throws(Errno) { try queue.endWatch(old) } catch {} }
      // Another thread may have followed a replacement, and this watch may have replaced its own.
    } while handle !== location.handle
  }

  /// Sets whether events report everything, if they have not ended: other machines bring none.
  func complete(_ isComplete: Bool) {
    state.withLock { state in
      guard state.queue != nil else { return }
      self.isComplete.store(isComplete, ordering: .sequentiallyConsistent)
    }
  }

  /// Ends the events, because the system has refused them or the engine ends. The queue is closed
  /// by one of the engine's threads, because that takes long.
  func end(_ threads: IOExecutor) {
    let queue = state.withLock { state in
      isComplete.store(false, ordering: .sequentiallyConsistent)
      return exchange(&state.queue, with: nil)
    }
    guard let queue else { return }
    guard queue.mayEndElsewhere() else { return JobTimer.own.forget(queue.number) }
    _ = threads.submitAside { JobTimer.own.forget(queue.number) }
  }

  /// Ends the watching, which has advanced to its end. Waits for a thread that is acting on events,
  /// unless that is the caller. No other thread acts on an event afterwards.
  func stop(_ threads: IOExecutor) {
    end(threads)
    if threads.hasLeftJobs { threads.runReady() }
    changed.wait { state.withLock { $0.reader == nil || $0.reader == .current ? () : nil } }
  }

  /// Reads what has happened, so that the engine knows everything up to the time of the call.
  ///
  /// - Returns: Whether that was possible. It is not after the end of the events.
  /// - Complexity: One system call if nothing has happened.
  func catchUp(_ engine: DiskEngine) throws(Errno) -> Bool {
    let (queue, reader) = state.withLock { ($0.queue, $0.reader) }
    guard let queue else { return false }
    // The call comes from inside of the reading.
    if reader == .current { return true }
    // A thread becomes the reader before it reads the queue, and is it until it has acted upon
    // everything. So a caller that finds the queue empty and then no reader has missed nothing.
    if try queue.isEmpty, state.withLock({ $0.reader == nil }) { return true }
    return readEvents(for: engine)
  }

  /// Waits after a delay for an event, acts on one of the engine's threads, and waits for the next.
  private func waitForEvents(_ engine: DiskEngine, after delay: Duration) throws(Errno) {
    guard let queue = state.withLock({ $0.queue }) else { return }
    // The engine is held only during the reading. Its end can begin while nothing happens.
    try JobTimer.own.submit(
      whenReadable: queue.number, after: delay, to: engine.threads
    ) { [weak engine] in
      guard let engine, engine.watching.readEvents(for: engine) else { return }
      do throws(Errno) {
        // Short while a load waits, which adds it to the time of the load that it waits for.
        let delay = engine.turns.withLock { $0.isAwaited ? .microseconds(250) : Self.gatheringTime }
        try engine.watching.waitForEvents(engine, after: delay)
      } catch {
        engine.eventsEnded(because: error)
      }
    }
    // `end` had nothing to forget if it came first.
    if state.withLock({ $0.queue == nil }) { JobTimer.own.forget(queue.number) }
  }

  /// Reads the events and acts on them, one thread after the other, because their order counts.
  ///
  /// - Returns: False if the events have ended.
  func readEvents(for engine: DiskEngine) -> Bool {
    // It acts on events and runs, for want of a thread, what was left for one.
    if state.withLock({ $0.reader == .current }) { return true }
    let queue = changed.wait {
      state.withLock { state -> EventQueue?? in
        guard state.queue != nil else { return .some(nil) }
        guard state.reader == nil else { return nil }
        state.reader = .current
        return state.queue
      }
    }
    guard let queue else { return false }
    defer {
      state.withLock { $0.reader = nil }
      changed.signal()
    }
    var batch = EventBatch()
    var buffer = [UInt8](repeating: 0, count: Self.bufferByteCount)
    do throws(Errno) {
      // Reads to the end of the queue before any name is looked at, because most files that came
      // and went meanwhile cancel out.
      try queue.readAll(into: &buffer) { events in
        let watch = state.withLock { $0.watch ?? -1 }
        for event in events { batch.add(event, watch: watch) }
      }
    } catch {
      engine.eventsEnded(because: error)
    }
    if !batch.isEmpty { engine.act(on: batch) }
    return true
  }
}

/// The names that some events of a directory concern, each name once.
///
/// A pure value. Events say in order that something happened to a name. They say neither what the
/// name stands for now nor which process did it.
package struct EventBatch: Sendable, Equatable {
  /// The names with events, and whether one of these shows that there was a file of the name.
  private(set) var names: [EntryName: Bool] = [:]
  /// Whether events were lost. Any name may have changed then.
  private(set) var isIncomplete = false
  /// Whether the directory itself was moved, removed or unmounted.
  private(set) var concernsDirectory = false
  /// Whether a lock on the directory's tag may have ended.
  private(set) var concernsTag = false

  /// The kinds of events that are asked of the kernel.
  ///
  /// A store, here or by a neighbour, ends with a new name or a rename. A stamp changes attributes,
  /// but one of the last access alone comes as a read of the file, and is not asked for, and one of
  /// the expiry alone as a write. The order of the bits has no meaning.
  package static let kinds: DirectoryEvent.Kind = [
    .created, .movedTo, .movedFrom, .removed, .attributes, .modified, .closedAfterWriting,
    .removedSelf, .movedSelf,
  ]

  /// Whether no event concerns the cache.
  var isEmpty: Bool { self == EventBatch() }

  /// Adds the next event.
  ///
  /// - Parameter watch: The watch on the held directory. Events of an earlier one are of another.
  mutating func add(_ event: DirectoryEvent, watch: Int32) {
    if event.kind.contains(.overflow) { isIncomplete = true }
    guard event.watch == watch else { return }
    guard let name = event.name else {
      if event.endsWatch { concernsDirectory = true }
      return
    }
    // Temporaries and unnamed files bring events of their stamps too, which are dropped here.
    guard let entry = EntryName(name) else {
      let tag = DirectoryMaking.tagName
      if name.count == tag.count, name.text == tag.text { concernsTag = true }
      return
    }
    names[entry] = !event.removesName || names[entry] == true
  }
}
