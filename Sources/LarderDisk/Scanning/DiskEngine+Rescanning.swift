import LarderSystem

extension DiskEngine {
  /// Whether scans take the place of events.
  private var mustRescan: Bool { followsNeighbours && !hasEvents && !isReadOnly }

  /// After a store, where no events come: scans again if this process has stored so much that
  /// neighbours may have done so as well, and plans a scan for after the last store.
  func rescanIfDue() {
    guard mustRescan else { return }
    let now = MonotonicTime.now
    let (isDue, mustPlan) = withState { state in
      let isDue =
        state.scans.mayRescan
        && state.rescans.isDue(
          sizeLimit: configuration.sizeLimit, countLimit: configuration.countLimit, at: now)
      return (isDue, state.rescans.planLook(afterStoreAt: now))
    }
    if isDue { startRescan() }
    if mustPlan { planRescan(after: configuration.rescanDelay) }
  }

  private func planRescan(after delay: Duration) {
    IOExecutor.upkeep.submit(after: delay) { [weak self] in self?.rescanAfterLastStore() }
  }

  /// Scans when nothing was stored for a while; else waits for the rest of it.
  private func rescanAfterLastStore() {
    let now = MonotonicTime.now
    let rest = withState { state in
      state.phase.isShutDown ? nil : state.rescans.rest(of: configuration.rescanDelay, at: now)
    }
    guard let rest else { return }
    if rest > .zero { return planRescan(after: rest) }
    rescanOnce()
  }

  /// Scans again if the directory was scanned, or is being scanned, which may have passed what is
  /// looked for; another scan follows then.
  func rescanOnce() {
    if startRescan() { return }
    withState { state in
      if state.scans.isOngoing { state.scans.noteMissedNews() }
    }
  }
}
