#if LARDER_SCHEDULES
  @testable import Larder
  @testable import LarderBasics
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  // Loads: a change of the key that begins during a load wins over the load.
  extension HistoryJudge {
    /// Returns the steps of a load. Its value is stored unless the key was changed meanwhile. The
    /// caller, and all callers that wait for the same load, get it in any case.
    func loadSteps(
      _ call: Call, _ step: MakeStep, sees lag: Int64?, isLate: Bool, _ name: Character
    ) -> [Linearization.Step] {
      if case .failed("LoadFailure", _) = call.result {
        return mayLoseAll(name) || lag == nil ? [] : [step(.sawNone, false, nil)]
      }
      let isOptional = isLate || !mustStay(call, name)
      var steps: [Linearization.Step] = []
      if call.value != 0, call.operation.verb != .unkeptLoad {
        var write = step(.write(call.value), isOptional, isLate ? .max : nil)
        write.before = changes(since: call, name)
        // A load of a file begins anew when the file is removed before it is lent.
        steps =
          [write]
          + (0..<max(0, call.loadCount - 1)).map { _ in step(.write(call.value), true, nil) }
      }
      // A value that cannot be stored takes the older one with it.
      if mayBeRefused(call) { steps.append(step(.delete, true, nil)) }
      // A renewal that its process did not live to see the end of may have revived any value.
      if call.operation.verb == .renew, call.result == .none {
        let values = history.calls.filter { $0.operation.name == name && $0.start < call.start }
        return steps + values.filter { $0.value != 0 }.map { step(.write($0.value), true, .max) }
      }
      guard case .found(let value) = call.result, value != call.value,
        !isOverwritten(by: value, during: call)
      else { return steps }
      let isJoined = isJoined(call, by: value, name)
      // A renewal also finds an expired value, and makes it valid again.
      if call.operation.verb == .renew {
        var renewal = step(.write(value), true, nil)
        renewal.before = changes(since: call, name)
        steps.append(renewal)
      } else if !isJoined, !isLate, lag != nil {
        steps.append(step(.read(value), false, nil))
      }
      return steps
    }

    /// Returns whether a caller may have got the value of another one's load. One that came after
    /// the key was changed waits for a load that began after that.
    private func isJoined(_ call: Call, by value: Int, _ name: Character) -> Bool {
      history.calls.contains { other in
        // A renewal may bring the value that was there.
        let isRenewed = other.operation.verb == .renew && other.result == .found(value)
        return (other.operation.verb.isLoad || other.operation.verb == .cancelledLoad)
          && (other.value == value || isRenewed)
          && other.cache == call.cache
          && other.start < call.end
          // A refresh goes on after its caller has got the expired value.
          && (call.start < other.end || other.operation.verb == .staleLoad)
          && !supersessions(of: other, name).contains {
            $0.start > other.loadStart ?? .max && $0.end < call.start
          }
      }
    }

    /// Returns the steps of a load that may answer with an expired value, and stores its own later.
    func staleSteps(
      _ call: Call, _ step: MakeStep, sees lag: Int64?, _ name: Character
    ) -> [Linearization.Step] {
      var steps: [Linearization.Step] = []
      if call.loadStart != nil {
        var write = step(.write(call.value), true, .max)
        write.before = changes(since: call, name)
        steps.append(write)
        if mayBeRefused(call) { steps.append(step(.delete, true, .max)) }
      }
      // What an outsider's touch has ended may be served too.
      guard case .found(let value) = call.result, value != call.value, lag != nil,
        !mayLoseAll(name), !isJoined(call, by: value, name)
      else { return steps }
      return steps + [step(.read(value), false, nil)]
    }

    /// Returns the loads that were not cancelled although the only caller was.
    func uncancelledLoads() -> [String] {
      let loads = history.calls.filter {
        $0.operation.verb.isLoad || [.failingLoad, .cancelledLoad].contains($0.operation.verb)
      }
      return loads.filter { call in
        call.outlivesCaller && !scene.hasNestedLoads && call.end != .max
          && !loads.contains {
            $0.start != call.start && $0.process == call.process
              && $0.operation.name == call.operation.name && $0.end > call.start
              // Deadlines that come early say nothing about times.
              && (scene.early > 0 || $0.startTime < call.startTime + 50_000_000)
          }
      }.map { "the load goes on after its only caller was cancelled: \($0.text)" }
    }

    /// Returns the loads that began behind an expired value although one has failed just before.
    func refreshesAfterErrors(_ name: Character) -> [String] {
      let operations = scene.threads.filter { !$0.isFirst }.flatMap(\.operations)
      let mayForget = operations.contains {
        [.reopen, .pressure, .stepBack].contains($0.verb)
          || $0.verb == .pause && !(1...500).contains($0.number ?? 0)
      }
      guard !mayForget, scene.early == 0, scene.failures.isEmpty else { return [] }
      let loads = history.calls.filter { $0.operation.name == name && $0.loadStart != nil }
      return loads.filter { call in
        guard call.operation.verb == .staleLoad, let start = call.loadStart,
          case .found(let value) = call.result, value != call.value
        else { return false }
        // A value that is stored, and a load that has succeeded, make the error forgotten.
        let changes = supersessions(of: call, name)
        return loads.allSatisfy { $0.start == call.start || $0.operation.verb == .failingLoad }
          && loads.contains { failed in
            failed.cache == call.cache && failed.loadStart ?? .max < min(start, call.end)
              && failed.startTime > call.startTime - 900_000_000
              && failed.result == .failed("LoadFailure", remains: false)
              && !changes.contains { $0.end > failed.start }
          }
      }.map { "a load began behind an expired value although one has just failed: \($0.text)" }
    }

    /// Returns whether nothing prevented the value of a load from being stored.
    private func mustStay(_ call: Call, _ name: Character) -> Bool {
      guard call.result == .found(call.value), scene.failures.isEmpty,
        let cache = call.cache.map({ scene.caches[$0] })
      else { return false }
      let count = call.operation.number ?? 100
      if let limit = cache.options[.size], count > limit { return false }
      if let limit = cache.options[.admit], count > limit { return false }
      if cache.mode.isReadOnly || cache.options[.count] == 0 { return false }
      if scene.threads.contains(where: { $0.operations.contains { $0.verb == .reopen } }) {
        return false
      }
      return !history.calls.contains { other in
        other.start != call.start && other.mayChange && other.start < call.end
          && call.start < other.end && concerns(other, name, cache.options[.ext])
      }
    }

    /// Returns the starts of the calls that have changed a name since a load of it began. The value
    /// of the load must not be stored after them.
    func changes(since load: Call, _ name: Character) -> Set<Int> {
      guard let start = load.loadStart else { return [] }
      return Set(supersessions(of: load, name).map(\.start).filter { $0 > start })
    }

    /// Whether the value of a load may be refused by the cache's settings, or its store may fail,
    /// in a scene where another process may have stored a value meanwhile.
    func mayBeRefused(_ load: Call) -> Bool {
      guard let cache = load.cache.map({ scene.caches[$0] }) else { return false }
      if !scene.failures.isEmpty { return true }
      let isAlone = Set(scene.caches.map(\.process)).count == 1
      let count = load.operation.number ?? 100
      let limits = [cache.options[.size], cache.options[.admit]].compactMap(\.self)
      return !isAlone && limits.contains { count > $0 } || cache.options[.count] == 0
    }

    /// Returns the loads that threw the error of a load that had begun before the key was changed.
    func outlivedErrors(_ name: Character, _ ext: Int?) -> [String] {
      // A nested load asks for other names by loads that fail.
      if scene.hasNestedLoads { return [] }
      let calls = history.calls.filter { $0.operation.name == name }
      return calls.filter { call in
        guard call.operation.verb == .load, case .failed("LoadFailure", _) = call.result,
          call.cache.map({ scene.caches[$0].options[.ext] }) == ext
        else { return false }
        let changes = supersessions(of: call, name).filter { $0.end < call.start }
        return !calls.contains { other in
          guard other.operation.verb == .failingLoad, other.cache == call.cache,
            let start = other.loadStart, start < call.end
          else { return false }
          return !changes.contains { $0.start > start }
        }
      }.map { "the error of a load outlasts a change of its key: \($0.text)" }
    }

    /// The most files that entries of the scene can have at once.
    private var mostFiles: Int {
      let operations = scene.threads.flatMap(\.operations)
      let names = Set(scene.names).union(operations.compactMap(\.otherName))
      var extensions = Set(scene.caches.map { $0.options[.ext] })
      if operations.contains(where: { $0.verb == .plant }) { extensions.insert(nil) }
      return names.count * extensions.count
    }

    /// Returns the calls of a load's process that have changed its key.
    private func supersessions(of load: Call, _ name: Character) -> [Call] {
      let ext = load.cache.flatMap { scene.caches[$0].options[.ext] }
      return history.calls.filter { call in
        guard call.process == load.process, let cache = call.cache, call.start != load.start else {
          return false
        }
        switch (call.operation.verb, call.result) {
        case (.removeAll, .done), (.background, .done): return true
        // Only of what it lists, which is everything if it has removed as many as there can be.
        case (.select, .number(let count)): return count >= mostFiles
        case (.variants, .number): return call.operation.name == name
        case (.store, .stored), (.store, .pending), (.stream, .stored), (.shortStore, .stored),
          (.shortStore, .pending), (.absent, .stored), (.remove, .removed), (.inPieces, .stored),
          (.storeFile, .stored), (.take, .found), (.take, .missed):
          return call.operation.name == name && scene.caches[cache].options[.ext] == ext
        default: return false
        }
      }
    }
  }

  extension Scene {
    /// Whether some load asks for another name.
    var hasNestedLoads: Bool {
      threads.contains { $0.operations.contains { $0.verb == .nestedLoad } }
    }
  }
#endif
