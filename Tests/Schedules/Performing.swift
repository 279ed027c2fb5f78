#if LARDER_SCHEDULES
  import Glibc
  import Synchronization

  @testable import Larder
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  extension SceneRun {
    /// Runs an operation and records its outcome.
    func perform(_ operation: Scene.Operation, thread: Int, value: Int) {
      guard let cache = scene.threads[thread].cache else {
        return performOutside(operation, thread: thread, value: value)
      }
      let process = scene.caches[cache].process
      guard let slot = slot(cache) else { return }
      let call = history.begin(
        operation, thread: "t\(thread)", process: process, cache: cache,
        value: operation.verb.bringsValue ? value : 0)
      let result: Call.Result
      do {
        result = try carryOut(operation, slot, cache, value, call)
      } catch let error as CacheError {
        result = .failed("\(error.code)", remains: error.oldValueRemains)
        if [.flush, .reopen].contains(operation.verb) { history.noteLoss(process) }
      } catch {
        result = .failed("\(error)", remains: false)
      }
      history.end(call, result)
      if operation.verb == .flush, result == .done {
        lookAtFiles(since: call, cache)
        judgeUses(since: call, cache)
      }
      if operation.verb == .store, result == .stored { judgeRoom(since: call, cache) }
    }

    private func carryOut(
      _ operation: Scene.Operation, _ slot: Slot, _ cache: Int, _ value: Int, _ call: Int
    ) throws -> Call.Result {
      switch operation.verb {
      case .store, .shortStore, .absent, .stream, .storeFile:
        return try store(operation, slot, value)
      case .inPieces: return try storeInPieces(operation, slot, value)
      case .load, .failingLoad, .renew, .loadFile, .cancelledLoad, .staleLoad, .nestedLoad,
        .slowLoad, .unkeptLoad:
        guard case .memory(let cache) = slot else { return try read(operation, slot) }
        let before = cache.statistics.loads
        defer {
          let after = cache.statistics.loads
          history.noteTurns(
            of: call, hasWaited: after.awaited > before.awaited,
            isAlone: after.unshared > before.unshared)
        }
        if operation.verb == .loadFile { return try loadFile(operation, cache, value, call) }
        return try load(operation, cache, other(than: cache, call), value, call)
      case .read, .file, .whole, .contains:
        return try read(operation, slot)
      case .remove: return .removed(try slot.disk.remove(forKey: key(operation)))
      case .take: return try take(operation, slot)
      default: return try keep(operation, slot, cache)
      }
    }

    private func key(_ operation: Scene.Operation) -> String {
      SceneValue.key(operation.name ?? "a")
    }

    private func store(
      _ operation: Scene.Operation, _ slot: Slot, _ value: Int
    ) throws -> Call.Result {
      let bytes = SceneValue.bytes(value, count: operation.number ?? 100)
      let key = key(operation)
      let outcome: StoreOutcome
      switch (operation.verb, slot) {
      case (.absent, _): outcome = try slot.disk.storeIfAbsent(bytes, forKey: key)
      case (.stream, _):
        outcome = try slot.disk.store(forKey: key) { writer in
          try writer.write(Array(bytes[..<8]))
          try writer.write(Array(bytes[8...]))
        }
      case (.storeFile, _):
        let source = nextAside() + ".link"
        RawFiles.write(bytes, source)
        outcome = try slot.disk.store(contentsOfFile: source, forKey: key)
      case (let verb, .memory(let cache)):
        outcome = try cache.store(
          bytes, forKey: key, expiration: verb == .shortStore ? .seconds(1) : nil)
      case (let verb, .disk(let disk)):
        outcome = try disk.store(
          bytes, forKey: key, expiration: verb == .shortStore ? .seconds(1) : nil)
      }
      return Self.result(of: outcome)
    }

    /// Stores what an earlier process had left, for another round, where it is gone.
    func storeAgain(_ round: Int) {
      guard let slot = slot(0), !scene.caches[0].mode.isReadOnly else { return }
      for (index, name) in scene.initial.enumerated() {
        let file = "\(path)/\(SceneValue.fileName(name, ext: scene.caches[0].options[.ext]))"
        if RawFiles.byteCount(file) != nil { continue }
        let value = 9_001 + index + round * 10_000
        let operation = Scene.Operation(verb: .store, name: name, number: 100)
        let call = history.begin(
          operation, thread: "again", process: scene.caches[0].process, cache: 0, value: value)
        attempt("storing again") {
          history.end(call, try store(operation, slot, value))
        }
      }
    }

    private static func result(of outcome: StoreOutcome) -> Call.Result {
      switch outcome {
      case .stored: .stored
      case .pending: .pending
      case .rejected(.alreadyPresent): .rejected("alreadyPresent")
      case .rejected(let reason): .rejected("\(reason)")
      }
    }

    private static func result(of removal: BulkRemoval) -> Call.Result {
      removal.failed == 0 ? .number(removal.removed) : .failed("partly", remains: false)
    }

    private static func done(_ removal: BulkRemoval) -> Call.Result {
      removal.failed == 0 ? .done : .failed("partly", remains: false)
    }

    /// Stores a value that a task writes in pieces.
    private func storeInPieces(
      _ operation: Scene.Operation, _ slot: Slot, _ value: Int
    ) throws -> Call.Result {
      let bytes = SceneValue.bytes(value, count: operation.number ?? 100)
      let (disk, key) = (slot.disk, key(operation))
      let promise = Promise<StoreOutcome>()
      Task {
        do {
          let outcome = try await disk.store(forKey: key) { writer in
            try await writer.write(Array(bytes[..<8]))
            Scheduler.point(.look)
            try await writer.write(Array(bytes[8...]))
          }
          promise.fulfil(.success(outcome))
        } catch {
          promise.fulfil(.failure(error))
        }
      }
      return Self.result(of: try promise.wait().get())
    }

    private func take(_ operation: Scene.Operation, _ slot: Slot) throws -> Call.Result {
      switch slot {
      case .memory(let cache):
        found(try cache.removeValue(forKey: key(operation)), operation)
      case .disk(let disk): found(try disk.removeValue(forKey: key(operation)), operation)
      }
    }

    private func read(_ operation: Scene.Operation, _ slot: Slot) throws -> Call.Result {
      let key = key(operation)
      switch (operation.verb, slot) {
      case (.contains, _): return try slot.disk.contains(key) ? .number(1) : .missed
      case (.whole, _): return found(try slot.disk.read(forKey: key)?.value, operation)
      case (.file, _):
        let bytes = try slot.disk.withFile(forKey: key) { file in
          var bytes = [UInt8](repeating: 0, count: file.byteCount)
          let count = try file.read(into: &bytes)
          return Array(bytes[..<count])
        }
        return found(bytes, operation)
      case (_, .memory(let cache)): return found(try cache.value(forKey: key), operation)
      case (_, .disk(let disk)): return found(try disk.value(forKey: key), operation)
      }
    }

    private func found(_ bytes: [UInt8]?, _ operation: Scene.Operation) -> Call.Result {
      guard let bytes else { return .missed }
      if let value = SceneValue.value(of: bytes) { return .found(value) }
      if scene.overwrites { return .found(SceneValue.torn) }
      history.report("\(operation.text) found what nobody has stored: \(bytes.count) bytes")
      return .missed
    }

    /// Reads a value with a load, in a task that this thread waits for.
    ///
    /// One that renews loads in any case, and answers that a previous value is still good. A nested
    /// one asks another cache for another name first, which no other kind of load waits for.
    private func load(
      _ operation: Scene.Operation, _ cache: Cache<[UInt8]>, _ other: Cache<[UInt8]>,
      _ value: Int, _ call: Int
    ) throws -> Call.Result {
      let key = key(operation)
      let bytes = SceneValue.bytes(value, count: operation.number ?? 100)
      let verb = operation.verb
      let promise = Promise<[UInt8]>()
      let task = Task { [history] in
        do {
          var options: LoadOptions = verb == .renew ? .reload : LoadOptions()
          options.failureLifetime = .seconds(1)
          if verb == .staleLoad { options.staleWhileRevalidating = .seconds(60) }
          let before = cache.statistics.loads.unshared
          let load: @Sendable () throws -> [UInt8] = {
            history.noteLoad(of: call, isAlone: cache.statistics.loads.unshared > before)
            defer { history.noteLoadEnd(of: call) }
            Scheduler.point(.look)
            if verb == .slowLoad { Scheduler.sleep(milliseconds: 400) }
            if verb == .failingLoad { throw LoadFailure() }
            if verb == .cancelledLoad, !Self.isCancelledSoon() { history.noteOutliving(call) }
            return bytes
          }
          if verb == .nestedLoad {
            let found = try await cache.value(forKey: key, options: options) {
              _ = try? await other.value(forKey: SceneValue.key(operation.name == "a" ? "b" : "a"))
              {
                throw LoadFailure()
              }
              return try load()
            }
            return promise.fulfil(.success(found))
          }
          if verb == .unkeptLoad {
            let found = try await cache.value(forKey: key, options: options) { _ in
              .notKept(try load())
            }
            return promise.fulfil(.success(found))
          }
          guard verb == .renew else {
            let found = try await cache.value(forKey: key, options: options, orStore: load)
            return promise.fulfil(.success(found))
          }
          let found = try await cache.value(forKey: key, options: options) { previous in
            previous == nil ? .value(try load()) : .notModified()
          }
          promise.fulfil(.success(found))
        } catch {
          promise.fulfil(.failure(error))
        }
      }
      if verb == .cancelledLoad {
        // The load may be anywhere by then.
        Scheduler.point(.look)
        Scheduler.cancel(task)
      }
      return found(try promise.wait().get(), operation)
    }

    /// Returns another cache with memory of the same process, or the same cache if there is none.
    private func other(than cache: Cache<[UInt8]>, _ call: Int) -> Cache<[UInt8]> {
      let process = history.call(call).process
      for index in scene.caches.indices where scene.caches[index].process == process {
        if case .memory(let other)? = slot(index), other !== cache { return other }
      }
      return cache
    }

    /// Waits until the task is cancelled. Returns whether it was, after some time.
    private static func isCancelledSoon() -> Bool {
      for _ in 0..<50 where !Task.isCancelled { Scheduler.sleep(milliseconds: 1) }
      return Task.isCancelled
    }

    /// Reads a value by its file, which a load writes in pieces if there is none.
    private func loadFile(
      _ operation: Scene.Operation, _ cache: Cache<[UInt8]>, _ value: Int, _ call: Int
    ) throws -> Call.Result {
      let key = key(operation)
      let bytes = SceneValue.bytes(value, count: operation.number ?? 100)
      let promise = Promise<[UInt8]>()
      let before = cache.statistics.loads.unshared
      Task { [history] in
        do {
          let found = try await cache.withFile(forKey: key) { file in
            var bytes = [UInt8](repeating: 0, count: file.byteCount)
            let count = try file.read(into: &bytes)
            return Array(bytes[..<count])
          } orStore: { writer in
            history.noteLoad(
              of: call, isAgain: true, isAlone: cache.statistics.loads.unshared > before)
            defer { history.noteLoadEnd(of: call) }
            Scheduler.point(.look)
            try await writer.write(Array(bytes[..<8]))
            try await writer.write(Array(bytes[8...]))
          }
          promise.fulfil(.success(found))
        } catch {
          promise.fulfil(.failure(error))
        }
      }
      return found(try promise.wait().get(), operation)
    }

    private func keep(
      _ operation: Scene.Operation, _ slot: Slot, _ cache: Int
    ) throws -> Call.Result {
      let number = operation.number ?? 0
      switch operation.verb {
      case .removeAll: return Self.done(try slot.disk.removeAll())
      case .background:
        let progress = try slot.disk.removeAllInBackground()
        if number > 0 { return Self.done(try progress.wait()) }
      case .trimCount: try slot.trim(toCount: number)
      case .trimSize: try slot.trim(toCost: number)
      case .trimAge: try slot.trim(toAge: .milliseconds(number))
      case .expire:
        if case .memory(let cache) = slot { _ = try cache.removeExpired() }
        if case .disk(let disk) = slot { _ = try disk.removeExpired() }
      case .flush: try slot.disk.flush()
      case .count: return .number(try slot.disk.count())
      case .total: return .number(try slot.disk.totalSize())
      case .entries: return .listed(Set(try slot.disk.entries(byUse: true).map(\.name)))
      case .extend:
        let key = SceneValue.key(operation.name ?? "a")
        return .number(try slot.disk.touch(forKey: key, expiration: .days(30)) ? 1 : 0)
      case .stamp:
        let ext = scene.caches[cache].options[.ext]
        let outcome = try slot.disk.stamp(SceneValue.fileName(operation.name ?? "a", ext: ext))
        return .number(outcome == .absent ? 0 : 1)
      case .select: return Self.result(of: try slot.disk.removeAll(where: { _ in true }))
      case .variants: return Self.result(of: try slot.disk.removeVariants(of: key(operation)))
      case .verify: _ = try slot.disk.verify(repairs: true)
      case .pressure: if case .memory(let cache) = slot { cache.respond(to: .empty) }
      case .forget: if case .memory(let cache) = slot { forget(number, cache.memory) }
      case .limit: if case .memory(let cache) = slot { setLimit(number, cache.memory) }
      case .rescan: slot.disk.engine.startScan()
      case .reopen: try reopen(slot, cache)
      case .pause where number == 0: Scheduler.sleepUntilDeadline()
      case .pause: Scheduler.sleep(milliseconds: number)
      default: break
      }
      return .done
    }

    /// Removes values from the memory tier alone: all of them, in the way that a number chooses.
    private func forget(_ number: Int, _ memory: MemoryCache<CacheKey, [UInt8]>) {
      switch number {
      case 1: memory.trim(toCount: 0)
      case 2: memory.trim(toCost: 0)
      case 3: memory.trim(toAge: .zero)
      case 4: memory.removeExpired()
      case 5: for name in scene.names { memory.remove(forKey: CacheKey(SceneValue.key(name))) }
      default: memory.removeAll()
      }
    }

    /// Sets one limit of the memory tier while it is in use, or takes all limits back.
    private func setLimit(_ number: Int, _ memory: MemoryCache<CacheKey, [UInt8]>) {
      switch number {
      case 0: memory.costLimit = 0
      case 1: memory.countLimit = 1
      case 2: memory.ageLimit = .milliseconds(5)
      default: (memory.costLimit, memory.countLimit, memory.ageLimit) = (nil, nil, nil)
      }
    }

    private func reopen(_ slot: Slot, _ cache: Int) throws {
      switch slot {
      case .memory(let cache): try cache.close()
      case .disk(let disk): try disk.close()
      }
      open(cache)
    }

    /// Checks after a flush that values accepted before it are on the disk.
    private func lookAtFiles(since flush: Int, _ cache: Int) {
      for name in scene.names {
        let path = "\(path)/\(SceneValue.fileName(name, ext: scene.caches[cache].options[.ext]))"
        let bytes = RawFiles.bytes(path)
        let value = bytes.flatMap(SceneValue.value)
        history.look(
          since: flush, Scene.Operation(verb: .read, name: name),
          value.map { .found($0) } ?? .missed)
      }
    }

    private func performOutside(_ operation: Scene.Operation, thread: Int, value: Int) {
      let call = history.begin(
        operation, thread: "t\(thread)", process: -1, cache: nil,
        value: operation.verb.bringsValue ? value : 0)
      Scheduler.point(.look)
      let file = "\(path)/\(SceneValue.fileName(operation.name ?? "a", ext: nil))"
      let number = operation.number ?? 0
      var result = Call.Result.done
      switch operation.verb {
      case .unlink: result = .removed(unlink(file) == 0)
      case .touch:
        let now = ScheduledFiles.wallTime
        result = .removed(RawFiles.setTimes(file, access: now, modification: now))
      case .plant:
        let expiry = ScheduledFiles.wallTime.adding(seconds: 86_400)
        RawFiles.plant(SceneValue.bytes(value, count: number), file, until: expiry)
      case .use: RawFiles.setTimes(file, access: ScheduledFiles.wallTime, modification: nil)
      case .replace:
        rename(path, nextAside())
        Scheduler.noteKernelChange()
        Scheduler.point(.look)
        mkdir(path, 0o700)
      case .removeTag: unlink("\(path)/CACHEDIR.TAG")
      case .moveOut, .moveIn, .overwrite, .damage: result = changeFile(operation, value)
      case .own:
        RawFiles.noteChange(file)
      case .link:
        link(file, nextAside() + ".link")
        RawFiles.noteChange(file)
        Scheduler.noteKernelChange()
      case .stepBack: stepBack(number)
      case .overflow: ScheduledFiles.overflow(processNumber(number))
      case .kill: kill(number)
      case .stop:
        Scheduler.setStopped(true, process: processNumber(number))
        Scheduler.sleep(milliseconds: 30)
        Scheduler.setStopped(false, process: processNumber(number))
      case .pause: Scheduler.sleep(milliseconds: number)
      default: break
      }
      Scheduler.noteKernelChange()
      history.end(call, result)
    }
  }

  // An outsider's changes of a file that its name or its inode survives.
  extension SceneRun {
    private func changeFile(_ operation: Scene.Operation, _ value: Int) -> Call.Result {
      let name = operation.name ?? "a"
      let file = "\(path)/\(SceneValue.fileName(name, ext: nil))"
      switch operation.verb {
      case .moveOut:
        let other = operation.otherName.map { SceneValue.fileName($0, ext: nil) }
        return .removed(RawFiles.move(file, to: other.map { "\(path)/\($0)" } ?? movedPath(name)))
      case .moveIn:
        let value = RawFiles.bytes(movedPath(name)).flatMap(SceneValue.value)
        guard RawFiles.move(movedPath(name), to: file) else { return .missed }
        return value.map { .found($0) } ?? .done
      case .damage: return .removed(RawFiles.damage(file))
      default:
        return .removed(
          RawFiles.overwrite(file, SceneValue.bytes(value, count: operation.number ?? 100)))
      }
    }
  }

  extension Scene.Operation {
    /// The other name that a file gets; nil if it is moved out of the directory.
    var otherName: Character? {
      guard verb == .moveOut, number != nil else { return nil }
      return name == "b" ? "a" : "b"
    }
  }

  /// The error of a load that is meant to fail.
  private struct LoadFailure: Error, CustomStringConvertible {
    var description: String { "LoadFailure" }
  }

  extension Scene.Verb {
    /// Whether the operation has a value of its own.
    var bringsValue: Bool {
      switch self {
      case .store, .absent, .stream, .shortStore, .load, .renew, .plant, .loadFile,
        .cancelledLoad, .inPieces, .storeFile, .overwrite, .staleLoad, .nestedLoad, .slowLoad,
        .unkeptLoad:
        true
      default: false
      }
    }
  }

  extension Scene {
    /// Whether an operation replaces the cache's directory.
    var replacesDirectory: Bool {
      threads.contains { $0.operations.contains { $0.verb == .replace } }
    }

    /// Whether an outsider writes into a file.
    var overwrites: Bool {
      threads.contains { $0.operations.contains { [.overwrite, .damage].contains($0.verb) } }
    }

    /// Whether an operation sets a clock back.
    var stepsBack: Bool {
      threads.contains { $0.operations.contains { $0.verb == .stepBack } }
    }

    /// The names that occur in the scene.
    var names: [Character] {
      Set(threads.flatMap(\.operations).compactMap(\.name)).union(initial).sorted()
    }
  }

  /// A value that one thread waits for and a task provides.
  final class Promise<Value: Sendable>: Sendable {
    private let result = Synchronization.Mutex<Result<Value, any Error>?>(nil)

    func fulfil(_ result: Result<Value, any Error>) {
      self.result.withLock { $0 = result }
      Scheduler.wake(ObjectIdentifier(self))
    }

    func wait() -> Result<Value, any Error> {
      while true {
        if let result = result.withLock({ $0 }) { return result }
        Scheduler.wait(for: ObjectIdentifier(self), "a load", until: nil)
      }
    }
  }
#endif
