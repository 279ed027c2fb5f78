#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A descriptor that tells when memory is short.
package struct PressureSource: ~Copyable, Sendable {
  /// How a descriptor tells.
  enum Telling: Sendable {
    /// As a PSI trigger does: it is always readable, and urgent when there is something to tell.
    case withPriority
    /// As an event descriptor does.
    case byCount
  }

  /// What a wait ended with.
  package struct Outcome: Sendable, Equatable {
    /// Whether memory is short.
    package var isSignalled = false
    /// Whether the source will never tell anything again.
    package var isLost = false

    package init(isSignalled: Bool = false, isLost: Bool = false) {
      self.isSignalled = isSignalled
      self.isLost = isLost
    }
  }

  private let descriptor: FileDescriptor
  private let telling: Telling

  /// A source that never tells anything: `poll` passes over a negative descriptor.
  package static var silent: PressureSource {
    PressureSource(FileDescriptor(lending: -1), tells: .byCount)
  }

  init(_ descriptor: consuming FileDescriptor, tells telling: Telling) {
    self.descriptor = descriptor
    self.telling = telling
  }

  /// Waits until there is something to tell, the bell is raised, or the time is over.
  ///
  /// Corresponds to `poll`; a trigger is waited for with POLLPRI, and POLLERR means that its cgroup
  /// is gone.
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
    return Outcome(
      isSignalled: events & urgent != 0,
      isLost: events & Int16(POLLERR | POLLHUP | POLLNVAL) != 0)
  }
}

extension Duration {
  /// For `poll`: rounded up, so that a wait never ends just before its time.
  fileprivate var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds < 86_400 else { return 86_400_000 }
    let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return max(0, Int32(seconds * 1_000 + rest))
  }
}
