import LarderSystem

extension DiskEngine {
  /// The outcome of the election of an evictor among the processes on a directory.
  enum Election: Sendable {
    /// This process holds the lock on the tag, or there is no tag to lock. In the second case
    /// several processes may evict at once, which is harmless.
    case won(LockedFile?)
    /// Another process holds the lock on the tag.
    case lost

    var lock: LockedFile? {
      if case .won(let lock) = self { lock } else { nil }
    }
  }

  /// The pause after a lost election, before this process asks again.
  ///
  /// It is random on a network file system, because machines there may not see each other's locks
  /// and should not evict in step.
  var electionPause: Duration {
    .milliseconds(isOnNetwork ? Int.random(in: 20...100) : 20)
  }

  /// Tries to lock the tag. The lock ends when the last reference to it goes.
  func elect() -> Election {
    guard configuration.mode == .shared else { return .won(nil) }
    do throws(Errno) {
      let tag = try location.handle.openForReading(DirectoryMaking.tagName)
      guard try tag.tryLock(.exclusive) else { return .lost }
      return .won(LockedFile(tag))
    } catch {
      return .won(nil)
    }
  }

  /// Returns an election by which this process may choose victims; nil while another process
  /// evicts.
  ///
  /// The other process may be making the room that is missing here. If two processes evict for one
  /// limit, they remove twice as much.
  ///
  /// Never waits. `LimitKeeper.candidacy` gives the next step:
  ///
  /// 1. `.ask`: asks to be elected. A process that is elected evicts.
  /// 2. `.wait`: an election was lost less than a quarter of the election pause ago (5 ms of 20).
  ///    The process gets nil and checks the limits again after the pause, as after a lost election.
  /// 3. `.goOn`, or an impatient `.ask`: no file has gone for `electionPatience` (2 s). Evicts
  ///    without the lock, because a process that is stopped in its term must not suspend the limits
  ///    of all processes.
  func termToEvict() -> Election? {
    // Without events this process learns of its neighbours by scans alone, and would not see the
    // room that they make.
    guard hasEvents else { return .won(nil) }
    let now = MonotonicTime.now
    let pause = electionPause / 4
    // Nil while this process is in a term of its own.
    let candidacy = withState { state in
      state.noteTerm()
        ? nil
        : state.limits.candidacy(at: now, pause: pause, patience: configuration.electionPatience)
    }
    var goesOn = false
    switch candidacy {
    case nil: return .won(nil)
    case .wait: break
    case .goOn: goesOn = true
    case .ask(let isImpatient):
      let election = elect()
      if case .won = election {
        withState { $0.limits.forgetLostElections() }
        return election
      }
      // Another thread of this process may hold the lock by now.
      let isOwn = withState { state in
        if state.noteTerm() { return true }
        state.limits.noteLostElection(at: now)
        return false
      }
      if isOwn { return .won(nil) }
      goesOn = isImpatient
    }
    guard goesOn else {
      checkLimitsLater(isUrgent: true)
      return nil
    }
    noteUpkeepFailure(.wouldBlock)
    return .won(nil)
  }

  /// Plans a look at the limits: soon if it is urgent, because this process has stored too much,
  /// and else after a second, because the process that stored too much looks itself.
  func checkLimitsLater(isUrgent: Bool = false) {
    guard configuration.hasLimit, !isReadOnly else { return }
    let mustPlan = withState { state in
      guard state.isScanned, !state.phase.isShutDown, !state.limits.isCheckPlanned else {
        return false
      }
      return (isUrgent || isLimitExceeded(state)) && state.limits.planCheck()
    }
    guard mustPlan else { return }
    let delay = isUrgent ? electionPause : .seconds(1)
    runLater(after: delay) { engine in
      engine.withState { $0.limits.beginCheck() }
      engine.enforceLimits()
    }
  }
}

extension EngineState {
  /// Returns whether this process is in a term, and forgets lost elections if it is.
  fileprivate mutating func noteTerm() -> Bool {
    guard evictions.term != nil else { return false }
    limits.forgetLostElections()
    return true
  }
}
