#if LARDER_SCHEDULES
  @testable import Larder
  @testable import LarderBasics
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  /// A judge that compares the results of calls with the promises of the documentation.
  struct HistoryJudge {
    let scene: Scene
    let history: History
    let killed: Set<Int>

    /// The nanoseconds by which a value in memory may lag behind a neighbour's change, with events.
    private static let lag: Int64 = 50_000_000

    func problems() -> [String] {
      var problems: [String] = []
      // A process continues in the directory that was moved away until it checks the path.
      let extensions = Set(scene.caches.map { $0.options[.ext] })
      if scene.replacesDirectory {
        return extensions.flatMap(restProblems) + unexpectedFailures()
      }
      for name in scene.names {
        for ext in extensions {
          problems += self.problems(with: name, ext) + outlivedErrors(name, ext)
          problems += refreshesAfterErrors(name)
        }
      }
      return problems + unexpectedFailures() + uncancelledLoads() + slowCalls() + turnProblems()
    }

    /// Returns the calls that a periodic timer has woken, because something else did not.
    private func slowCalls() -> [String] {
      let delaying: Set<Scene.Verb> = [.kill, .stop, .stepBack]
      let isDelayed =
        scene.early > 0
        || scene.threads.contains { $0.operations.contains { delaying.contains($0.verb) } }
      if isDelayed { return [] }
      // A process that cannot open the tag at its load's end wakes nobody; the others look later.
      let isSilent = scene.failures.contains { $0.call == .openat }
      return history.calls.filter { call in
        call.end != .max && call.endTime != .max && call.operation.verb != .pause
          && call.endTime - call.startTime > 1_500_000_000 * (call.hasWaited && isSilent ? 2 : 1)
      }.map { "took \(($0.endTime - $0.startTime) / 1_000_000) ms: \($0.text)" }
    }

    /// Returns the values that caches find at rest and that are not in the directory at the path.
    private func restProblems(_ ext: Int?) -> [String] {
      var others = scene
      for index in others.threads.indices {
        others.threads[index].operations.removeAll { $0.verb == .replace }
      }
      let allowance = Allowance(others)
      return scene.names.flatMap { name -> [String] in
        let calls = history.calls.filter { $0.operation.name == name && concerns($0, name, ext) }
        let last = Set(calls.filter { $0.thread == "afterwards" }.map(\.result))
        // A limit may remove it between the two looks.
        if last == [.missed], allowance.mayLose(name) { return [] }
        return calls.filter { call in
          guard call.thread == "at rest", case .found = call.result
          else { return false }
          return lag(of: call) != nil && !last.contains(call.result)
        }.map { call in
          let there = last.map { "\($0)" }.sorted().joined(separator: ", ")
          return "in the directory that was moved away: \(call.text); expected, as in the "
            + "directory at the path: \(there)"
        }
      }
    }

    private func problems(with name: Character, _ ext: Int?) -> [String] {
      let calls = history.calls.filter { concerns($0, name, ext) }
      let mutators = Set(calls.filter(\.mayChange).map(\.process)).subtracting([-1])
      let hasOutsider = calls.contains { $0.process == -1 && $0.cache == nil && $0.isOutside }
      var problems: [String] = []
      if mutators.count <= 1, !hasOutsider, !isLossy(mutators.first) {
        let own = calls.filter { call in
          if call.isLook, isEarly(call) { return false }
          // A file that another process uses during a removal of everything may stay.
          if processes.count > 1, isHidden(call, calls) { return false }
          // Files that a removal of everything hides are removed in the background, or never if its
          // process is killed.
          if !calls.contains(where: \.isClearing) {
            return call.process < 0 || mutators.isEmpty || mutators.contains(call.process)
          }
          if call.isLook || !killed.isEmpty && call.process < 0 && call.isRead { return false }
          return call.process < 0 || mutators.isEmpty || mutators.contains(call.process)
        }
        let steps = own.flatMap { allSteps(of: $0, name, sees: 0, isAlone: true) }
        check(
          steps + overtakenSteps(calls), losses(of: calls, name, isAlone: true),
          "of process \(mutators.first ?? 0) on \(name)",
          &problems)
      }
      let isAlone = mutators.count <= 1 && !hasOutsider && processes.count <= 1
      if !isAlone {
        let steps = calls.flatMap { call -> [Linearization.Step] in
          if isBehind(call.process), !call.isWrite { return [] }
          if call.isLook || isHidden(call, calls) { return [] }
          guard let lag = lag(of: call) else {
            return allSteps(of: call, name, sees: nil, isAlone: false)
          }
          return allSteps(of: call, name, sees: lag, isAlone: false)
        }
        check(
          steps + overtakenSteps(calls), losses(of: calls, name, isAlone: false),
          "of all processes on \(name)", &problems)
      }
      return problems
    }

    /// Returns whether a call found nothing because its process was removing everything. For that
    /// process all values are gone at once, for other processes when the files are.
    private func isHidden(_ call: Call, _ calls: [Call]) -> Bool {
      // A load that fails has missed the value before.
      guard [.missed, .failed("LoadFailure", remains: false)].contains(call.result) else {
        return false
      }
      return calls.contains { other in
        guard other.process == call.process, other.isClearing else { return false }
        let isWaited = other.operation.verb == .removeAll || other.operation.number ?? 0 > 0
        return other.start < call.end && (!isWaited || call.start < other.end)
      }
    }

    private var processes: Set<Int> { Set(scene.caches.map(\.process)) }

    /// Returns whether a process was killed while values waited to be written, or could not write
    /// one and said so: an older value that could not be removed either may be back.
    private func isLossy(_ process: Int?) -> Bool {
      guard let process, isBehind(process) else { return false }
      return killed.contains(process) || history.lossy.contains(process)
    }

    private func isBehind(_ process: Int) -> Bool {
      scene.caches.contains { $0.process == process && $0.options[.behind] != nil }
    }

    private func check(
      _ steps: [Linearization.Step], _ losses: Linearization.Losses, _ whose: String,
      _ problems: inout [String]
    ) {
      var search = Linearization(steps, losses: losses)
      if search.exists() { return }
      let list = steps.sorted { $0.start < $1.start }.map { "    \($0.text)" }
      problems.append(
        "the calls \(whose) have no order:\n"
          + (list + search.explanation()).joined(separator: "\n"))
    }

    /// Returns the values of a name that may go without a step: all of them, or those that expire.
    private func losses(
      of calls: [Call], _ name: Character, isAlone: Bool
    ) -> Linearization.Losses {
      // A value that was accepted and could not be written takes the older one with it.
      let isBehind = scene.caches.contains { $0.options[.behind] != nil }
      let isLossy = !isAlone && isBehind && !scene.failures.isEmpty
      // A file whose stamps were set to the present expires later if the clock was set back, also
      // under another name.
      let verbs = Set(scene.threads.flatMap(\.operations).map(\.verb))
      let isAhead = verbs.isSuperset(of: [.stepBack, .touch, .moveOut])
      return Linearization.Losses(
        everything: isLossy || isAhead || mayLoseAll(name),
        values: Set(calls.filter { $0.operation.verb == .shortStore }.map(\.value)))
    }

    func concerns(_ call: Call, _ name: Character, _ ext: Int?) -> Bool {
      let first = scene.caches.first?.options[.ext]
      let own =
        call.cache.map { scene.caches[$0].options[.ext] } ?? (call.isOutside ? nil : first)
      // What is chosen is chosen among the entries of all extensions.
      guard own == ext else {
        let isVariant = call.operation.verb == .variants && call.operation.name == name
        return call.operation.verb.clearsAll || call.operation.verb == .select || isVariant
      }
      return call.operation.name == name || call.operation.verb.clearsAll
        || call.operation.otherName == name
        || [.entries, .count, .select].contains(call.operation.verb)
    }

    /// Returns the time by which a read may lag; nil for any time.
    private func lag(of call: Call) -> Int64? {
      guard call.process >= 0, let cache = call.cache.map({ scene.caches[$0] }) else { return 0 }
      if cache.isDisk { return 0 }
      switch call.operation.verb {
      case .read, .load, .failingLoad, .renew, .loadFile, .staleLoad, .nestedLoad, .slowLoad,
        .unkeptLoad:
        break
      default: return 0
      }
      // An exclusive cache does not look for changes from outside.
      if cache.mode == .exclusive {
        return scene.threads.contains { $0.cache == nil } ? nil : 0
      }
      // A stopped process hears of nothing.
      let isStopped = scene.threads.contains { thread in
        thread.operations.contains { $0.verb == .stop && $0.number == call.process }
      }
      switch cache.coherence {
      case .strict: return 0
      case .events:
        return scene.early == 0 && scene.failures.isEmpty && !isStopped ? Self.lag : nil
      case .none: return nil
      }
    }
  }

  extension HistoryJudge {
    /// Returns the steps of a call on a name.
    ///
    /// - Parameter lag: The nanoseconds by which a read may lag; nil for reads that prove nothing.
    private func allSteps(
      of call: Call, _ name: Character, sees lag: Int64?, isAlone: Bool
    ) -> [Linearization.Step] {
      var start = call.start
      if let lag, lag > 0 { start = min(start, history.firstPosition(since: call.startTime - lag)) }
      func step(
        _ effect: Linearization.Effect, isOptional: Bool = false, end: Int? = nil
      ) -> Linearization.Step {
        var isRead = false
        if case .read = effect { isRead = true }
        if case .sawNone = effect, call.isRead || call.operation.verb.isLoad { isRead = true }
        return Linearization.Step(
          start: isRead ? start : call.start, end: end ?? call.end, effect: effect,
          isOptional: isOptional || call.result == .none, text: call.text)
      }
      switch call.operation.verb {
      case .plant:
        return [step(.write(call.value), isOptional: processes.contains(where: isBehind))]
      case .store, .stream, .shortStore, .inPieces, .storeFile:
        return storeSteps(call, name, isAlone: isAlone, step)
      case .moveIn: return moveInSteps(call, name, step)
      case .stamp where call.result == .number(0):
        // It may have proved what an outsider has just written into a file that was to go.
        if history.calls.contains(where: { $0.isClearing && $0.isBeside(call) }) {
          return stampSteps(call, name, step)
        }
        return isAlone && processes.count == 1 && !mayLoseAll(name) ? [step(.sawNone)] : []
      case .stamp: return stampSteps(call, name, step)
      case .absent:
        // A value that waits to be written is not visible to other processes.
        let isOwn = !isAlone && isBehind(call.process)
        // A file that was moved to the name meanwhile takes it, and need not be a value of it.
        let isTaken = history.calls.contains { $0.operation.otherName == name && $0.isBeside(call) }
        return call.result == .rejected("alreadyPresent") && (isOwn || isTaken)
          ? [] : absentSteps(call, step)
      case .unkeptLoad where call.result == .found(call.value) || call.result == .none:
        return call.loadStart == nil ? [] : [step(.delete, isOptional: true, end: .max)]
      case .load, .failingLoad, .renew, .loadFile, .nestedLoad, .slowLoad, .unkeptLoad:
        let isLate = !isAlone && isBehind(call.process)
        return loadSteps(call, step, sees: lag, isLate: isLate, name)
      case .cancelledLoad:
        // Whether the value stays depends on what the cancellation met.
        var write = step(.write(call.value), isOptional: true, end: .max)
        write.before = changes(since: call, name)
        return call.loadStart == nil ? [] : [write]
      case .staleLoad:
        // What waits to be written may come over what other processes store meanwhile.
        let isLate = !isAlone && isBehind(call.process)
        return staleSteps(call, step, sees: isLate ? nil : lag, name)
      case .read, .file, .whole:
        guard lag != nil else { return [] }
        return readSteps(call, name, step)
      case .extend:
        if call.result == .number(0), isAlone, processes.count == 1, !mayLoseAll(name) {
          return [step(.sawNone)]
        }
        return call.result == .number(1) ? [step(.sawSome)] : []
      case .contains:
        if call.result == .missed { return mayLoseAll(name) ? [] : [step(.sawNone)] }
        return call.result == .number(1) ? [step(.sawSome)] : []
      case .entries, .count:
        guard isAlone, processes.count == 1, scene.failures.isEmpty,
          let isListed = isListed(name, call), !isBeingChanged(name, after: call)
        else { return [] }
        return [step(isListed ? .sawSome : .sawNone)]
      default: return removalSteps(call, name, isAlone: isAlone, step)
      }
    }

    /// Whether a list or a count of entries has a name; nil if it does not tell.
    private func isListed(_ name: Character, _ call: Call) -> Bool? {
      switch call.result {
      case .listed(let files):
        let ext = call.cache.flatMap { scene.caches[$0].options[.ext] }
        return files.contains(SceneValue.fileName(name, ext: ext))
      case .number(let count):
        let isOnly = scene.names.count == 1 && Set(scene.caches.map { $0.options[.ext] }).count == 1
        return isOnly ? count > 0 : nil
      default: return nil
      }
    }

    typealias MakeStep = (Linearization.Effect, Bool, Int?) -> Linearization.Step

    private func mayLose(_ name: Character) -> Bool { Allowance(scene).mayLose(name) }
    func mayLoseAll(_ name: Character) -> Bool { Allowance(scene).mayLoseAll(name) }

    private func storeSteps(
      _ call: Call, _ name: Character, isAlone: Bool, _ step: MakeStep
    ) -> [Linearization.Step] {
      let write = Linearization.Effect.write(call.value)
      switch call.result {
      case .stored: return [step(write, false, nil)]
      // Other processes see it when it is written, or never if a newer one is written instead.
      case .pending: return isAlone ? [step(write, false, nil)] : [step(write, true, .max)]
      // If a limit has removed the older value, there is no event for other processes.
      case .rejected: return [step(.delete, !isAlone && mayLose(name), nil)]
      case .failed("readOnly", _), .failed("closed", _): return []
      case .failed(_, let remains):
        // It takes its own file back, and then removes what it was to replace, or what was stored
        // since.
        return [step(write, true, nil), step(.delete, remains, nil), step(.delete, true, nil)]
      default: return [step(write, true, .max), step(.delete, true, .max)]
      }
    }

    private func absentSteps(_ call: Call, _ step: MakeStep) -> [Linearization.Step] {
      switch call.result {
      case .stored, .pending: [step(.writeAbsent(call.value), false, nil)]
      case .rejected("alreadyPresent"): [step(.sawSome, false, nil)]
      case .rejected: []
      case .failed("readOnly", _), .failed("closed", _): []
      // A value that has its name and whose sync fails is taken back.
      default: [step(.writeAbsent(call.value), true, nil), step(.withdraw(call.value), true, nil)]
      }
    }

    private func readSteps(
      _ call: Call, _ name: Character, _ step: MakeStep
    ) -> [Linearization.Step] {
      switch call.result {
      case .found(let value):
        isOverwritten(by: value, during: call) ? [] : [step(.read(value), false, nil)]
      case .missed:
        mayLoseAll(name) || isMoved(name, during: call) ? [] : [step(.sawNone, false, nil)]
      default: []
      }
    }

    /// Returns the steps of a stamp by hand, which makes whatever the file holds a valid value.
    private func stampSteps(
      _ call: Call, _ name: Character, _ step: MakeStep
    ) -> [Linearization.Step] {
      let ext = call.cache.flatMap { scene.caches[$0].options[.ext] }
      let isRenamed = history.calls.contains { $0.operation.otherName == name }
      let values = history.calls.filter { other in
        (concerns(other, name, ext) || isRenamed) && other.value != 0 && other.start < call.end
      }
      return values.map { step(.write($0.value), true, nil) }
    }

    /// Returns the steps by which a value may stay valid that an outsider has moved or made: one
    /// without a proof that was moved to another name, or written into a file that is then stamped,
    /// one that no status of the file shows, and one that is moved back to the name that it was
    /// moved from.
    private func unprovedSteps(
      _ call: Call, _ name: Character, _ step: MakeStep
    ) -> [Linearization.Step] {
      let made = history.calls.filter { $0.operation.name == call.operation.name }
      // Where the clock of changes is coarse, a write in the tick of the last change that is known
      // leaves the same status once a touch has set another expiry.
      let stamps: Set<Scene.Verb> = [.touch, .extend, .stamp, .renew]
      let isUnseen = scene.isCoarse && made.contains { stamps.contains($0.operation.verb) }
      let verbs: [Scene.Verb]
      switch call.operation.verb {
      case .moveOut where call.operation.otherName == name: verbs = [.plant, .overwrite]
      // A file that was written by hand is valid for an hour where the clock is an hour late.
      case .overwrite where isUnseen || scene.stepsBack || isStamped(name, during: call):
        verbs = [.overwrite]
      default: return []
      }
      let isUnproved = isUnseen || made.contains { $0.operation.verb == .plant }
      let own = history.calls.filter { $0.operation.name == name && $0.value != 0 }
      let isBack = history.calls.contains { other in
        other.operation.name == name && other.operation.otherName == call.operation.name
          && other.start < call.end
      }
      let values =
        (isUnproved ? made.filter { verbs.contains($0.operation.verb) } : []) + (isBack ? own : [])
      return values.filter { $0.start < call.end }.map { step(.write($0.value), true, .max) }
    }

    /// Returns the steps of a file that is moved back to a name.
    ///
    /// Its value is there again if it was made for the name. Otherwise another name's file was
    /// moved to this name before, and it proves another key: nothing is there, unless it has no
    /// proof.
    private func moveInSteps(
      _ call: Call, _ name: Character, _ step: MakeStep
    ) -> [Linearization.Step] {
      let isOptional = processes.contains(where: isBehind)
      guard case .found(let value) = call.result else {
        return call.result == .missed ? [] : [step(.delete, true, nil)]
      }
      let maker = history.calls.first { $0.value == value }?.operation.name
      if maker == name { return [step(.write(value), isOptional, nil)] }
      let isUnproved = history.calls.contains {
        $0.operation.verb == .plant && $0.operation.name == maker
      }
      return [step(.delete, isOptional, nil)]
        + (isUnproved ? [step(.write(value), true, .max)] : [])
    }

    /// Returns the steps by which an outsider's touch makes values valid again for calls that began
    /// before it: they read the clock before they look at the file, and it sets a later expiry.
    private func revivedSteps(
      _ call: Call, _ name: Character, _ step: MakeStep
    ) -> [Linearization.Step] {
      guard call.operation.verb == .touch, call.result != .removed(false) else { return [] }
      let calls = history.calls.filter { $0.operation.name == name && $0.start < call.end }
      return calls.filter { call.start < $0.end }.flatMap { other -> [Linearization.Step] in
        switch (other.operation.verb, other.result) {
        case (.take, .found(let value)), (.read, .found(let value)), (.whole, .found(let value)),
          (.file, .found(let value)):
          return [step(.write(value), true, nil)]
        case (.extend, .number(1)):
          return calls.filter { $0.value != 0 }.map { step(.write($0.value), true, nil) }
        default: return []
        }
      }
    }

    private func takeSteps(
      _ call: Call, _ name: Character, isAlone: Bool, _ step: MakeStep
    ) -> [Linearization.Step] {
      let isOnly = isAlone && processes.count == 1
      switch call.result {
      case .found(let value) where isOverwritten(by: value, during: call):
        return [step(.delete, false, nil)]
      case .found(let value):
        if isOnly { return [step(.take(value), false, nil)] }
        // It may be the value in memory of a file that another process has removed, for which an
        // exclusive cache does not look.
        let cache = call.cache.map { scene.caches[$0] }
        if cache?.isDisk == false, cache?.coherence != .strict || cache?.mode == .exclusive {
          return [step(.delete, false, nil)]
        }
        // A value that waits to be written is not visible to other processes.
        if isBehind(call.process) { return [step(.delete, true, nil)] }
        return [step(.read(value), false, nil), step(.delete, false, nil)]
      // A value that cannot be read is removed all the same.
      case .missed where isOnly && scene.failures.isEmpty:
        return [step(.remove(false), false, nil)]
      default: return [step(.delete, true, nil)]
      }
    }

    private func removalSteps(
      _ call: Call, _ name: Character, isAlone: Bool, _ step: MakeStep
    ) -> [Linearization.Step] {
      switch (call.operation.verb, call.result) {
      case (.take, .failed("readOnly", _)), (.take, .failed("closed", _)): return []
      case (.take, _): return takeSteps(call, name, isAlone: isAlone, step)
      case (.remove, .removed(let wasThere)):
        if isAlone && processes.count == 1 { return [step(.remove(wasThere), false, nil)] }
        // If it was gone already, or waited to be written, there is no event.
        let isSilent = !wasThere || isBehind(call.process)
        return [step(.delete, isSilent && mayLose(name), nil)]
      // These may have removed some of the entries before the cache was closed.
      case (.select, .failed("closed", _)), (.variants, .failed("closed", _)):
        return [step(.delete, true, nil)]
      case (_, .failed("readOnly", _)), (_, .failed("closed", _)): return []
      case (.moveOut, .removed(false)) where call.operation.name != name: return []
      case (.remove, _): return [step(.delete, true, nil)]
      case (.removeAll, .done), (.background, .done), (.removeAll, .failed), (.background, .failed):
        let isWaited = call.operation.verb == .removeAll || call.operation.number ?? 0 > 0
        if isAlone && processes.count == 1 {
          // One that has waited for the end, and failed for no file, has removed everything.
          let isWhole = isWaited && call.result == .done
          return [step(.delete, !scene.failures.isEmpty && !isWhole, nil)]
        }
        // Values that are used or stored meanwhile may stay. The removal hides an older file when
        // it begins. When its walk meets the name, it removes what another process stored since.
        let removal = step(.delete, true, isWaited ? nil : .max)
        return [removal, removal]
      case (.select, .number), (.variants, .number):
        // A file that is stamped after it was listed is another by its change time, and stays. What
        // a limit has evicted from the disk may be in memory still, and is not listed.
        let isChosen = call.operation.verb == .select
        let isUnlisted = isChosen && (isStamped(name, during: call) || mayLoseAll(name))
        let mayStay = !isAlone || processes.count > 1 || isUnlisted
        return [step(.delete, !scene.failures.isEmpty || mayStay, nil)]
      case (.select, _), (.variants, _): return [step(.delete, true, nil)]
      case (.removeAll, .none), (.background, .none): return [step(.delete, true, .max)]
      case (.unlink, let result), (.touch, let result), (.moveOut, let result),
        (.overwrite, let result), (.damage, let result):
        // As with a removal: of a name without a file there is no event. A touch makes every value
        // of its name one that may be lost, so it needs another reason here.
        let isTouch = [.touch, .overwrite, .damage].contains(call.operation.verb)
        let mayBeGone = isTouch ? Allowance(scene).everything : mayLose(name)
        let isSilent = result == .removed(false) && mayBeGone
        let isOverwritten = isTouch && isStamped(name, during: call)
        // A file that expires now is valid for an hour where the clock is an hour late.
        let isLate = isTouch && scene.stepsBack
        let isOptional = isSilent || isOverwritten || isLate || processes.contains(where: isBehind)
        return revivedSteps(call, name, step) + [step(.delete, isOptional, nil)]
          + unprovedSteps(call, name, step)
      case (.replace, _): return [step(.delete, true, nil)]
      default: return []
      }
    }

    /// Returns whether a look found the file of a store, or missed that of a removal, that had not
    /// returned. A cache that has the directory for itself may not tell of it yet.
    private func isEarly(_ look: Call) -> Bool {
      history.calls.contains { call in
        if case .found(let value) = look.result {
          return call.value == value && call.end > look.end
        }
        let isRemoval =
          call.operation.verb.removesName && call.operation.name == look.operation.name
        return isRemoval && call.start < look.end && call.end > look.end
      }
    }

    /// Returns whether a store or removal of a name had not returned at the end of a list or count.
    /// A read shows what the disk has already, and the index may not have it yet.
    private func isBeingChanged(_ name: Character, after look: Call) -> Bool {
      history.calls.contains { change in
        let verb = change.operation.verb
        let isOfName = (verb.removesName || verb.bringsValue) && change.operation.name == name
        return (isOfName || verb == .select) && change.start < look.end && change.end > look.end
      }
    }

    /// Returns whether a file may be under another name during a call: a `storeIfAbsent` that takes
    /// its file back moves what has the name aside, and what is another's back again.
    private func isMoved(_ name: Character, during call: Call) -> Bool {
      history.calls.contains { other in
        guard other.operation.verb == .absent, other.operation.name == name else { return false }
        // Or an expired one, which is not to be replaced in the meantime.
        let isBehindExpired = other.result == .rejected("alreadyPresent") && mayLose(name)
        if case .failed = other.result {} else if !isBehindExpired { return false }
        return other.start < call.end && call.start < other.end
      }
    }

    /// Returns whether a value was written into a file by an outsider while a call read the file.
    func isOverwritten(by value: Int, during call: Call) -> Bool {
      // A file that is open may get another name meanwhile.
      let names =
        history.calls.filter { other in
          other.operation.name == call.operation.name && other.isBeside(call)
        }.map(\.operation.otherName) + [call.operation.name]
      let calls = history.calls.filter { names.contains($0.operation.name) }
      return calls.contains { other in
        switch other.operation.verb {
        case .overwrite:
          return (other.value == value || value == SceneValue.torn) && other.isBeside(call)
        // A store, or a stamp, takes a file for its own by the look at it that comes last.
        case .damage:
          return value == SceneValue.torn && other.start < call.end
            && calls.contains { $0.start != other.start && $0.isBeside(other) }
        default: return false
        }
      }
    }

    /// Returns whether a use of a name may be stamped during a call. A touch that falls between the
    /// look at a file and its stamp is overwritten: no system call compares and sets times.
    private func isStamped(_ name: Character, during call: Call) -> Bool {
      history.calls.contains { use in
        if [.extend, .renew, .stamp].contains(use.operation.verb), use.operation.name == name {
          return use.start < call.end && call.start < use.end
        }
        guard let cache = use.cache.map({ scene.caches[$0] }), use.start < call.end,
          // Where deadlines come early, the time of the default passes as well.
          let granularity = cache.options[.granularity] ?? (scene.early > 0 ? 1 : nil),
          use.operation.name == name,
          use.operation.verb.isLoad
            || [.read, .whole, .file, .failingLoad].contains(use.operation.verb)
        else { return false }
        // Deadlines that come early make any time pass before the stamp.
        let isPending = scene.early > 0 || call.startTime - use.startTime < 2 * Self.lag
        return call.start < use.end || granularity > 0 && isPending
      }
    }

    /// Failures that nothing in the scene explains.
    private func unexpectedFailures() -> [String] {
      let mayFail = !scene.failures.isEmpty
      let closes = scene.threads.contains { $0.operations.contains { $0.verb == .reopen } }
      return history.calls.compactMap { call in
        guard case .failed(let code, _) = call.result else { return nil }
        if mayFail || code == "readOnly" || code == "LoadFailure" { return nil }
        if closes && (code == "closed" || code == "partly") { return nil }
        if call.operation.verb == .cancelledLoad { return nil }
        // Two loads that ask for each other's names, of which one ends the circle.
        if code == "loadCycle", scene.hasNestedLoads { return nil }
        // A limit, or another change, may take the file before it is lent.
        if call.operation.verb == .loadFile, code == "notCached" { return nil }
        if code == "directoryMissing", call.operation.verb != .store { return nil }
        return "failed without a reason: \(call.text)"
      }
    }
  }

  extension Call {
    var isOutside: Bool { process == -1 && cache == nil && thread != "before" }
    /// Whether there was a moment at which neither had returned.
    func isBeside(_ other: Call) -> Bool { start < other.end && other.start < end }

    /// Whether it is a look at a file instead of a call.
    var isLook: Bool { thread.hasSuffix("file") }

    var isWrite: Bool { operation.verb.bringsValue || mayChange && !operation.verb.isLoad }

    /// Whether it removes everything.
    var isClearing: Bool { operation.verb == .removeAll || operation.verb == .background }

    var isRead: Bool { operation.verb == .read || operation.verb == .whole }

    /// Whether it may change the value of a name.
    var mayChange: Bool {
      if isLook { return false }
      switch operation.verb {
      case .store, .absent, .stream, .shortStore, .load, .renew, .remove, .removeAll, .background:
        return true
      case .slowLoad, .unkeptLoad: return true
      case .staleLoad, .nestedLoad, .loadFile, .cancelledLoad, .select, .take, .variants, .stamp:
        return true
      case .inPieces, .storeFile: return true
      case .unlink, .touch, .replace, .plant, .moveOut, .moveIn, .overwrite, .damage: return true
      default: return false
      }
    }
  }

  extension Scene.Verb {
    /// Whether it is a load that may bring a value.
    var isLoad: Bool {
      [.load, .renew, .loadFile, .staleLoad, .nestedLoad, .slowLoad, .unkeptLoad].contains(self)
    }

    /// Whether it removes the value of a name, and of no other.
    var removesName: Bool { self == .remove || self == .take || self == .variants }

    /// Whether it concerns every name.
    var clearsAll: Bool { self == .removeAll || self == .background || self == .replace }
  }
#endif
