import LarderSystem
import Synchronization

/// Makes caches give memory up when the kernel says that tasks wait for it, and grow again later.
///
/// ```swift
/// let monitor = MemoryPressureMonitor()
/// monitor.attach(cache)
/// ```
///
/// At the first signal each attached cache evicts a share of what it holds, half by default, and
/// stays at what is left; at a second one soon after it evicts everything. When no signal came for
/// a while, limits are what they were set to, and the caches grow as values are stored.
///
/// The signals are those of the kernel's pressure stall information. Where there is none, or it may
/// not be used, the monitor does nothing unless the application signals; ``status`` tells.
///
/// Safe from any thread. One thread and two descriptors live as long as the monitor; caches are not
/// kept alive. When the monitor ends it restores the limits. In a forked child it does nothing.
/// Source: the kernel's Documentation/accounting/psi.rst.
public final class MemoryPressureMonitor: Sendable {
  /// The settings that the monitor was made with.
  public let configuration: Configuration
  private let watch: MemoryPressureWatch?
  /// What is to be told when the system gave no descriptor for a watch.
  private let statusWithoutWatch: MemoryPressureStatus
  private let forkCount = ProcessIdentity.forkCount

  /// Begins to watch. Traps on settings that make no sense.
  ///
  /// It never fails: what keeps it from watching is in ``status``.
  public convenience init(_ configuration: Configuration = Configuration()) {
    configuration.checkPreconditions()
    switch configuration.openSource() {
    case .opened(let source, let name): self.init(configuration, source, named: name)
    case .failed(let name): self.init(configuration, .silent, named: name)
    }
  }

  /// Begins to watch a descriptor by a clock.
  init(
    _ configuration: Configuration, _ source: consuming PressureSource,
    named name: MemoryPressureStatus.Source,
    now: @escaping @Sendable () -> MonotonicTime = { .now }
  ) {
    self.configuration = configuration
    var status = MemoryPressureStatus(source: name)
    do throws(Errno) {
      let watch = try MemoryPressureWatch(configuration, source, named: name, now: now)
      try startThread { watch.run() }
      self.watch = watch
    } catch {
      status.source = .none(reason: "no descriptor or thread to be had: \(error)")
      watch = nil
    }
    statusWithoutWatch = status
  }

  deinit {
    watch?.askToStop()
  }

  /// What is watched and what was done. Source: ``MemoryPressureStatus``.
  public var status: MemoryPressureStatus {
    watch?.state.withLock { $0.status } ?? statusWithoutWatch
  }
}

extension MemoryPressureMonitor {
  /// Lets a cache take the steps from the next one on. It is not kept alive; once more is no
  /// change.
  ///
  /// - Complexity: O(n) for n caches that are attached.
  public func attach(_ cache: some MemoryPressureResponding) {
    watch?.state.withLock {
      $0.responders[ObjectIdentifier(cache)] = MemoryPressureWatch.Responder(object: cache)
    }
  }

  /// Lets a cache take no more steps, after one that restores its limits if they may be lowered.
  ///
  /// A step that the monitor's thread is at may still reach the cache, and is followed by one that
  /// restores.
  ///
  /// - Complexity: O(n) for n caches that are attached.
  public func detach(_ cache: some MemoryPressureResponding) {
    let mayBeLowered = watch?.state.withLock { state in
      let old = state.responders.removeValue(forKey: ObjectIdentifier(cache))
      return old != nil && state.status.isUnderPressure
    }
    if mayBeLowered == true { cache.respond(to: .restore) }
  }

  /// Does on the monitor's thread what a signal of the kernel does.
  ///
  /// For signals that only the application has, and to see what it does under pressure. Signals
  /// that come before the thread looks count as one.
  public func signal() {
    guard let watch else { return }
    watch.state.withLock { $0.ownSignals += 1 }
    watch.ring()
  }

  /// Makes the thread look at the clock and at its signals.
  func lookAgain() { watch?.ring() }

  /// Ends the watch, restores the limits, and returns when the thread is past its last step.
  ///
  /// Called by a cache or a listener during a step it returns at once. The monitor's end does the
  /// same and waits for nothing.
  public func stop() {
    guard let watch, forkCount == ProcessIdentity.forkCount else { return }
    watch.askToStop()
    watch.waitForEnd()
  }
}
