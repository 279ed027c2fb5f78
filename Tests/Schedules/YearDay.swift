#if LARDER_SCHEDULES
  import Glibc
  import Synchronization

  @testable import Larder
  @testable import LarderBasics
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  /// A day of a year: a schedule in which several processes have one directory.
  ///
  /// 1. Two servers with a memory tier and a tool without one, each a process with a clock of its
  ///    own, four workers in all, go through the traffic.
  /// 2. Once or twice a day one of them is opened again, is killed and comes back as another
  ///    process, has a full disk for some calls, or a clock that goes back an hour.
  /// 3. An outsider removes, touches, links and owns files. Once a week everything is removed.
  /// 4. Every hour the limit is judged, and at the end of the day totals and descriptors.
  final class YearDay: Sendable {
    /// A process of the day.
    struct Server: Sendable {
      var process = 0
      var cache: Cache<[UInt8]>?
      var disk: DiskCache?
      /// The seconds by which its clock is behind.
      var delay: Int64 = 0
    }

    struct State {
      var servers: [Server] = []
      var livingWorkers = 0
      var processes: [Int] = []
    }

    /// What each server is; the last is the tool.
    static let coherences: [DiskCache.Coherence] = [.events, .strict, .none]
    static let sizeLimit = 256 << 10
    static let memoryLimit = 64 << 10
    static let hour: Int64 = 3_600_000_000_000

    let day: Int
    /// The seed of the day, which no other day of the year has.
    let seed: UInt64
    let path: String
    let truth: YearTruth
    let accessCount: Int
    let traffic: YearTraffic
    let state = Synchronization.Mutex(State())
    let latch = ScheduledLock()

    init(
      _ day: Int, seed: UInt64, path: String, _ truth: YearTruth, _ traffic: YearTraffic,
      accessCount: Int
    ) {
      self.day = day
      self.seed = seed
      self.path = path
      self.truth = truth
      self.traffic = traffic
      self.accessCount = accessCount
    }

    /// Runs the day's first thread.
    func direct() {
      Scheduler.setQuiet(true)
      for server in Self.coherences.indices { start(server) }
      Scheduler.setQuiet(false)
      for (worker, server) in [0, 0, 1, 2].enumerated() { startWorker(worker, of: server) }
      Scheduler.spawn("outsider", process: 0) { self.disturb() }
      while state.withLock({ $0.livingWorkers > 0 }) {
        Scheduler.wait(for: ObjectIdentifier(latch), "the workers", until: nil)
      }
      Scheduler.setQuiet(true)
      Scheduler.forgetFailures()
      end()
    }

    // MARK: Processes

    /// Starts a server as a new process.
    func start(_ server: Int) {
      let process = Scheduler.makeProcess()
      state.withLock { state in
        if state.servers.count <= server { state.servers.append(Server()) }
        state.servers[server] = Server(process: process)
        state.processes.append(process)
      }
      inProcess(of: server) { open(server) }
    }

    func inProcess(of server: Int, _ body: () -> Void) {
      let old = Scheduler.process
      Scheduler.enter(process: state.withLock { $0.servers[server].process })
      body()
      Scheduler.enter(process: old)
    }

    private func open(_ server: Int) {
      var configuration = CacheConfiguration()
      configuration.memoryCostLimit = Self.memoryLimit
      configuration.disk.sizeLimit = Self.sizeLimit
      configuration.disk.coherence = Self.coherences[server]
      configuration.disk.clock = WallClock { self.wallTime(of: server) }
      configuration.disk.faults = FaultInjector()
      do {
        if Self.coherences[server] == .none {
          let disk = try DiskCache(directory: path, configuration: configuration.disk)
          state.withLock { $0.servers[server].disk = disk }
        } else {
          let cache = try Cache(directory: path, coder: .bytes, configuration: configuration)
          state.withLock { $0.servers[server].cache = cache }
        }
      } catch {
        truth.countFailure()
      }
    }

    func wallTime(of server: Int) -> Timestamp {
      ScheduledFiles.wallTime.adding(seconds: -state.withLock { $0.servers[server].delay })
    }

    func take(_ server: Int) -> Server { state.withLock { $0.servers[server] } }

    /// Closes a server's cache, and opens it again, as a deployment does.
    func reopen(_ server: Int) {
      inProcess(of: server) {
        let old = take(server)
        do {
          try old.cache?.close()
          try old.disk?.close()
        } catch {
          truth.countFailure()
        }
        open(server)
      }
    }

    /// Ends a server as SIGKILL does, and starts another one in its place.
    func kill(_ server: Int) {
      let old = take(server)
      Scheduler.kill(process: old.process)
      // Retained, because objects of a killed process must not be released in its neighbours.
      if let cache = old.cache { _ = unsafe Unmanaged.passRetained(cache) }
      if let disk = old.disk { _ = unsafe Unmanaged.passRetained(disk) }
      let workers = server == 0 ? [0, 1] : [server + 1]
      state.withLock { state in
        state.processes.removeAll { $0 == old.process }
        state.livingWorkers -= workers.count
      }
      start(server)
      for worker in workers { startWorker(worker, of: server) }
    }
  }
#endif
