#if LARDER_SCHEDULES
  @testable import Larder
  @testable import LarderBasics
  @testable import LarderDisk
  @testable import LarderSystem

  // Loads that processes share.
  extension HistoryJudge {
    /// The nanoseconds by which a call may outlast what it waits for, where events are complete. A
    /// timer may come at each cut of a sweep.
    private static let turnDelay: Int64 = 150_000_000

    func turnProblems() -> [String] {
      guard scene.caches.contains(where: { $0.options[.shared] == 1 }) else { return [] }
      return scene.names.flatMap { name in
        let calls = history.calls.filter { $0.operation.name == name && isShared($0) }
        return loadsAtOnce(calls) + needlessLoads(calls, name) + lateCalls(calls)
          + overtakenCalls(calls, name)
      }
    }

    private func isShared(_ call: Call) -> Bool {
      call.operation.verb != .renew
        && call.cache.map { scene.caches[$0].options[.shared] == 1 } == true
    }

    private var verbs: Set<Scene.Verb> { Set(scene.threads.flatMap(\.operations).map(\.verb)) }

    /// Returns the loads that ran beside one of another process, and were not counted as such.
    private func loadsAtOnce(_ calls: [Call]) -> [String] {
      guard scene.failures.isEmpty, verbs.isDisjoint(with: [.removeTag, .replace]) else {
        return []
      }
      return calls.flatMap { call in
        // A cancelled load may begin after its turn has ended.
        call.loads.filter { load in
          !load.isAlone && call.operation.verb != .cancelledLoad
            && calls.contains { other in
              other.process != call.process && !killed.contains(other.process)
                // It has no turn any more when it is cancelled.
                && other.operation.verb != .cancelledLoad
                && other.loads.contains {
                  !$0.isAlone && $0.start < load.start && load.start < $0.end
                }
            }
        }.map { _ in "a load began beside another process's: \(call.text)" }
      }
    }

    /// Whether nothing in the scene is a reason for two loads of a name, but for kills.
    private var isCalm: Bool {
      let calm: Set<Scene.Verb> = [
        .load, .slowLoad, .loadFile, .read, .whole, .file, .contains, .flush, .count, .entries,
        .total, .pause, .kill, .overflow,
      ]
      // What expires before all others begin has to be loaded too.
      let threads = scene.threads.filter {
        !$0.isFirst || $0.operations.map(\.text) != ["Qa100", "P1500"]
      }
      return scene.failures.isEmpty && scene.early == 0
        && threads.flatMap(\.operations).allSatisfy { calm.contains($0.verb) }
        && scene.caches.allSatisfy {
          $0.options[.shared] == 1 && $0.options[.turn] == nil && $0.options[.admit] == nil
            && $0.mode == .shared && !$0.isDisk
        } && Allowance(scene).limitsNothing
    }

    /// Returns what is wrong where one load of a name is enough, and one more for each kill.
    private func needlessLoads(_ calls: [Call], _ name: Character) -> [String] {
      guard isCalm, Set(scene.caches.map { $0.options[.ext] }).count == 1 else { return [] }
      let loads = calls.filter { !$0.loads.isEmpty }
      var problems: [String] = []
      // One that expires is stored anew before each round.
      let rounds = history.calls.count {
        $0.operation.verb == .shortStore && $0.operation.name == name
      }
      // A sweep of another process may remove what is stored between its look and its unlink.
      let overtaken = rounds > 0 && Set(scene.caches.map(\.process)).count > 1 ? 1 : 0
      if loads.count > max(1, rounds) + killed.count + overtaken {
        problems.append(
          "\(loads.count) loads of one name, with \(killed.count) kills: "
            + loads.map(\.text).joined(separator: "; "))
      }
      // Its load is marked then, and those that have waited for it load alone.
      problems += (overtaken > 0 ? [] : calls.filter(\.isAlone)).map {
        "a load without sharing, for no reason: \($0.text)"
      }
      return problems
    }

    /// Returns the calls that ended long after what they had to wait for.
    private func lateCalls(_ calls: [Call]) -> [String] {
      let deaf: Set<Scene.Verb> = [.overflow, .stop, .stepBack, .replace, .removeTag, .reopen]
      // A process may find a value too long that another with a larger limit has stored, of which
      // no event tells.
      guard scene.early == 0, scene.failures.isEmpty, verbs.isDisjoint(with: deaf),
        Set(scene.caches.map { $0.options[.size] }).count == 1
      else { return [] }
      let kills = history.calls.filter { $0.operation.verb == .kill }
      return calls.filter { call in
        guard call.end != .max, call.endTime != .max, call.operation.verb != .nestedLoad,
          call.operation.verb != .staleLoad,
          let cache = call.cache.map({ scene.caches[$0] }), cache.coherence != .none,
          cache.mode == .shared, cache.options[.aside] == nil
        else { return false }
        // Its own load takes as long as it takes.
        let end = call.loads.first?.startTime ?? call.endTime
        var last = call.startTime
        for other in calls where other.start != call.start {
          for load in other.loads where load.startTime < end && load.endTime < .max {
            last = max(last, min(load.endTime, end))
          }
        }
        for kill in kills where kill.endTime <= end { last = max(last, kill.endTime) }
        return end - last > Self.turnDelay
      }.map { "waited \(($0.endTime - $0.startTime) / 1_000) us, in vain at last: \($0.text)" }
    }

    /// Returns the loads that have waited for one that is older than a removal by their process.
    private func overtakenCalls(_ calls: [Call], _ name: Character) -> [String] {
      // It is known for as long as the cache is open.
      guard scene.failures.isEmpty, verbs.isDisjoint(with: [.removeTag, .replace, .reopen]) else {
        return []
      }
      let longest = scene.caches.compactMap { $0.options[.turn] }.min() ?? 30_000
      return calls.filter { call in
        guard case .found(let value) = call.result, call.hasWaited, !call.isAlone,
          let other = calls.first(where: { $0.value == value && $0.process != call.process }),
          other.end > call.start, let start = other.loads.first?.start, !other.loads[0].isAlone
        else { return false }
        return history.calls.contains { change in
          let isRemoval: Bool =
            switch change.operation.verb {
            case .remove, .take: change.operation.name == name && change.result != .none
            case .removeAll: change.result == .done
            default: false
            }
          // It is known for as long as a load may wait.
          let isKnown = call.endTime - change.endTime < 1_000_000 * Int64(longest)
          return isRemoval && isKnown && change.process == call.process && change.start > start
            && change.end < call.start
        }
      }.map { "waited for a load from before its process's removal: \($0.text)" }
    }
  }

  extension SceneRun {
    /// Checks that a process has no turn, no mark and no waiting load left.
    func judgeTurns(of disk: DiskCache, _ cache: Int) {
      // One that could not be opened again has ended with what it had.
      guard !disk.engine.withState({ $0.phase.isShutDown }) else { return }
      let table = disk.engine.turns.withLock { $0 }
      for child in Mirror(reflecting: table).children {
        guard let label = child.label, ["taken", "marked", "waiting"].contains(label),
          !Mirror(reflecting: child.value).children.isEmpty
        else { continue }
        history.report("cache \(cache) at rest: loads are \(label)")
      }
    }
  }
#endif
