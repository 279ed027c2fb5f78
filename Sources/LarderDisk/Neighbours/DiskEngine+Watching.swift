import LarderSystem
import Synchronization

extension DiskEngine {
  /// Starts to follow what others do to the directory, unless that was tried before. For who wants
  /// to hear of it.
  ///
  /// - Complexity: O(1). The first call makes a descriptor and starts a thread.
  package func startWatching() {
    guard !watching.isSettled.load(ordering: .acquiring) else { return }
    let isNew = watching.state.withLock { state in
      guard case .notStarted = state else { return false }
      state = makeWatcher()
      watching.isSettled.store(true, ordering: .releasing)
      return true
    }
    guard isNew else { return }
    // What happened to the directory itself before the watch has left no event.
    followReplacement(isUrgent: true)
    noteWhetherAtPath()
    // Whoever opened the directory before may not have wanted to hear, and scanned it then.
    rescanOnce()
  }

  private func makeWatcher() -> Watching.State {
    do throws(Errno) {
      let watcher = try Watcher(self)
      try watcher.start()
      // What another machine does brings no event; what neighbours here do still does.
      watching.isComplete.store(!isOnNetwork, ordering: .releasing)
      return .watching(watcher)
    } catch {
      // No instances, watches or threads left: scans do what events would have done.
      noteUpkeepFailure(error)
      return .unavailable
    }
  }

  /// Whether an object on the directory wants to learn of what others do.
  var followsNeighbours: Bool { watching.isWanted.load(ordering: .relaxed) }

  /// Whether events tell everything that others do.
  package var hasEvents: Bool { watching.isComplete.load(ordering: .acquiring) }

  private var watcher: Watcher? {
    watching.state.withLock { state in
      if case .watching(let watcher) = state { watcher } else { nil }
    }
  }

  /// Learns of everything that others had done when this was called.
  ///
  /// - Returns: Whether that was possible.
  /// - Complexity: One system call when they have done nothing.
  func catchUp() -> Bool {
    guard hasEvents, let watcher else { return false }
    do throws(Errno) {
      try watcher.catchUp(self)
      return true
    } catch {
      noteUpkeepFailure(error)
      return false
    }
  }

  /// Ends the events with the engine.
  func endWatching() {
    // In one step: a watcher that is made between a look and the end would never be stopped.
    let watcher: Watcher? = watching.state.withLock { state in
      defer { state = .ended }
      return if case .watching(let watcher) = state { watcher } else { nil }
    }
    watching.isComplete.store(false, ordering: .releasing)
    watching.isSettled.store(true, ordering: .releasing)
    watcher?.stop()
  }

  /// Goes on without events, after the system has refused them.
  func eventsEnded(because errno: Errno) {
    noteUpkeepFailure(errno)
    watching.hasFailed.store(true, ordering: .releasing)
    watching.isComplete.store(false, ordering: .releasing)
    tellObserversOfReplacement()
    startRescan()
  }

  /// Watches the directory that has taken the place of the one before.
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

  /// Whether the directory was moved away and no other has been met at its path: each call looks for
  /// one then, but for reads from memory, which keeps nothing meanwhile.
  package var isAstray: Bool { watching.isAstray.load(ordering: .relaxed) }

  /// After a watch was made: what moved the directory away before it has left no event, and neither
  /// does what takes the path later.
  private func noteWhetherAtPath() {
    if !location.isAtPath { watching.isAstray.store(true, ordering: .relaxed) }
  }
}
