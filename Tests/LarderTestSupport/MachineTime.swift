import Foundation
import Synchronization

/// How tests wait, in one place.
///
/// A limit on a wait has to catch hangs and not busy machines, so that no test counts seconds:
///
/// 1. **Machine time.** A thread of the tests, the pacemaker, does a fixed piece of work four times
///    a second. Where that takes ten times as long as on an idle machine, a second counts as a
///    tenth. So limits stretch with the load, with a slow machine and with a sanitizer, as they
///    change, and time in which the machine is suspended does not count.
/// 2. **Waits** have a limit in machine time, 60 s if nothing else is said: `eventually` for a
///    condition, `Happening` for one that other threads tell of, `Gate` for a thread that is held,
///    `DispatchSemaphore.wait(for:)`, and `waiting(for:)` for a call that blocks, such as for the
///    end of a process. At the limit the wait is an issue at its own line, and ends.
/// 3. **Hangs** in the library itself are found by progress. The trait `.watched`, for every test
///    with threads, counts the tests that begin and end; `Watchdog.progress()` is for long loops. If
///    nothing makes progress for 180 s of machine time, the process tells which tests run and who
///    waits for what, and aborts; `swift test` then prints the stack of each thread.
///
/// `.timeLimit` is not for this: it counts real time, and the time in which a test waits for its
/// turn as well.
package enum MachineTime {
  /// How long a limit is if nothing else is said.
  package static let patience = Duration.seconds(60)

  /// The machine time since the first question.
  package static var now: Duration { Pacemaker.shared.time }

  /// What an interval counts as in which the piece of work took `took`.
  static func credit(for interval: Duration, workTook took: Duration) -> Duration {
    // A machine that was suspended made no use of the time.
    let interval = min(interval, .seconds(1))
    return took <= workOnIdleMachine ? interval : interval * (workOnIdleMachine / took)
  }

  /// What the work takes at most while nothing else runs: measured as 4.2 ms in a debug build on a
  /// server of 2024.
  private static let workOnIdleMachine = Duration.milliseconds(8)

  /// A fixed piece of work, long enough that the scheduler gives others their turn within it.
  @inline(never)
  fileprivate static func work() -> UInt64 {
    var state: UInt64 = 1
    for step in 0..<1_000_000 as Range<UInt64> {
      state = state &* 6_364_136_223_846_793_005 ^ step
    }
    return state
  }
}

/// The thread that makes machine time.
private final class Pacemaker: Sendable {
  static let shared = Pacemaker()

  private let nanoseconds = Atomic<Int64>(0)

  // A forked child has no such thread: there time stands still, and the parent waits instead.
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
      _ = pause.wait(timeout: .now() + .milliseconds(250))
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
