#if LARDER_SCHEDULES
  import Glibc

  @testable import Larder
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  extension SceneRun {
    /// Waits until everything is at rest, and checks the state.
    func rest() {
      Scheduler.sleep(milliseconds: 300)
      // Before anything is flushed, because all that is begun has to end by itself.
      for cache in scene.caches.indices {
        judgeUses(since: nil, cache)
        judgeUnflushed(cache)
      }
      for cache in scene.caches.indices { flush(cache) }
      Scheduler.sleep(milliseconds: 3_000)
      for cache in scene.caches.indices { flush(cache) }
      // Also before the reads, because a read mends what the index has wrong. A scan, or a look for
      // the directory, would mend what memory has wrong, so only an index that is complete is
      // judged here.
      for cache in scene.caches.indices where !scene.replacesDirectory {
        inProcess(of: cache) {
          if slot(cache)?.disk.engine.withState({ $0.isScanned }) == true { judge(cache) }
        }
      }
      readAll("at rest")
      for cache in scene.caches.indices { inProcess(of: cache) { judge(cache) } }
      for cache in scene.caches.indices {
        inProcess(of: cache) {
          judgeMemory(cache)
          judgeExpiries(cache)
          judgeMemoryRemovals(cache)
          judgeRemovals(cache)
        }
      }
      for cache in scene.caches.indices {
        inProcess(of: cache) {
          if let disk = slot(cache)?.disk { judgeTurns(of: disk, cache) }
        }
      }
      judgeTag("at rest")
      judgeSweeps()
      for cache in scene.caches.indices { inProcess(of: cache) { close(cache) } }
      for cache in scene.caches.indices { inProcess(of: cache) { release(cache) } }
      Scheduler.sleep(milliseconds: 1_000)
      judgeTag("after the end")
      judgePlanted()
      readAfterwards()
      Scheduler.sleep(milliseconds: 10_000)
      judgeDescriptors()
    }

    /// Judges what a round has left, as far as that takes little time.
    func judgeRound() {
      guard isSweep else { return judgeIndexes() }
      Scheduler.sleep(milliseconds: 300)
      for cache in scene.caches.indices {
        judgeUses(since: nil, cache)
        judgeUnflushed(cache)
        flush(cache)
      }
      // Before the reads, which mend what the index has wrong.
      judgeIndexes()
      judgeFiles()
      readAll("between")
      for cache in scene.caches.indices {
        inProcess(of: cache) {
          judgeMemory(cache)
          judgeExpiries(cache)
        }
      }
    }

    /// Checks what has to be so before anything is flushed, because a flush and a count finish what
    /// was left.
    private func judgeUnflushed(_ cache: Int) {
      inProcess(of: cache) {
        guard let disk = slot(cache)?.disk, !isDisturbed else { return }
        judgeWork(of: disk, cache)
        let isPurging = disk.engine.withState { $0.evictions.purge != nil }
        if isPurging { history.report("cache \(cache) has a purge that nobody goes on with") }
        let isKnown = disk.engine.withState { $0.isScanned && !$0.catalog.scans.isOngoing }
        if isKnown, processCount == 1 || hearsAll(cache) {
          judgeLimits(disk, cache, entryFiles())
        }
      }
    }

    /// Checks that no temporary file is left, and that limits are kept.
    private func judgeFiles() {
      guard killed.isEmpty, !isDisturbed else { return }
      let left = RawFiles.names(in: path).filter { $0.hasPrefix(".larder-") }
      if !left.isEmpty { history.report("after a round there are \(left)") }
      let files = entryFiles()
      for cache in scene.caches.indices {
        guard processCount == 1 || hearsAll(cache) else { continue }
        if let disk = slot(cache)?.disk { judgeLimits(disk, cache, files) }
      }
    }

    /// Compares the index of each engine that is at rest with the directory.
    private func judgeIndexes() {
      let hasOutsider = scene.threads.contains { $0.cache == nil }
      guard !isDisturbed else { return }
      let isAlone = processCount == 1 && !hasOutsider
      let files = entryFiles()
      for cache in scene.caches.indices where isAlone || isSweep && hearsAll(cache) {
        inProcess(of: cache) {
          guard let disk = slot(cache)?.disk else { return }
          let known = disk.engine.withState { state -> [String: Int]? in
            let isBusy =
              !state.isScanned || !state.locks.isEmpty || state.clearing.isRunning
              || state.clearing.hidesFiles || state.catalog.scans.isOngoing
            if isBusy { return nil }
            return Dictionary(
              state.catalog.index.entriesInOrder().map { ("\($0.name)", Int($0.byteCount)) },
              uniquingKeysWith: { $1 })
          }
          // Listed again, because a thread of the library may have run in between.
          if let known, known != files, entryFiles() == files {
            history.report("between rounds, cache \(cache) knows \(known); there are \(files)")
          }
        }
      }
    }

    private var isDisturbed: Bool { !scene.failures.isEmpty }

    private func flush(_ cache: Int) {
      inProcess(of: cache) {
        guard let slot = slot(cache) else { return }
        do {
          try slot.disk.flush()
        } catch {
          history.noteLoss(scene.caches[cache].process)
          if !isDisturbed { history.report("at rest, flush of cache \(cache) fails: \(error)") }
        }
      }
    }

    func close(_ cache: Int) {
      guard let slot = slot(cache) else { return }
      attempt("closing") {
        switch slot {
        case .memory(let cache): try cache.close()
        case .disk(let disk): try disk.close()
        }
      }
    }

    /// Lets each cache read every name twice: from memory if it is there, and from its file.
    private func readAll(_ when: String) {
      for cache in scene.caches.indices {
        inProcess(of: cache) {
          guard let slot = slot(cache) else { return }
          for name in scene.names {
            read(name, .read, when, cache, slot)
            read(name, .whole, when, cache, slot)
          }
        }
      }
    }

    private func read(
      _ name: Character, _ verb: Scene.Verb, _ when: String, _ cache: Int, _ slot: Slot
    ) {
      let call = history.begin(
        Scene.Operation(verb: verb, name: name), thread: when,
        process: scene.caches[cache].process, cache: cache)
      attempt("reading at rest") {
        let bytes: [UInt8]?
        switch (verb, slot) {
        case (.read, .memory(let cache)): bytes = try cache.value(forKey: SceneValue.key(name))
        default: bytes = try slot.disk.value(forKey: SceneValue.key(name))
        }
        history.end(call, bytes.flatMap(SceneValue.value).map { .found($0) } ?? .missed)
      }
    }

    /// Compares the state of a cache's engine with the directory.
    private func judge(_ cache: Int) {
      let spec = scene.caches[cache]
      guard let slot = slot(cache), !spec.mode.isReadOnly else { return }
      attempt("counting at rest") {
        _ = try slot.disk.count()
        Scheduler.sleep(milliseconds: 3_000)
        try slot.disk.flush()
        let files = entryFiles()
        let total = files.values.reduce(0, +)
        guard isFollowing(cache), !isDisturbed else { return }
        let (count, size) = (try slot.disk.count(), try slot.disk.totalSize())
        if count != files.count || size != total {
          history.report(
            "cache \(cache) counts \(count) entries of \(size) bytes; "
              + "there are \(files.count) of \(total)"
          )
        }
        judgeLimits(slot.disk, cache, files)
        let listed = Set(try slot.disk.entries().map(\.name))
        if listed != Set(files.keys) {
          history.report(
            "cache \(cache) lists \(listed.sorted()); there are \(files.keys.sorted())")
        }
        judgeState(slot.disk, cache)
        judgeCounts(slot, cache, count)
      }
    }

    /// Whether a cache hears of everything that happens in its directory.
    private func isFollowing(_ cache: Int) -> Bool {
      let spec = scene.caches[cache]
      let hasOutsider = scene.threads.contains { $0.cache == nil }
      return spec.coherence != .none && spec.mode != .exclusive
        || processCount == 1 && !hasOutsider
    }

    /// Whether a cache hears at once of what other processes do.
    private func hearsAll(_ cache: Int) -> Bool {
      let spec = scene.caches[cache]
      let losing: Set<Scene.Verb> = [.overflow, .stop, .replace]
      return spec.coherence == .events && spec.mode == .shared && scene.early == 0
        && !scene.threads.contains { $0.operations.contains { losing.contains($0.verb) } }
    }

    private func judgeLimits(_ disk: DiskCache, _ cache: Int, _ files: [String: Int]) {
      let spec = scene.caches[cache]
      guard isFollowing(cache), !isDisturbed, !spec.mode.isReadOnly else { return }
      // A process that has stored nothing evicts for no limit. The last stored value is spared,
      // also one of a neighbour with a larger limit.
      guard disk.statistics.stores > 0, !mayKeepTouched(cache) else { return }
      let total = files.values.reduce(0, +)
      if let limit = spec.options[.size], total > limit, files.count > 1 {
        history.report("cache \(cache): \(total) bytes at rest; the limit is \(limit)")
      }
      if let limit = spec.options[.count], files.count > limit {
        history.report("cache \(cache): \(files.count) entries at rest; the limit is \(limit)")
      }
    }

    /// Whether a purge may have ended above a limit: it tries an entry twice, and others may have
    /// changed its file both times between the look and the unlink.
    private func mayKeepTouched(_ cache: Int) -> Bool {
      let changing: Set<Scene.Verb> = [.touch, .use, .own, .link, .overwrite, .extend, .stamp]
      let others = scene.threads.filter { thread in
        thread.cache.map { scene.caches[$0].process } != scene.caches[cache].process
      }
      let names = others.flatMap(\.operations).filter { changing.contains($0.verb) }.map(\.name)
      return Set(names).count < names.count
    }

    /// Checks that what was stored and not removed is there, and that no load is left in a table.
    private func judgeCounts(_ slot: Slot, _ cache: Int, _ count: Int) {
      if case .memory(let cache) = slot, cache.flights.waiterCount > 0 {
        history.report("at rest, \(cache.flights.waiterCount) callers wait for loads")
      }
      guard processCount == 1, scene.initial.isEmpty, !hasLooseCounts,
        !scene.threads.contains(where: { $0.cache == nil })
      else { return }
      let statistics = slot.disk.statistics
      let removed = statistics.removals.values.reduce(0, +)
      if statistics.stores - removed != count {
        history.report(
          "cache \(cache) counts \(statistics.stores) stores and \(statistics.removals); "
            + "\(count) entries are there")
      }
    }

    /// Whether the counters of a process need not add up: they begin anew with the first object on
    /// a directory, a value that waits to be written is removed without having been counted as a
    /// store, and the walk of a removal of everything does not see what a store replaces before it.
    var hasLooseCounts: Bool {
      reopens || scene.caches.contains { $0.options[.behind] != nil }
        || scene.threads.contains { $0.operations.contains { $0.verb.clearsAll } }
    }

    private var reopens: Bool {
      scene.threads.contains { $0.operations.contains { $0.verb == .reopen } }
    }

    /// Returns the names and lengths of the entries' files.
    private func entryFiles() -> [String: Int] {
      var files: [String: Int] = [:]
      for name in RawFiles.names(in: path) where !name.hasPrefix(".larder-") {
        if name == "CACHEDIR.TAG" { continue }
        files[name] = RawFiles.byteCount("\(path)/\(name)")
      }
      return files
    }

    private func judgeTag(_ when: String) {
      if RawFiles.hasLockedByte("\(path)/CACHEDIR.TAG") {
        history.report("a byte of CACHEDIR.TAG is locked \(when)")
      }
      if !RawFiles.isUnlocked("\(path)/CACHEDIR.TAG") {
        history.report("CACHEDIR.TAG is locked \(when)")
      }
      let left = RawFiles.names(in: path).filter { $0.hasPrefix(".larder-") }
      // A temporary file that cannot be unlinked stays for the next scan.
      if killed.isEmpty && !isDisturbed && !left.isEmpty {
        history.report("\(when) there are \(left)")
      }
      for name in left where !RawFiles.isUnlocked("\(path)/\(name)") {
        history.report("\(name) is locked \(when)")
      }
    }

    /// Reads all names in a process that opens the directory after all other processes have ended.
    private func readAfterwards() {
      let process = Scheduler.makeProcess()
      Scheduler.enter(process: process)
      defer { Scheduler.enter(process: 0) }
      for ext in Set(scene.caches.map { $0.options[.ext] }).sorted(by: { $0 ?? 0 < $1 ?? 0 }) {
        var configuration = DiskCache.Configuration(sizeLimit: nil)
        configuration.coherence = .none
        configuration.clock = WallClock { ScheduledFiles.wallTime }
        configuration.fileExtension = ext.map { "e\($0)" }
        attempt("opening afterwards") {
          let cache = try DiskCache(directory: path, configuration: configuration)
          for name in scene.names {
            let call = history.begin(
              Scene.Operation(verb: .read, name: name), thread: "afterwards", process: -2,
              cache: scene.caches.firstIndex { $0.options[.ext] == ext })
            let bytes = try cache.value(forKey: SceneValue.key(name))
            history.end(call, bytes.flatMap(SceneValue.value).map { .found($0) } ?? .missed)
          }
          try cache.close()
        }
      }
    }

    /// Checks that a removal of everything took no file that was put, after it, into a directory
    /// that has taken the place of its own.
    private func judgePlanted() {
      let calls = history.calls
      guard let move = calls.first(where: { $0.operation.verb == .replace }) else { return }
      for planted in calls where planted.operation.verb == .plant && planted.start > move.end {
        let changes = calls.filter { $0.mayChange && $0.start != planted.start && $0.isClearing }
        let others = scene.threads.flatMap(\.operations).filter {
          $0.name == planted.operation.name && ![.plant, .read, .whole].contains($0.verb)
        }
        guard others.isEmpty, allowance.limitsNothing, changes.allSatisfy({ $0.end < move.start }),
          let name = planted.operation.name
        else { continue }
        let file = "\(path)/\(SceneValue.fileName(name, ext: nil))"
        if RawFiles.bytes(file).flatMap(SceneValue.value) != planted.value {
          history.report("a file in another directory is gone: \(planted.text)")
        }
      }
    }

    /// Checks that expired values have left both tiers by themselves, after two sweeps of each.
    private func judgeSweeps() {
      let verbs = Set(scene.threads.flatMap(\.operations).map(\.verb))
      guard verbs.contains(.shortStore), !isDisturbed, !scene.stepsBack, processCount == 1,
        !scene.threads.contains(where: { $0.cache == nil })
      else { return }
      Scheduler.sleep(milliseconds: 1_300_000)
      for cache in scene.caches.indices {
        inProcess(of: cache) {
          guard let slot = slot(cache) else { return }
          if case .memory(let front) = slot {
            let count = front.memory.removeExpired()
            if count > 0 { history.report("memory of cache \(cache): \(count) expired values") }
          }
          attempt("sweeping at rest") {
            let count = try slot.disk.removeExpired().removed
            if count > 0 { history.report("cache \(cache) has \(count) expired entries") }
          }
        }
      }
    }

    private func judgeDescriptors() {
      let living = (0..<processCount).filter { !killed.contains($0) }.map(processNumber)
      let count = ScheduledFiles.count(of: living)
      if count > 0 { history.report("\(count) descriptors are left open") }
    }
  }

  extension SceneRun {
    /// Checks that an engine has nothing left to do: no name is held, no file waits to be removed
    /// and no value to be written.
    private func judgeWork(of disk: DiskCache, _ cache: Int) {
      let (isBusy, isHiding) = disk.engine.withState { state in
        (
          !state.locks.isEmpty || state.clearing.isRunning,
          !state.evictions.names.isEmpty || !state.evictions.damaged.isEmpty
            || state.clearing.hidesFiles
        )
      }
      // Any that waits has to reach the disk by a time.
      let isForgotten = disk.engine.withState { state in
        var uses = state.catalog.uses
        return !uses.isEmpty && uses.planDrain(by: .now.advanced(by: .seconds(1 << 40)))
      }
      if isForgotten { history.report("cache \(cache) has uses that nothing will write") }
      let hasBacklog =
        disk.behind?.withTable { !$0.hidden.isEmpty || $0.cost != 0 || $0.hiddenCost != 0 } ?? false
      if isBusy || isHiding || hasBacklog {
        history.report(
          "cache \(cache) at rest: busy \(isBusy), hiding \(isHiding), backlog \(hasBacklog)")
      }
    }

    /// Whether a cache was opened again while another thread's call ran. A read that meets the end
    /// of its engine stamps the file past the next one, as another process does.
    private var isReopenedBesideCalls: Bool {
      let calls = history.calls
      return calls.filter { $0.operation.verb == .reopen }.contains { reopening in
        calls.contains {
          $0.thread != reopening.thread && $0.start < reopening.end && reopening.start < $0.end
        }
      }
    }

    /// Checks internal state of the engine that has no public function.
    private func judgeState(_ disk: DiskCache, _ cache: Int) {
      judgeWork(of: disk, cache)
      let (indexed, isUsed) = disk.engine.withState { state in
        (state.catalog.index.entriesInOrder(), !state.catalog.uses.isEmpty)
      }
      if isUsed { history.report("cache \(cache) has uses that wait, after a flush") }
      for entry in indexed {
        let file = RawFiles.status("\(path)/\(entry.name)")
        let inode = file.map { UInt32(truncatingIfNeeded: $0.inode ^ $0.inode >> 32) }
        if file?.byteCount != Int(entry.byteCount) || inode != entry.inode {
          history.report("cache \(cache) knows \(entry.name) as it is not")
        } else if let file, !isNear(file.expiry, entry.expiry) {
          history.report(
            "cache \(cache) knows \(entry.name) until \(entry.expiry), its file says \(file.expiry)"
          )
          // A stamp of another process's use alone brings no event.
        } else if let file, !scene.stepsBack, scene.early == 0, processCount == 1,
          !scene.threads.contains(where: { $0.cache == nil }), !isReopenedBesideCalls,
          entry.lastAccess < file.access.adding(.zero - .milliseconds(1))
        {
          history.report(
            "cache \(cache) knows \(entry.name) as used at \(entry.lastAccess), its file says "
              + "\(file.access)")
        }
      }
    }

    /// Checks that memory keeps no value for longer than its file.
    func judgeExpiries(_ cache: Int) {
      guard case .memory(let front)? = slot(cache), isFollowing(cache), !isDisturbed else { return }
      for name in scene.names {
        let key = CacheKey(SceneValue.key(name))
        guard let (value, expiry) = front.memory.valueAndExpiry(of: key),
          let file = RawFiles.status(
            "\(path)/\(SceneValue.fileName(name, ext: scene.caches[cache].options[.ext]))"),
          file.bytes == value, file.expiry.adding(.seconds(200_000)) < expiry
        else { continue }
        history.report(
          "memory of cache \(cache) keeps \(name) until \(expiry), its file says \(file.expiry)")
      }
    }

    /// Whether two times are nearly one: of two stamps at once either may be learned of last.
    private func isNear(_ first: Timestamp, _ second: Timestamp) -> Bool {
      let slack = Duration.milliseconds(500)
      return first <= second.adding(slack) && second <= first.adding(slack)
    }
  }

  extension MemoryCache {
    /// Returns the value of a key and when it expires, without a use.
    fileprivate func valueAndExpiry(of key: Key) -> (value: Value, expiry: Timestamp)?
    where Value: Sendable, Key: Sendable {
      for index in 0...stripeMask {
        let found = withStripe(at: index) { lru -> (Value, Timestamp)? in
          var slot = lru.slab.mostRecent
          while slot != .none {
            let entry = lru.slab.entries[slot.index]
            if entry.key == key {
              let expiry = lru.slab.hasTimes ? lru.slab.times[slot.index].expiry : .never
              return (entry.value, expiry.timestamp)
            }
            slot = lru.slab.next(after: slot)
          }
          return nil
        }
        if let found { return found }
      }
      return nil
    }
  }

  extension EntryIndex {
    /// Returns all entries, the least recently used first. Those used at the same time go by name.
    func entriesInOrder() -> [IndexedEntry] {
      var (rest, entries) = (self, [IndexedEntry]())
      while let entry = rest.takeFirst(where: { _ in true }, if: { _ in true }) {
        entries.append(entry)
      }
      return entries
    }
  }
#endif
