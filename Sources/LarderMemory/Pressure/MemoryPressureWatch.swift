import LarderSystem
import Synchronization

/// The state that a monitor and its thread share. The thread holds this object and not the monitor,
/// because the monitor's deinitialiser ends the thread.
package final class MemoryPressureWatch: Sendable {
  /// The state under the lock.
  package struct State: Sendable {
    var ladder: MemoryPressureLadder
    var status: MemoryPressureStatus
    var responders: [ObjectIdentifier: Responder] = [:]
    /// Signals of the application that the thread has not handled.
    var ownSignals = 0
    var isStopping = false
    var thread: ThreadIdentity?
    var hasEnded = false
  }

  /// A cache that the monitor does not keep alive.
  struct Responder: Sendable {
    weak var object: (any MemoryPressureResponding)?
  }

  let state: ForkSafeMutex<State>
  let ended = EventCount()
  let now: @Sendable () -> MonotonicTime
  private let listener: (@Sendable (MemoryPressureStep) -> Void)?
  private let bell: EventDescriptor
  /// The source, until the thread takes it.
  private let source: ForkSafeMutex<PressureSource>

  init(
    _ configuration: MemoryPressureMonitor.Configuration, _ source: consuming PressureSource,
    named name: MemoryPressureStatus.Source, now: @escaping @Sendable () -> MonotonicTime
  ) throws(Errno) {
    bell = try EventDescriptor()
    self.source = ForkSafeMutex(source)
    state = ForkSafeMutex(
      State(
        ladder: MemoryPressureLadder(configuration: configuration),
        status: MemoryPressureStatus(source: name)))
    listener = configuration.stepListener
    self.now = now
  }

  /// Wakes the thread to look at the state again.
  func ring() { bell.raise() }

  /// Makes the thread end, after the step that it may be in.
  func askToStop() {
    state.withLock { $0.isStopping = true }
    ring()
  }

  /// Waits for the end of the thread, unless the caller is that thread.
  func waitForEnd() {
    while true {
      let ticket = ended.ticket()
      guard state.withLock({ !$0.hasEnded && $0.thread != .current }) else { return }
      ended.wait(ticket)
    }
  }

  /// Runs the thread: waits, decides, and makes the caches act, until the monitor ends.
  func run() {
    var source = PressureSource.silent
    self.source.withLock { swap(&$0, &source) }
    state.withLock { $0.thread = .current }
    while !state.withLock({ $0.isStopping }) {
      let outcome = wait(source)
      if outcome.isLost {
        source = .silent
        state.withLock { $0.status.source = .none(reason: "the cgroup or its file is gone") }
      }
      decide(outcome.isSignalled)
    }
    perform(state.withLock { $0.ladder.end() })
    // The descriptor is closed before the threads in `waitForEnd()` are woken.
    source = .silent
    state.withLock { state in
      if state.status.isWatching { state.status.source = .none(reason: "stopped") }
      state.hasEnded = true
    }
    ended.signal()
  }

  private func wait(_ source: borrowing PressureSource) -> PressureSource.Outcome {
    let timeout = state.withLock { $0.ladder.deadline }.map { $0.duration(since: now()) }
    do throws(Errno) {
      return try source.wait(or: bell, timeout: timeout)
    } catch {
      // If there is no memory for a wait, memory is short: this counts as a signal.
      state.withLock { state in
        state.isStopping = true
        state.status.source = .none(reason: "poll: \(error)")
      }
      return (isSignalled: true, isLost: false)
    }
  }

  /// Carries out the steps for time and signals. Signals that arrive together count as one.
  private func decide(_ isSignalled: Bool) {
    let now = now()
    perform(state.withLock { $0.ladder.step(at: now) })
    let step: MemoryPressureStep? = state.withLock { state in
      let signals = state.ownSignals + (isSignalled ? 1 : 0)
      guard signals > 0 else { return nil }
      state.ownSignals = 0
      state.status.signals += signals
      return state.ladder.signal(at: now)
    }
    perform(step)
  }

  private func perform(_ step: MemoryPressureStep?) {
    guard let step else { return }
    let responders = state.withLock { state in
      state.status.count(step)
      // Held until the end, so that the last reference to a cache is not released under the lock.
      let living = state.responders.compactMapValues { $0.object }
      state.responders = state.responders.filter { living[$0.key] != nil }
      return living
    }
    for (identity, responder) in responders {
      responder.respond(to: step)
      // `detach(_:)` restored the cache, perhaps before this step reached it.
      let isAttached = state.withLock { $0.responders[identity] != nil }
      if step != .restore && !isAttached { responder.respond(to: .restore) }
    }
    listener?(step)
  }
}
