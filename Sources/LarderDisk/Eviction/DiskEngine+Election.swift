import LarderSystem

extension DiskEngine {
  /// The outcome of the election of an evictor among the processes on a directory.
  enum Election: Sendable {
    /// This process holds the tag, or there is nothing to hold: then several evict at once, which
    /// is harmless.
    case won(LockedFile?)
    /// Another process holds the tag.
    case lost

    var lock: LockedFile? {
      if case .won(let lock) = self { lock } else { nil }
    }
  }

  /// The pause after a lost election, in which the other process is left alone.
  ///
  /// On a network file system machines that do not see each other's locks are kept out of step.
  var electionPause: Duration {
    .milliseconds(isOnNetwork ? Int.random(in: 20...100) : 20)
  }

  /// Asks for the tag. The lock ends when the last reference to it goes.
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

  /// Asks whether this process may choose victims; nil while another one is evicting, which may be
  /// making the very room that is missing here: two that evict for one limit would halve twice what
  /// is there.
  ///
  /// Never waits. A refused process looks again later, and goes on without the tag when its patience
  /// ends: a process that was stopped in its term must not suspend all processes' limits.
  func termToEvict() -> Election? {
    // What knows of its neighbours by scans alone would not see the room that they make.
    guard hasEvents else { return .won(nil) }
    let now = MonotonicTime.now
    let pause = electionPause / 4
    // Nil in a term of this process's own.
    let candidacy = withState { state in
      state.evictions.term == nil
        ? state.limits.candidacy(at: now, pause: pause, patience: configuration.electionPatience)
        : nil
    }
    var isImpatient = false
    switch candidacy {
    case nil: return .won(nil)
    case .wait: break
    case .goOn: isImpatient = true
    case .ask(let isAtEnd):
      let election = elect()
      if case .won = election {
        withState { $0.limits.forgetLostElections() }
        return election
      }
      withState { $0.limits.noteLostElection(at: now) }
      isImpatient = isAtEnd
    }
    guard isImpatient else {
      checkLimitsLater(isUrgent: true)
      return nil
    }
    noteUpkeepFailure(.wouldBlock)
    return .won(nil)
  }

  /// The time for which a thread that waits for a neighbour sleeps between two looks.
  private static let neighbourPause = Duration.milliseconds(5)

  /// Waits while a neighbour evicts and the files on disk would exceed a total.
  ///
  /// Not for longer than the patience with it. Asleep in between, and not woken by every change:
  /// many threads that look all the time would leave the evictor no processor.
  ///
  /// The value that waits has its room reserved.
  func waitForNeighbour(within most: UInt64) {
    let end = MonotonicTime.now.advanced(by: configuration.electionPatience)
    let alarm = EventCount()
    while MonotonicTime.now < end {
      let mayGo = withState { state in
        !state.limits.hasLostElection || state.phase.isShutDown
          || state.hasRoom(for: 0, within: most, configuration.sizeMeasure)
      }
      if mayGo { return }
      checkLimitsLater(isUrgent: true)
      alarm.wait(alarm.ticket(), timeout: Self.neighbourPause)
      _ = catchUp()
    }
  }

  /// Plans a look at the limits: soon, where this process has stored what is too much; else with
  /// some patience, because the process that stored it looks itself.
  func checkLimitsLater(isUrgent: Bool = false) {
    guard configuration.hasLimit, !isReadOnly else { return }
    let mustPlan = withState { state in
      guard state.isScanned, !state.phase.isShutDown, !state.limits.isCheckPlanned else {
        return false
      }
      return (isUrgent || isLimitPassed(state)) && state.limits.planCheck()
    }
    guard mustPlan else { return }
    let delay = isUrgent ? electionPause : .seconds(1)
    IOExecutor.upkeep.submit(after: delay) { [weak self] in
      guard let self else { return }
      self.withState { $0.limits.beginCheck() }
      self.enforceLimits()
    }
  }
}

extension EngineState {
  /// Whether the files on disk and those of the stores that are under way stay within a total with
  /// so many bytes more.
  func hasRoom(
    for room: UInt64, within most: UInt64, _ measure: DiskCache.SizeMeasure
  ) -> Bool {
    var sum = measuredOnDisk(measure)
    sum.addSaturating(limits.reservedByteCount)
    sum.addSaturating(room)
    return sum <= most
  }
}
