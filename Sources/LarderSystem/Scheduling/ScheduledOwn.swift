#if LARDER_SCHEDULES
  import Synchronization

  /// What each process of a schedule has for itself.
  @usableFromInline
  package struct ScheduledOwn<Own: AnyObject & Sendable>: ~Copyable, Sendable {
    private struct State {
      var schedule = 0
      var owns: [Int: Own] = [:]
    }

    private let state = Synchronization.Mutex(State())

    @usableFromInline
    init() {}

    /// What the process of the running thread has already.
    var known: Own? {
      let process = Scheduler.process
      return state.withLock { $0.owns[process] }
    }

    /// Keeps what was made for the process of the running thread.
    func keep(_ own: Own) -> Own {
      let (process, schedule) = (Scheduler.process, Scheduler.number)
      let old = state.withLock { state -> [Int: Own] in
        var old: [Int: Own] = [:]
        // Those of the schedules before are done with. Processes have numbers of their own.
        if state.schedule != schedule {
          old = state.owns
          state.owns = [:]
          state.schedule = schedule
        }
        state.owns[process] = own
        return old
      }
      // Killed threads may still stand in them.
      for own in old.values { _ = unsafe Unmanaged.passRetained(own) }
      return own
    }
  }
#endif
