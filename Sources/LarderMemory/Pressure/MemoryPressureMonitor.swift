import LarderSystem
import Synchronization

/// A monitor that makes caches free memory while the kernel reports that tasks wait for it.
///
/// ```swift
/// let monitor = MemoryPressureMonitor()
/// monitor.attach(cache)
/// ```
///
/// At the first signal, each attached cache evicts a share of its contents, half by default, and
/// does not grow beyond the rest. At a second signal soon after, it evicts everything. After some
/// time without a signal, the limits are restored, and the caches grow as values are stored.
///
/// The signals are those of the kernel's pressure stall information. If there is none, or it may
/// not be used, the monitor does nothing unless the application signals; see ``status``.
///
/// Safe to use from any thread. One thread and two descriptors live as long as the monitor. It does
/// not keep caches alive. When the monitor ends, it restores the limits. In a forked child it does
/// nothing. Source: the kernel's Documentation/accounting/psi.rst.
public final class MemoryPressureMonitor: Sendable {
  /// The settings that the monitor was made with.
  public let configuration: Configuration
  private let ownWatch: MemoryPressureWatch?
  /// The status if the system gave no descriptor or thread for a watch, and of a forked child.
  private let statusWithoutWatch: MemoryPressureStatus
  private let forkCount = ProcessIdentity.forkCount

  /// The watch; nil in a forked child, where a thread that it does not have may hold the lock.
  var watch: MemoryPressureWatch? { forkCount == ProcessIdentity.forkCount ? ownWatch : nil }

  /// Starts to watch. Traps on settings that are out of their range.
  ///
  /// Never fails: if the monitor cannot watch, ``status`` has the reason.
  public convenience init(_ configuration: Configuration = Configuration()) {
    configuration.checkPreconditions()
    var name = MemoryPressureStatus.Source.none(reason: "")
    let own = configuration.watchesMachine ? [] : PressureFile.ownGroup
    let source = configuration.openSource(own + [PressureFile.machine], &name)
    self.init(configuration, source, named: name)
  }

  /// Starts to watch a given source, by a given clock.
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
      ownWatch = watch
    } catch {
      status.source = .none(reason: "no descriptor or thread to be had: \(error)")
      ownWatch = nil
    }
    statusWithoutWatch = status
  }

  deinit { watch?.askToStop() }

  /// The source and the counters. Source: ``MemoryPressureStatus``.
  public var status: MemoryPressureStatus {
    watch?.state.withLock { $0.status } ?? statusWithoutWatch
  }
}

extension MemoryPressureMonitor {
  /// Attaches a cache, which takes all steps from the next one on. It is not kept alive. Attaching
  /// it again changes nothing.
  ///
  /// - Complexity: O(n) for n caches that are attached.
  public func attach(_ cache: some MemoryPressureResponding) {
    watch?.state.withLock {
      $0.responders[ObjectIdentifier(cache)] = MemoryPressureWatch.Responder(object: cache)
    }
  }

  /// Detaches a cache. If its limits may be lowered, it is told to restore them.
  ///
  /// A step that is being carried out may still reach the cache; `.restore` follows it then.
  ///
  /// - Complexity: O(n) for n caches that are attached.
  public func detach(_ cache: some MemoryPressureResponding) {
    let mayBeLowered = watch?.state.withLock { state in
      let old = state.responders.removeValue(forKey: ObjectIdentifier(cache))
      return old != nil && state.status.isUnderPressure
    }
    if mayBeLowered == true { cache.respond(to: .restore) }
  }

  /// Acts on the monitor's thread as on a signal of the kernel.
  ///
  /// Use it for signals that only the application has, or to test the application under pressure.
  /// Signals that come before the thread looks count as one.
  public func signal() {
    guard let watch else { return }
    watch.state.withLock { $0.ownSignals += 1 }
    watch.ring()
  }

  /// Ends the watch, restores the limits, and returns when the thread is past its last step.
  ///
  /// If a cache or a listener calls it during a step, it returns at once. The deinitialiser does
  /// the same without waiting.
  public func stop() {
    guard let watch else { return }
    watch.askToStop()
    watch.waitForEnd()
  }

  /// The settings of a monitor: when memory counts as short, and the response.
  public struct Configuration: Sendable {
    /// Whether the whole machine is watched. The default is false: the process's own cgroup if it
    /// has one that may be watched, else the machine. The waits of a group are those of its tasks,
    /// whether its own limit or the machine's causes them.
    public var watchesMachine = false
    /// The time that tasks must have waited for memory within a ``window`` for a signal. The
    /// default is 150 ms.
    public var threshold = Duration.milliseconds(150)
    /// The time in which the waits are added up, and in which the kernel gives at most one signal:
    /// 2, 4, 6, 8 or 10 s. The default is 2 s.
    ///
    /// The kernel takes other values only from processes with CAP_SYS_RESOURCE.
    public var window = Duration.seconds(2)
    /// The share given up at the first signal, above 0 and below 1. The default is 0.5.
    public var share = 0.5
    /// A signal within this time after another one gives up everything; a later signal gives up a
    /// share of what is left. The default is 10 s.
    public var escalationTime = Duration.seconds(10)
    /// The time without a signal after which the limits are restored. The default is 60 s.
    public var recoveryTime = Duration.seconds(60)
    /// Called with each step that the caches have carried out, on the monitor's thread; or nil.
    public var stepListener: (@Sendable (MemoryPressureStep) -> Void)?

    /// Creates the default settings.
    public init() {}
  }
}

extension MemoryPressureMonitor.Configuration {
  /// Traps, with a message, if a setting is out of its range.
  func checkPreconditions() {
    precondition(
      [2, 4, 6, 8, 10].contains { window == .seconds($0) }, "window must be 2, 4, 6, 8 or 10 s")
    precondition(
      threshold >= .microseconds(1) && threshold <= window,
      "threshold must lie between 1 µs and the window")
    precondition(share > 0 && share < 1, "share must be above 0 and below 1")
    precondition(escalationTime >= .zero, "escalationTime must not be negative")
    precondition(recoveryTime > .zero, "recoveryTime must be positive")
  }

  /// Opens the first of some files that may be watched. If none may, names the error of the last.
  func openSource(_ files: [String], _ name: inout MemoryPressureStatus.Source) -> PressureSource {
    for path in files {
      do throws(Errno) {
        let source = try PressureFile.trigger(path, threshold: threshold, window: window)
        name = .file(path)
        return source
      } catch {
        // Version 1 of cgroups has no such file, and in containers it is mostly read-only.
        name = .none(reason: "\(path): \(error)")
      }
    }
    return .silent
  }
}
