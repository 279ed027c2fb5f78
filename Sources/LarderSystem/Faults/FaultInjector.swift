import Synchronization

/// A plan of failures for the system calls of one cache, for tests.
///
/// A cache gets it with its configuration and passes it to every descriptor that it opens, so tests
/// that run side by side do not affect each other.
package final class FaultInjector: Sendable {
  /// The effect of a fault on a call.
  package enum Fault: Sendable {
    /// The call fails with this error.
    case errno(Errno)
    /// The call, a read or a write, moves at most this many bytes; fstatvfs shows as many free, and
    /// cachestat as many pages.
    case short(Int)
    /// The closure runs before the call is made; it may wait.
    case before(@Sendable () -> Void)
  }

  // The keys are ranges and not numbers, so that "from the n-th on" is one entry.
  private struct State {
    var counts: [SystemCall: Int] = [:]
    var faults: [SystemCall: [ClosedRange<Int>: Fault]] = [:]
    var struck = 0
    var struckSites: Set<CallSite> = []
    var stamps: Stamps?
    var requestedStamps: [Timestamp] = []
    var fileSystem: FileSystemKind?
  }

  private let state = Mutex(State())

  /// Creates a plan without failures, which only counts.
  package init() {}

  /// Plans a fault for the `n`-th call from now on, counted from 1, or for all from it on.
  ///
  /// A second plan for a call and range replaces the first. Of overlapping ranges either may win.
  package func plan(_ fault: Fault, for call: SystemCall, at n: Int = 1, onwards: Bool = false) {
    state.withLock { state in
      let first = state.counts[call, default: 0] + n
      state.faults[call, default: [:]][first...(onwards ? .max : first)] = fault
    }
  }

  /// Forgets all planned faults and counts, but not the call sites that were struck.
  package func reset() { state.withLock { $0 = State(struckSites: $0.struckSites) } }

  /// Returns the number of calls of a kind so far.
  ///
  /// Counts attempts: also a call that a fault prevented, and each repetition after EINTR.
  package func count(of call: SystemCall) -> Int {
    state.withLock { $0.counts[call, default: 0] }
  }

  /// The number of calls that a fault struck.
  package var struckCount: Int { state.withLock { $0.struck } }

  /// The call sites in the source at which a fault struck.
  package var struckSites: Set<CallSite> { state.withLock { $0.struckSites } }

  /// The way in which another file system keeps the modification time of a file, and shows stamps.
  package typealias Stamps = (
    kept: @Sendable (Timestamp) -> Timestamp, shown: @Sendable (inout FileStatus) -> Void
  )

  /// Keeps and shows stamps from now on as another file system does.
  package func simulate(_ stamps: Stamps) { state.withLock { $0.stamps = stamps } }

  /// Shows directories that are opened from now on as on another file system; nil ends that.
  package func simulate(_ fileSystem: FileSystemKind?) {
    state.withLock { $0.fileSystem = fileSystem }
  }

  var simulatedFileSystem: FileSystemKind? { state.withLock { $0.fileSystem } }

  /// The modification times that files were given since a simulation began.
  package var requestedStamps: [Timestamp] { state.withLock { $0.requestedStamps } }

  /// Returns the modification time that the simulated file system keeps of one that is set.
  func stampKept(of time: Timestamp?) -> Timestamp? {
    state.withLock { state in
      guard let time, let stamps = state.stamps else { return time }
      state.requestedStamps.append(time)
      return stamps.kept(time)
    }
  }

  /// Changes a status to what the simulated file system shows.
  func show(_ status: inout FileStatus) { state.withLock { $0.stamps }?.shown(&status) }

  /// Counts a call and returns the error with which it must fail, if any.
  func strike(_ call: SystemCall, file: StaticString = #fileID, line: UInt = #line) -> Errno? {
    let fault = next(call, CallSite(file: "\(file)", line: line))
    return if case .errno(let errno) = fault { errno } else { nil }
  }

  /// Counts a read or write and returns the number of bytes that it may move, or throws its error.
  /// EINTR counts as a call and is repeated.
  func limit(
    _ call: SystemCall, to byteCount: Int, file: StaticString = #fileID, line: UInt = #line
  ) throws(Errno) -> Int {
    while true {
      switch next(call, CallSite(file: "\(file)", line: line)) {
      case .errno(.interrupted): continue
      case .errno(let errno): throw errno
      case .short(let most): return min(most, byteCount)
      case .before, nil: return byteCount
      }
    }
  }

  /// Returns the fault for a call, and calls its closure. Not under the lock, because the closure
  /// may wait for another thread whose own call needs this lock.
  private func next(_ call: SystemCall, _ site: CallSite) -> Fault? {
    #if LARDER_SCHEDULES
      if call == .readdir { Scheduler.point(.call(call)) }
      return Scheduler.failure(of: call).map { .errno($0) }
    #else
      let fault = state.withLock { state -> Fault? in
        let n = state.counts[call, default: 0] + 1
        state.counts[call] = n
        guard let fault = state.faults[call]?.first(where: { $0.key.contains(n) })?.value else {
          return nil
        }
        state.struck += 1
        state.struckSites.insert(site)
        return fault
      }
      if case .before(let closure) = fault { closure() }
      return fault
    #endif
  }
}

/// A place in the source that makes a system call, so that a test can check that all are there.
package struct CallSite: Sendable, Hashable {
  /// The module and the file: `LarderSystem/FileDescriptor.swift`.
  package let file: String
  /// The line, counted from 1.
  package let line: UInt
}
