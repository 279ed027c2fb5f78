extension EngineState {
  /// Hands victims, which have left the index, to the evictor.
  @discardableResult
  mutating func startEviction(_ victims: [Victim]) -> Eviction {
    let eviction = Eviction(victims)
    guard !victims.isEmpty else {
      eviction.finish()
      return eviction
    }
    doom(victims)
    evictions.append(eviction)
    return eviction
  }

  /// Makes a victim whose file could not be removed an entry again: it is still on the disk, and
  /// totals must say so.
  mutating func readopt(_ victim: Victim) {
    readopt(victim, as: IndexedEntry(victim))
  }

  /// Makes an entry of what has a victim's name, and counts no removal of it.
  mutating func readopt(_ victim: Victim, as entry: IndexedEntry?) {
    cancelRemoval(of: victim.name)
    let count = statistics.removals[victim.cause, default: 0] - 1
    statistics.removals[victim.cause] = count > 0 ? count : nil
    if storedSinceClear == nil, let entry { index.upsert(entry, order: .byLastAccess) }
  }
}

extension DiskEngine {
  /// Victims that are removed between two looks at what else there is to do. Fewer where evictors on
  /// several machines may be at it at once, and each unlink is a round trip.
  private var batchSize: Int { fileSystem.isNetwork ? 16 : 64 }

  /// Sees that the evictor runs if it has anything to do.
  func runEvictor() {
    let mustStart = withState { state in
      guard !state.isEvicting, !state.evictions.isEmpty else { return false }
      state.isEvicting = true
      return true
    }
    guard mustStart else { return }
    IOExecutor.upkeep.submit { self.evict() }
  }

  /// How long the evictor leaves the tag to another process before it asks again.
  ///
  /// On a network file system machines that do not see each other's locks are kept out of step.
  private var electionPause: Duration {
    .milliseconds(fileSystem.isNetwork ? Int.random(in: 20...100) : 20)
  }

  /// Removes the files of all victims, once it is elected among the processes on the directory.
  ///
  /// While another process evicts, this one waits its turn, holding no thread; when its patience
  /// ends it goes on all the same, since each file is judged again before it goes.
  private func evict(since start: MonotonicTime = .now) {
    let hasPatience =
      MonotonicTime.now.duration(since: start) < configuration.electionPatience
      && IOExecutor.upkeep.hasThreads
    let election = elect()
    if case .lost = election, hasPatience {
      return IOExecutor.upkeep.submit(after: electionPause) { self.evict(since: start) }
    }
    // Held until the last victim is gone; closing it ends the term.
    defer { withExtendedLifetime(election) {} }
    while let eviction = nextEviction() {
      while true {
        let victims = eviction.take(batchSize)
        if victims.isEmpty { break }
        eviction.add(removeFiles(of: victims))
        changed.signal()
      }
      synchronizeRemovals()
      eviction.finish()
      changed.signal()
    }
    // Who waits for the evictor to rest looks again now that it does.
    changed.signal()
  }

  /// Sees that what was removed stays removed after a power cut, where that is promised.
  private func synchronizeRemovals() {
    guard configuration.durability == .durable else { return }
    do throws(Errno) {
      try location.handle.descriptor.synchronize()
    } catch {
      noteUpkeepFailure(error)
    }
  }

  private func nextEviction() -> Eviction? {
    withState { state in
      guard !state.evictions.isEmpty else {
        state.isEvicting = false
        return nil
      }
      return state.evictions.removeFirst()
    }
  }

  private func removeFiles(of victims: [Victim]) -> BulkRemoval {
    var result = BulkRemoval()
    for victim in victims { result.add(changing(victim.name) { removeFile(of: victim) }) }
    return result
  }

  /// Removes a victim's file unless a store has taken the name since, or somebody used or replaced
  /// the file; then it is an entry again, and neither removed nor failed.
  private func removeFile(of victim: Victim) -> BulkRemoval {
    let name = victim.name
    var result = BulkRemoval()
    guard let doomed = withState({ $0.doomed[name] }) else { return result }
    do throws(Errno) {
      let unlinking = try unlink(
        name, inode: doomed.inode, changeTime: doomed.changeTime, in: location.handle)
      switch unlinking {
      case .removed, .absent:
        withState { $0.cancelRemoval(of: name) }
        result.removed = 1
        result.byteCount = Int(victim.byteCount)
      case .changed(let status):
        let entry = entry(name, status)
        withState { $0.readopt(doomed, as: entry) }
      }
    } catch {
      noteUpkeepFailure(error)
      withState { $0.readopt(doomed) }
      result.failed = 1
    }
    return result
  }

  /// Waits until an eviction is over and returns what came of it.
  func wait(for eviction: Eviction) -> BulkRemoval {
    runEvictor()
    return wait { _ in
      let (result, isFinished) = eviction.progress
      return isFinished ? result : nil
    }
  }

  /// Waits until no victim's file is left.
  func waitForEvictor() {
    runEvictor()
    wait { $0.isEvicting || !$0.evictions.isEmpty ? nil : () }
  }
}

extension DiskEngine {
  /// How the election of an evictor among the processes on a directory went.
  private enum Election: Sendable {
    /// This process holds the tag, or there is nothing to hold: then several evict at once, which is
    /// harmless.
    case won(LockedFile?)
    /// Another process holds the tag.
    case lost
  }

  private func elect() -> Election {
    do throws(Errno) {
      let tag = try location.handle.openForReading(DirectoryMaking.tagName)
      guard try tag.tryLock(.exclusive) else { return .lost }
      return .won(LockedFile(tag))
    } catch {
      return .won(nil)
    }
  }
}
