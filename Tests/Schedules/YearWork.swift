#if LARDER_SCHEDULES
  import Synchronization

  @testable import Larder
  @testable import LarderBasics
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  // The traffic.
  extension YearDay {
    func startWorker(_ worker: Int, of server: Int) {
      state.withLock { $0.livingWorkers += 1 }
      Scheduler.spawn("worker \(worker)", process: take(server).process) {
        self.work(worker, server)
        let isLast = self.state.withLock { state in
          state.livingWorkers -= 1
          return state.livingWorkers == 0
        }
        if isLast { Scheduler.wake(ObjectIdentifier(self.latch)) }
      }
    }

    private var dayTime: Int64 { Scheduler.now % (24 * Self.hour) }

    private func work(_ worker: Int, _ server: Int) {
      var traffic = traffic
      var generator = SeededGenerator(seed &* 64 &+ UInt64(worker) &+ UInt64(dayTime) &* 7_919)
      traffic.start(at: Double(generator.below(1_000)) / 1_000)
      let pause = 86_400_000 * 4 / accessCount
      let end = Scheduler.Span(day: day + 1).start - Self.hour / 2
      while Scheduler.now < end {
        Scheduler.sleep(milliseconds: 1 + generator.below(2 * pause))
        let (key, byteCount) = traffic.next()
        do {
          try access(key, byteCount, server, &generator)
        } catch {
          truth.countFailure()
        }
      }
    }

    private func access(
      _ key: Int, _ byteCount: Int, _ number: Int, _ generator: inout SeededGenerator
    ) throws {
      let server = take(number)
      guard let disk = server.cache?.disk ?? server.disk else { return }
      let begin = Scheduler.now
      switch generator.below(1_000) {
      case ..<30:
        if try disk.remove(forKey: "\(key)") { truth.endRemoval(of: key, began: begin) }
      case ..<80: try store(key, byteCount, number, &generator)
      case ..<82: _ = try disk.totalSize()
      case ..<84: try disk.flush()
      case ..<85: _ = try disk.entries().count
      case ..<86: _ = try disk.removeExpired()
      case ..<87: try disk.trim(toCost: Self.sizeLimit / 2)
      default:
        let wallTime = wallTime(of: number)
        let bytes: [UInt8]?
        if let cache = server.cache, generator.below(16) > 0 {
          bytes = try cache.value(forKey: "\(key)")
        } else {
          bytes = try disk.value(forKey: "\(key)")
        }
        let lag: Int64 = Self.coherences[number] == .events ? 50_000_000 : 0
        truth.judge(bytes, of: key, began: begin, at: wallTime, lag: lag)
        if bytes == nil { try store(key, byteCount, number, &generator) }
      }
    }

    private func store(
      _ key: Int, _ byteCount: Int, _ number: Int, _ generator: inout SeededGenerator
    ) throws {
      let server = take(number)
      guard let disk = server.cache?.disk ?? server.disk else { return }
      let seconds = generator.pick([60, 3_600, 86_400, 7 * 86_400])
      let expiry = wallTime(of: number).adding(seconds: Int64(seconds) + 1)
      let begin = Scheduler.now
      let version = truth.beginStore(of: key, byteCount: byteCount, until: expiry)
      let bytes = SceneValue.bytes(version, count: byteCount)
      let outcome: StoreOutcome
      switch generator.below(8) {
      case 0:
        outcome = try disk.storeIfAbsent(bytes, forKey: "\(key)", expiration: .seconds(seconds))
      case 1:
        outcome = try disk.store(forKey: "\(key)", expiration: .seconds(seconds)) { writer in
          try writer.write(bytes)
        }
      default:
        outcome =
          try server.cache?.store(bytes, forKey: "\(key)", expiration: .seconds(seconds))
          ?? disk.store(bytes, forKey: "\(key)", expiration: .seconds(seconds))
      }
      if outcome == .stored { truth.endStore(version, began: begin) }
    }
  }
#endif
