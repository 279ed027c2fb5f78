#if LARDER_SCHEDULES
  import Synchronization

  /// The values of the processes of a schedule, one for each.
  @usableFromInline
  package struct ScheduledOwn<Own: AnyObject & Sendable>: ~Copyable, Sendable {
    private struct State {
      var schedule = 0
      var owns: [Int: Own] = [:]
    }

    private let state = Synchronization.Mutex(State())

    @usableFromInline
    init() {}

    /// The existing value of the running thread's process, if any.
    var known: Own? {
      let process = Scheduler.process
      return state.withLock { $0.owns[process] }
    }

    /// Keeps a new value for the running thread's process.
    func keep(_ own: Own) -> Own {
      let (process, schedule) = (Scheduler.process, Scheduler.number)
      let old = state.withLock { state -> [Int: Own] in
        var old: [Int: Own] = [:]
        // The values of earlier schedules are no longer used. Process numbers are never reused.
        if state.schedule != schedule {
          old = state.owns
          state.owns = [:]
          state.schedule = schedule
        }
        state.owns[process] = own
        return old
      }
      // Killed threads may still be inside them, so they are never released.
      for own in old.values { _ = unsafe Unmanaged.passRetained(own) }
      return own
    }
  }
#endif
