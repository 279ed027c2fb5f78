import LarderSystem
import Synchronization

extension DiskEngine {
  /// Starts to follow what other processes do to the directory, unless that was tried before.
  /// Called for an object that wants to hear of it.
  ///
  /// Waits until the directory is watched, or cannot be. The kernel marks each name that it has in
  /// memory, which takes 80 ms for a million of them.
  package func startWatching() {
    guard !isWatchSettled else { return }
    let isFirst = watching.state.withLock { state in
      guard case .notStarted = state else { return false }
      state = .starting
      return true
    }
    guard isFirst else { return wait { _ in isWatchSettled ? () : nil } }
    guard makeWatcher() else { return }
    // Changes of the directory itself before the watch have left no event.
    noteWhetherAtPath()
    // Nor have changes of a name whose file this process has just published or looked at. Its
    // thread looks again before it gives the name back.
    let hasScanned = withState { state in
      state.locks.markHeld()
      return state.catalog.scans.hasRead
    }
    // A read that opened its file before the watch must leave nothing of it in memory or in the
    // index.
    generations.beginAll()
    watching.isSettled.store(true, ordering: .releasing)
    generations.endAll()
    changed.signal()
    // A scan that follows events waits for the watch before it reads. One for an earlier opener may
    // not have.
    if hasScanned { rescanOnce() }
  }

  /// Starts to follow for a call that can do without events. In a large directory another thread
  /// does it, and until then memory keeps nothing.
  ///
  /// - Complexity: O(1).
  package func startWatchingAside() {
    guard !isWatchSettled else { return }
    guard location.handle.byteCount >= configuration.watchAsideByteCount else {
      return startWatching()
    }
    guard !watching.isPlanned.exchange(true, ordering: .relaxed) else { return }
    runAside { [weak self] in self?.startWatching() }
  }

  /// Whether the directory is watched, or cannot be.
  package var isWatchSettled: Bool { watching.isSettled.load(ordering: .acquiring) }

  /// Makes the watcher; returns false if the engine has ended meanwhile.
  private func makeWatcher() -> Bool {
    do throws(Errno) {
      let handle = location.handle
      let watcher = try Watcher(self)
      guard watching.advance(to: .watching(watcher)) else { return false }
      // Who replaced the directory before found no watcher to move.
      if location.handle !== handle { try watcher.follow(location) }
      // If the engine ends here, the thread finds the watcher stopped.
      try watcher.start()
      return watching.complete(!isOnNetwork)
    } catch {
      // No instances, watches or threads are left. Scans take the place of events.
      noteUpkeepFailure(error)
      return watching.advance(to: .unavailable)
    }
  }

  /// Whether an object on the directory wants to follow other processes.
  var followsNeighbours: Bool { watching.isWanted.load(ordering: .relaxed) }

  /// Whether events report everything that other processes do.
  package var hasEvents: Bool { watching.isComplete.load(ordering: .acquiring) }

  private var watcher: Watcher? {
    watching.state.withLock { state in
      if case .watching(let watcher) = state { watcher } else { nil }
    }
  }

  /// Takes in everything that other processes had done when this was called.
  ///
  /// - Returns: Whether that was possible.
  /// - Complexity: One system call if they have done nothing.
  func catchUp() -> Bool {
    guard hasEvents, let watcher else { return false }
    do throws(Errno) {
      guard try watcher.catchUp(self) else { return false }
      // Another thread may have told the index but not memory, and the event is then ignored.
      return !mayBe(.isAhead)
    } catch {
      noteUpkeepFailure(error)
      return false
    }
  }

  /// Stops following events, because the engine ends.
  func endWatching() {
    // Read and ended in one step, because a watcher that is made between the two would never be
    // stopped.
    let watcher: Watcher? = watching.state.withLock { state in
      defer { state = .ended }
      return if case .watching(let watcher) = state { watcher } else { nil }
    }
    watching.isComplete.store(false, ordering: .releasing)
    watching.isSettled.store(true, ordering: .releasing)
    changed.signal()
    watcher?.stop()
  }

  /// Goes on without events, after the system has refused them.
  func eventsEnded(because errno: Errno) {
    noteUpkeepFailure(errno)
    watching.hasFailed.store(true, ordering: .sequentiallyConsistent)
    watching.isComplete.store(false, ordering: .sequentiallyConsistent)
    tellObserversOfReplacement()
    startRescan()
  }

  /// Moves the watch to the directory that has replaced the one before.
  func followDirectory() {
    watching.isAstray.store(false, ordering: .relaxed)
    guard let watcher else { return }
    do throws(Errno) {
      try watcher.follow(location)
      // The directory may be on another file system than the one before.
      let isComplete = !isOnNetwork && !watching.hasFailed.load(ordering: .acquiring)
      watching.isComplete.store(isComplete, ordering: .releasing)
    } catch {
      eventsEnded(because: error)
    }
    noteWhetherAtPath()
  }

  /// Whether the directory was moved away and its path leads to no other yet. Each call looks for
  /// one then, except reads from memory; memory keeps nothing meanwhile.
  package var isAstray: Bool { watching.isAstray.load(ordering: .relaxed) }

  /// Notes after a watch was made whether the directory is at its path. A move before the watch
  /// left no event, and a directory that takes the path later brings none.
  func noteWhetherAtPath() {
    if !location.isAtPath { watching.isAstray.store(true, ordering: .relaxed) }
  }
}

/// The state of an engine's watching of its directory.
package final class Watching: Sendable {
  /// The progress of the watching.
  package enum State: Sendable {
    /// No object has needed it yet.
    case notStarted
    /// A thread makes the watcher.
    case starting
    case watching(Watcher)
    /// The system refused it; scans take its place.
    case unavailable
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
  fileprivate func advance(to next: State) -> Bool {
    state.withLock { state in
      if case .ended = state { return false }
      state = next
      return true
    }
  }

  /// Notes whether events report everything; returns false and does nothing if the engine has
  /// ended. Another machine's changes bring no events; those of neighbours on this machine do.
  fileprivate func complete(_ isComplete: Bool) -> Bool {
    state.withLock { state in
      if case .ended = state { return false }
      self.isComplete.store(isComplete, ordering: .sequentiallyConsistent)
      // The thread that reads the events may have failed already.
      if hasFailed.load(ordering: .sequentiallyConsistent) {
        self.isComplete.store(false, ordering: .releasing)
      }
      return true
    }
  }
}
