#if LARDER_SCHEDULES
  @testable import Larder
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  extension SceneRun {
    /// Checks at the end of a flush that the uses before it are on the disk, to within the
    /// granularity; or at rest without one, with nil, because they are written by themselves.
    ///
    /// Only reads that were alone are judged: one beside a change of another name may go uncounted,
    /// because names share counters.
    func judgeUses(since flush: Int?, _ cache: Int) {
      let spec = scene.caches[cache]
      guard let granularity = spec.options[.granularity], !isDisturbedForUses else { return }
      let calls = history.calls
      let start = flush.map { history.call($0).start } ?? .max
      for name in scene.names {
        guard let use = calls.last(where: { isUse($0, of: name, before: start, calls) }),
          case .found(let value) = use.result
        else { continue }
        let file = "\(path)/\(SceneValue.fileName(name, ext: spec.options[.ext]))"
        guard RawFiles.bytes(file).flatMap(SceneValue.value) == value,
          let access = RawFiles.lastAccess(file)
        else { continue }
        // Of uses at the same time either may be stamped last.
        let times = calls.filter { other in
          other.operation.name == name && other.start < use.end && use.start < other.end
        }.map(\.startTime)
        let start = Timestamp(
          seconds: ScheduledFiles.epoch, nanoseconds: times.min() ?? use.startTime)
        let due = start.adding(.zero - .milliseconds(granularity))
        if access < due {
          let time = flush == nil ? "at rest" : "after a flush"
          history.report("\(time), a use is not on the disk: \(use.text)")
        }
      }
    }

    /// Checks at the end of a store that it has waited for the files of a removal of everything, if
    /// they and its value take more than 1.1 times the limit.
    func judgeRoom(since store: Int, _ cache: Int) {
      let calls = history.calls
      let call = history.call(store)
      guard processCount == 1, scene.failures.isEmpty,
        !scene.threads.contains(where: { $0.cache == nil }),
        let limit = scene.caches[cache].options[.size],
        let clearing = calls.last(where: { $0.isClearing && $0.end < call.start }),
        calls.contains(where: { $0.operation.verb == .count && $0.end < clearing.start }),
        !calls.contains(where: { other in
          other.start != call.start && other.end > clearing.start && other.start < call.end
            && other.operation.verb.bringsValue
        })
      else { return }
      let files = RawFiles.names(in: path).filter { !$0.hasPrefix(".") && $0 != "CACHEDIR.TAG" }
      let total = files.compactMap { RawFiles.byteCount("\(path)/\($0)") }.reduce(0, +)
      if files.count > 1, total > limit + limit / 10 {
        history.report("a store did not wait for room: \(total) bytes after \(call.text)")
      }
    }

    private func isUse(_ call: Call, of name: Character, before start: Int, _ calls: [Call]) -> Bool
    {
      guard !call.isLook, call.operation.name == name, call.end < start, let cache = call.cache,
        case .found = call.result, scene.caches[cache].options[.ext] == nil,
        missesWatch(call, scene.caches[cache], calls)
      else { return false }
      switch call.operation.verb {
      case .whole, .file: break
      case .read where scene.caches[cache].isDisk: break
      default: return false
      }
      return !calls.contains { $0.mayChange && $0.start < call.end && call.start < $0.end }
    }

    /// Whether the read cannot meet the beginning of the watch, which is one of a change, so that
    /// its use is not counted. A tier of memory begins the watch itself before it reads. Else the
    /// first scan does, for which a count waits, and which reads by disk objects do not begin.
    private func missesWatch(_ use: Call, _ spec: Scene.CacheSpec, _ calls: [Call]) -> Bool {
      !spec.isDisk || !scene.caches.contains { $0.coherence != .none }
        || calls.contains { $0.operation.verb == .count && $0.end < use.start }
        || !calls.contains { call in
          let isOfDisk = call.cache.map { scene.caches[$0].isDisk } ?? true
          return call.start < use.end
            && !(isOfDisk && [.read, .whole, .file, .flush].contains(call.operation.verb))
        }
    }

    /// Whether something in the scene can take a use from the disk: other processes, failures,
    /// limits, short lifetimes, and removals of many entries.
    private var isDisturbedForUses: Bool {
      let disturbing: Set<Scene.Verb> = [
        .shortStore, .extend, .renew, .removeAll, .background, .reopen, .expire, .select, .stamp,
        .variants,
      ]
      let isWatchedLate = scene.caches.contains { $0.options[.aside] != nil }
      return processCount > 1 || !scene.failures.isEmpty || allowance.everything || isWatchedLate
        || scene.threads.contains { thread in
          thread.cache == nil || thread.operations.contains { disturbing.contains($0.verb) }
        }
    }
  }
#endif
