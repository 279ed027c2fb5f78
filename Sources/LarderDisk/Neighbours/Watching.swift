import LarderSystem
import Synchronization

/// Whether an engine hears of what happens in its directory.
package final class Watching: Sendable {
  /// How far it has come.
  package enum State: Sendable {
    /// Nobody has needed it.
    case notStarted
    case watching(Watcher)
    /// It could not be had; scans take its place.
    case unavailable
    /// The engine is ending.
    case ended
  }

  let state = ForkSafeMutex(State.notStarted)
  /// Whether an object on the directory wants to hear; the engine outlives it.
  let isWanted = Atomic<Bool>(false)
  /// Whether the start was tried, so that asking costs nothing afterwards.
  let isSettled = Atomic<Bool>(false)
  /// Whether the directory was moved away, and its path has not led to one again since.
  let isAstray = Atomic<Bool>(false)
  /// Whether the system has refused events, after which they may have missed something.
  let hasFailed = Atomic<Bool>(false)
  /// Whether events tell all that others do.
  let isComplete = Atomic<Bool>(false)
}
