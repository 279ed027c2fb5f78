#if LARDER_SCHEDULES
  import Glibc
  import Synchronization

  @testable import Larder
  @testable import LarderBasics
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  // What happens beside the traffic.
  extension YearDay {
    func disturb() {
      var generator = SeededGenerator(seed &+ 5_000)
      let clearHour = day % 7 == 6 ? generator.below(20) : -1
      let badHours = [1 + generator.below(20), 1 + generator.below(20)]
      for hour in 0..<23 {
        for _ in 0..<4 {
          Scheduler.sleep(milliseconds: 1 + generator.below(1_800_000))
          touchAnyFile(&generator)
        }
        if hour == clearHour { clear(generator.below(3)) }
        if badHours.contains(hour) { strike(generator.below(3), &generator) }
        judgeLimit()
        if Scheduler.now > Scheduler.Span(day: day + 1).start - Self.hour { return }
      }
    }

    private func strike(_ server: Int, _ generator: inout SeededGenerator) {
      switch generator.below(8) {
      case 0, 1: reopen(server)
      case 2: kill(server)
      case 3:
        state.withLock { $0.servers[server].delay = $0.servers[server].delay == 0 ? 3_600 : 0 }
      case 4:
        Scheduler.setStopped(true, process: take(server).process)
        Scheduler.sleep(milliseconds: 5)
        Scheduler.setStopped(false, process: take(server).process)
      default:
        let call = generator.pick([SystemCall.write, .linkat, .renameat, .fsync])
        Scheduler.plan(
          28, for: call, at: 1 + generator.below(20), count: 1 + generator.below(20),
          process: take(server).process)
      }
    }

    private func clear(_ server: Int) {
      inProcess(of: server) {
        let (server, begin) = (take(server), Scheduler.now)
        do {
          let removal = try (server.cache?.disk ?? server.disk)?.removeAll()
          if removal?.failed == 0 { truth.endRemoval(of: nil, began: begin) }
        } catch {
          truth.countFailure()
        }
      }
    }

    /// Does to a file what a person at a shell does.
    private func touchAnyFile(_ generator: inout SeededGenerator) {
      let names = RawFiles.names(in: path).filter { $0.count == 32 }
      guard !names.isEmpty else { return }
      let file = "\(path)/\(generator.pick(names))"
      let begin = Scheduler.now
      Scheduler.point(.look)
      switch generator.below(6) {
      case 0, 1:
        let value = RawFiles.bytes(file).flatMap(SceneValue.value)
        if unlink(file) == 0, let value { truth.endRemoval(ofValue: value, began: begin) }
      case 2: RawFiles.setTimes(file, access: ScheduledFiles.wallTime, modification: nil)
      case 3: RawFiles.noteChange(file)
      default:
        link(file, "\(path)-link")
        unlink("\(path)-link")
        RawFiles.noteChange(file)
      }
      Scheduler.noteKernelChange()
    }
  }

  // What is judged every hour and at the end of the day.
  extension YearDay {
    /// The bytes of the entries' files, and their number.
    private func files() -> (count: Int, byteCount: Int) {
      let names = RawFiles.names(in: path).filter { $0.count == 32 }
      return (names.count, names.compactMap { RawFiles.byteCount("\(path)/\($0)") }.reduce(0, +))
    }

    func judgeLimit() {
      let byteCount = files().byteCount
      if byteCount > Self.sizeLimit + Self.sizeLimit / 10 {
        truth.report("day \(day): \(byteCount) bytes; the limit is \(Self.sizeLimit)")
      }
      for server in state.withLock({ $0.servers }) {
        guard let cost = server.cache?.memory.totalCost, cost > Self.memoryLimit else { continue }
        truth.report("day \(day): \(cost) bytes in memory; the limit is \(Self.memoryLimit)")
      }
    }

    /// Closes everything, after a look at the totals.
    func end() {
      Scheduler.sleep(milliseconds: 3_000)
      for server in Self.coherences.indices {
        inProcess(of: server) {
          guard let disk = take(server).cache?.disk ?? take(server).disk else { return }
          do {
            try disk.flush()
            if Self.coherences[server] != .none { try judgeTotals(disk, server) }
          } catch {
            truth.report("day \(day): at rest, server \(server): \(error)")
          }
        }
      }
      for server in Self.coherences.indices {
        inProcess(of: server) {
          let old = take(server)
          do {
            try old.cache?.close()
            try old.disk?.close()
          } catch {
            truth.report("day \(day): closing server \(server): \(error)")
          }
          state.withLock { ($0.servers[server].cache, $0.servers[server].disk) = (nil, nil) }
        }
      }
      Scheduler.sleep(milliseconds: 20_000)
      let count = ScheduledFiles.count(of: state.withLock { $0.processes })
      if count > 0 { truth.report("day \(day): \(count) descriptors are left open") }
      truth.endDay()
    }

    private func judgeTotals(_ disk: DiskCache, _ server: Int) throws {
      _ = try disk.count()
      Scheduler.sleep(milliseconds: 3_000)
      try disk.flush()
      let (count, size, there) = (try disk.count(), try disk.totalSize(), files())
      if count != there.count || size != there.byteCount {
        truth.report(
          "day \(day): server \(server) counts \(count) entries of \(size) bytes; there are "
            + "\(there.count) of \(there.byteCount)")
      }
    }
  }
#endif
