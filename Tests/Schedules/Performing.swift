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
      case .store, .shortStore, .absent, .stream:
        return try store(operation, slot, value)
      case .load, .failingLoad, .renew, .loadFile, .cancelledLoad:
        guard case .memory(let cache) = slot else { return try read(operation, slot) }
        if operation.verb == .loadFile { return try loadFile(operation, cache, value, call) }
        return try load(operation, cache, value, call)
      case .read, .file, .whole, .contains:
        return try read(operation, slot)
      case .remove: return .removed(try slot.disk.remove(forKey: key(operation)))
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
      case (let verb, .memory(let cache)):
        outcome = try cache.store(
          bytes, forKey: key, expiration: verb == .shortStore ? .seconds(1) : nil)
      case (let verb, .disk(let disk)):
        outcome = try disk.store(
          bytes, forKey: key, expiration: verb == .shortStore ? .seconds(1) : nil)
      }
      switch outcome {
      case .stored: return .stored
      case .pending: return .pending
      case .rejected(.alreadyPresent): return .rejected("alreadyPresent")
      case .rejected(let reason): return .rejected("\(reason)")
      }
    }

    private func read(_ operation: Scene.Operation, _ slot: Slot) throws -> Call.Result {
      let key = key(operation)
      switch (operation.verb, slot) {
      case (.contains, _): return try slot.disk.contains(key) ? .number(1) : .missed
      case (.whole, _): return found(try slot.disk.read(forKey: key)?.bytes, operation)
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
      history.report("\(operation.text) found what nobody has stored: \(bytes.count) bytes")
      return .missed
    }

    /// Reads a value with a load, in a task that this thread waits for.
    ///
    /// One that renews loads in any case, and answers that a previous value is still good.
    private func load(
      _ operation: Scene.Operation, _ cache: Cache<[UInt8]>, _ value: Int, _ call: Int
    ) throws -> Call.Result {
      let key = key(operation)
      let bytes = SceneValue.bytes(value, count: operation.number ?? 100)
      let verb = operation.verb
      let promise = Promise<[UInt8]>()
      let task = Task { [history] in
        do {
          var options: LoadOptions = verb == .renew ? .reload : LoadOptions()
          options.failureLifetime = .seconds(1)
          let load: @Sendable () throws -> [UInt8] = {
            history.noteLoad(of: call)
            Scheduler.point(.look)
            if verb == .failingLoad { throw LoadFailure() }
            return bytes
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
      if verb == .cancelledLoad { task.cancel() }
      return found(try promise.wait().get(), operation)
    }

    /// Reads a value by its file, which a load writes in pieces if there is none.
    private func loadFile(
      _ operation: Scene.Operation, _ cache: Cache<[UInt8]>, _ value: Int, _ call: Int
    ) throws -> Call.Result {
      let key = key(operation)
      let bytes = SceneValue.bytes(value, count: operation.number ?? 100)
      let promise = Promise<[UInt8]>()
      Task { [history] in
        do {
          let found = try await cache.withFile(forKey: key) { file in
            var bytes = [UInt8](repeating: 0, count: file.byteCount)
            let count = try file.read(into: &bytes)
            return Array(bytes[..<count])
          } orStore: { writer in
            history.noteLoad(of: call, isAgain: true)
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
      case .removeAll: _ = try slot.disk.removeAll()
      case .background:
        let progress = try slot.disk.removeAllInBackground()
        if number > 0 { try progress.wait() }
      case .trimCount: _ = try slot.disk.trim(toCount: number)
      case .trimSize: _ = try slot.disk.trim(toCost: number)
      case .expire: _ = try slot.disk.removeExpired()
      case .flush: try slot.disk.flush()
      case .count: return .number(try slot.disk.count())
      case .total: return .number(try slot.disk.totalSize())
      case .entries: return .listed(Set(try slot.disk.entries().map(\.name)))
      case .extend:
        let key = SceneValue.key(operation.name ?? "a")
        return .number(try slot.disk.touch(forKey: key, expiration: .days(30)) ? 1 : 0)
      case .trimAge: _ = try slot.disk.trim(toAge: .milliseconds(number))
      case .select: _ = try slot.disk.removeAll { _ in true }
      case .verify: _ = try slot.disk.verify(repairs: true)
      case .pressure: if case .memory(let cache) = slot { cache.respond(to: .empty) }
      case .forget: if case .memory(let cache) = slot { cache.memory.removeAll() }
      case .rescan: slot.disk.engine.startRescan()
      case .reopen: try reopen(slot, cache)
      case .pause: Scheduler.sleep(milliseconds: number)
      default: break
      }
      return .done
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

  /// The error of a load that is meant to fail.
  private struct LoadFailure: Error, CustomStringConvertible {
    var description: String { "LoadFailure" }
  }

  extension Scene.Verb {
    /// Whether the operation has a value of its own.
    var bringsValue: Bool {
      switch self {
      case .store, .absent, .stream, .shortStore, .load, .renew, .plant, .loadFile,
        .cancelledLoad:
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
