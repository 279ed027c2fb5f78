package import LarderSystem

extension MemoryPressureMonitor {
  /// The settings of a monitor: when memory counts as short, and the response.
  public struct Configuration: Sendable {
    /// The scope of the watch. The default is `.automatic`.
    public var scope = Scope.automatic
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
    /// Called with each step after the caches have carried it out, on the monitor's thread. The
    /// default is nil.
    public var stepListener: (@Sendable (MemoryPressureStep) -> Void)?

    /// Creates the default settings.
    public init() {}
  }

  /// The scope of a watch.
  public enum Scope: Sendable, Hashable {
    /// The process's own cgroup if it has one that may be watched, else the machine. The waits of a
    /// group are those of its tasks, whether its own limit or the machine's causes them.
    case automatic
    /// The machine.
    case machine
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

  var ladder: MemoryPressureLadder {
    MemoryPressureLadder(share: share, escalation: escalationTime, recovery: recoveryTime)
  }
}

extension MemoryPressureMonitor.Configuration {
  /// The result of opening a source.
  package enum Opening: ~Copyable {
    case opened(PressureSource, MemoryPressureStatus.Source)
    case failed(MemoryPressureStatus.Source)
  }

  /// Opens the first file that may be watched.
  func openSource() -> Opening {
    openSource(scope == .machine ? [] : PressureFile.ownGroup, or: PressureFile.machine)
  }

  /// Opens the first of some files that may be watched. If none may, returns the error of the last.
  func openSource(_ files: [String], or last: String) -> Opening {
    for path in files {
      // Version 1 of cgroups has no such file, and in containers it is mostly read-only.
      do throws(Errno) { return try open(path) } catch { continue }
    }
    do throws(Errno) {
      return try open(last)
    } catch {
      return .failed(.none(reason: "\(last): \(error)"))
    }
  }

  private func open(_ path: String) throws(Errno) -> Opening {
    .opened(
      try PressureFile.trigger(path, threshold: threshold, window: window), .file(path))
  }
}
