import LarderLibc

/// A descriptor that signals when memory is short.
package struct PressureSource: ~Copyable, Sendable {
  /// The way in which a descriptor signals.
  enum Telling: Sendable {
    /// As a PSI trigger: always readable, with priority data as the signal.
    case withPriority
    /// As an event descriptor: readable as the signal.
    case byCount
  }

  /// The result of a wait: whether memory is short, and whether the source will never signal again.
  package typealias Outcome = (isSignalled: Bool, isLost: Bool)

  private let descriptor: FileDescriptor
  private let telling: Telling

  /// A source that never signals: `poll` ignores a negative descriptor.
  package static var silent: PressureSource {
    PressureSource(FileDescriptor(lending: -1), tells: .byCount)
  }

  init(_ descriptor: consuming FileDescriptor, tells telling: Telling) {
    self.descriptor = descriptor
    self.telling = telling
  }

  /// Waits for a signal, the bell or the timeout.
  ///
  /// Corresponds to `poll`: for a trigger POLLPRI; POLLERR means that its cgroup is gone.
  package func wait(or bell: borrowing EventDescriptor, timeout: Duration?) throws(Errno) -> Outcome
  {
    let urgent = Int16(telling == .withPriority ? POLLPRI : POLLIN)
    var polled = [
      pollfd(fd: bell.descriptor.rawValue, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor.rawValue, events: urgent, revents: 0),
    ]
    let milliseconds = timeout?.milliseconds ?? -1
    _ = try system(.poll, nil) { unsafe poll(&polled, nfds_t(polled.count), milliseconds) }
    if polled[0].revents != 0 { bell.clear() }
    let events = polled[1].revents
    if telling == .byCount, events & urgent != 0 { descriptor.drainEvent() }
    return (events & urgent != 0, events & Int16(POLLERR | POLLHUP | POLLNVAL) != 0)
  }
}

/// The kernel's files about the time that tasks wait for memory (PSI). Source: the kernel's
/// Documentation/accounting/psi.rst.
package enum PressureFile {
  /// The file for the whole machine.
  package static let machine = "/proc/pressure/memory"

  /// The possible files of this process's own cgroup; the second is for version 2 beside version 1.
  package static var ownGroup: [String] {
    groupFiles(SystemEnvironment.text(ofFile: "/proc/self/cgroup") ?? "")
  }

  /// Returns the possible files of a process with a given content of `/proc/self/cgroup`.
  ///
  /// The line of version 2 is `0::PATH`. Source: man 7 cgroups.
  static func groupFiles(_ groups: String) -> [String] {
    guard let line = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else {
      return []
    }
    let group = line.dropFirst(3).split(separator: "/")
    return ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map { root in
      ([Substring(root)] + group + ["memory.pressure"]).joined(separator: "/")
    }
  }

  /// Asks the kernel to signal when tasks waited for `threshold` within a window, and returns the
  /// descriptor for these signals.
  ///
  /// Without privileges the window must be a multiple of 2 s. See: psi.rst, "Monitoring for
  /// pressure thresholds". Corresponds to `open` and `write`.
  package static func trigger(
    _ path: String, threshold: Duration, window: Duration
  ) throws(Errno) -> PressureSource {
    let raw = try system(.open, nil) {
      unsafe path.withCString { unsafe openat(AT_FDCWD, $0, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0) }
    }
    let descriptor = FileDescriptor(rawValue: raw, faults: nil)
    // The kernel needs the whole text in one call, including its NUL.
    let text = "some \(threshold.microseconds) \(window.microseconds)\0"
    try descriptor.write(Array(text.utf8).span)
    return PressureSource(descriptor, tells: .withPriority)
  }
}

extension Duration {
  fileprivate var microseconds: Int64 {
    components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
  }
}
