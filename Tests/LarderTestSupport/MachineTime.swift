import Foundation
import Synchronization

/// The time in which tests measure limits on waits.
///
/// A limit on a wait has to catch hangs and not busy machines, so no test counts real seconds:
///
/// 1. **Machine time.** A thread of the tests, the pacemaker, does a fixed piece of work twice a
///    second. If that takes ten times as long as on an idle machine, a second counts as a tenth.
///    So limits stretch with the load, on a slow machine and under a sanitizer. Time in which the
///    machine is suspended does not count.
/// 2. **Waits** have a limit in machine time. The default is 180 s in which no test begins or ends:
///    24 tests at once on a busy machine can take longer, and are no hang. `eventually` waits for a
///    condition, `Happening` for one that other threads announce, `Gate` for a thread that is held,
///    and `DispatchSemaphore.wait(for:)` for a signal. `waiting(for:)` runs a call that blocks, for
///    example until a process ends. At the limit the wait ends and is an issue at its own line.
/// 3. **Hangs** in the library itself are found by progress. The trait `.watched`, for every test
///    with threads, counts the tests that begin and end. `Watchdog.progress()` is for long loops.
///    If nothing makes progress for 600 s of machine time, the process prints the running tests and
///    the waits in progress, and aborts. `swift test` then prints the stack of each thread.
///
/// `.timeLimit` is not used for this, because it counts real time, and also the time in which a
/// test waits for its turn.
package enum MachineTime {
  /// The default limit.
  package static let patience = Duration.seconds(180)

  /// The machine time since the first use of it.
  package static var now: Duration { Pacemaker.shared.time }

  /// Whether a wait has reached its limit. The default limit counts from the last progress of any
  /// test, if that is later than the beginning of the wait.
  static func hasPassed(
    _ limit: Duration, since began: Duration, at now: Duration = now,
    lastProgress: @autoclosure () -> Duration = Watchdog.shared.lastProgress
  ) -> Bool {
    // Progress is behind a lock, which a forked child may find taken; there no time passes.
    guard now - began >= limit else { return false }
    return limit < patience || now - lastProgress() >= limit
  }

  /// Returns the machine time of an interval in which the piece of work took `took`.
  static func credit(for interval: Duration, workTook took: Duration) -> Duration {
    // An interval of more than a second means that the machine was suspended.
    let interval = min(interval, .seconds(1))
    return took <= workOnIdleMachine ? interval : interval * (workOnIdleMachine / took)
  }

  /// The longest time of the work while nothing else runs: measured as 17 ms in a debug build on a
  /// server of 2024.
  private static let workOnIdleMachine = Duration.milliseconds(30)

  /// Does a fixed piece of work. It is several times as long as a slice of the scheduler, which
  /// begins with a thread that has rested: a shorter piece would measure an idle machine always.
  @inline(never)
  fileprivate static func work() -> UInt64 {
    var state: UInt64 = 1
    var step: UInt64 = 0
    // Not a loop over a range, whose steps are calls in a debug build and take ten times as long.
    while step < 4_000_000 {
      state = state &* 6_364_136_223_846_793_005 ^ step
      step &+= 1
    }
    return state
  }
}

/// The thread that measures machine time.
private final class Pacemaker: Sendable {
  static let shared = Pacemaker()

  private let nanoseconds = Atomic<Int64>(0)

  // A forked child has no such thread. Its time stands still, so the parent waits instead.
  private init() {
    let thread = Thread { [self] in beat() }
    thread.name = "pacemaker"
    thread.start()
  }

  var time: Duration { .nanoseconds(nanoseconds.load(ordering: .relaxed)) }

  private func beat() {
    let pause = DispatchSemaphore(value: 0)
    while true {
      let began = ContinuousClock.now
      _ = pause.wait(timeout: .now() + .milliseconds(500))
      let rested = ContinuousClock.now
      precondition(MachineTime.work() != 0, "keeps the work from being left out")
      let ended = ContinuousClock.now
      let credit = MachineTime.credit(for: ended - began, workTook: ended - rested)
      nanoseconds.wrappingAdd(Int64(credit / .nanoseconds(1)), ordering: .relaxed)
      WaitTable.shared.giveUpWhatIsOverdue()
      Watchdog.shared.look()
    }
  }
}
