import Glibc
import Larder
import Synchronization

/// Caches on a file system that is frozen, and what goes on beside them.
struct Frozen: Sendable {
  private typealias Work = @Sendable (Int) throws -> Void

  private let mount: String
  private let healthy: String
  private let value = [UInt8](repeating: 1, count: 1_000)

  init(_ mount: String, _ healthy: String) throws {
    self.mount = mount
    self.healthy = healthy
  }

  func run() async throws {
    let work = try work()
    let before = work.map { speed(of: $0.work) }
    let ticks = await ticks()
    let hung = try Hung(mount)
    let loads = hung.startLoads()
    usleep(500_000)
    command("fsfreeze -f \(mount)")
    defer { command("fsfreeze -u \(mount)") }
    try hung.use()
    // Enough for several stamps, sweeps and batches of waiting values.
    usleep(3_000_000)
    for ((name, work), before) in zip(work, before) {
      let speed = speed(of: work)
      // Two processors that others use vary by more than half.
      judge(speed > before / 4, "\(name): \(Int(before)) a second, beside hung disks \(Int(speed))")
    }
    let tasks = await self.ticks()
    judge(tasks > ticks / 4, "tasks: \(ticks), beside hung disks \(tasks)")
    let memory = memoryGrowth()
    judge(memory < 400, "a memory cache that is filled six times takes \(memory) MiB more")
    await hung.cancelCalls()
    // Eight caches have four for calls each, this program uses two of its own for each, and each
    // kind of upkeep that hangs has one.
    judge(threadCount < 150, "there are \(threadCount) threads")
    command("fsfreeze -u \(mount)")
    for load in loads { await load.value }
    judge(true, "loads on the hung disk end when it answers again")
    try hung.close()
    judge(true, "its caches close")
  }

  /// What is done on the healthy disk.
  private func work() throws -> [(name: String, work: Work)] {
    var configuration = DiskCache.Configuration(sizeLimit: 1 << 20)
    configuration.recencyGranularity = .milliseconds(100)
    func open(_ name: String) throws -> DiskCache {
      try DiskCache(directory: "\(healthy)/\(name)", configuration: configuration)
    }
    let (direct, cleared) = (try open("direct"), try open("cleared"))
    configuration.writeBehindLimit = 100_000
    let (behind, own) = (try open("behind"), configuration)
    return [
      ("stores over the limit", { try direct.store(value, forKey: "\($0)") }),
      ("reads", { _ = try direct.value(forKey: "\($0 % 100)") }),
      ("trims", { _ = try direct.trim(toCount: $0 % 10 + 500) }),
      (
        "removals of everything",
        {
          try cleared.store(value, forKey: "\($0)")
          try cleared.removeAll()
        }
      ),
      ("stores written behind", { try behind.store(value, forKey: "\($0)") }),
      (
        "openings and closings",
        {
          let cache = try DiskCache(directory: "\(healthy)/opened/\($0 % 8)", configuration: own)
          try cache.store(value, forKey: "k")
          try cache.close()
        }
      ),
      (
        "sweeps and stamps",
        {
          _ = try direct.value(forKey: "\($0)")
          try direct.removeExpired()
          try direct.flush()
        }
      ),
    ]
  }

  /// Returns the times a second that a closure returns; zero if it does not return.
  private func speed(of work: @escaping Work) -> Double {
    let (count, ended) = (Flag(), Flag())
    let end = now() + 0.5
    inThread {
      while now() < end {
        do { try work(count.count) } catch { judge(false, "\(error)") }
        count.add()
      }
      ended.add()
    }
    while ended.count == 0 && now() < end + 5 { usleep(1_000) }
    return ended.count == 0 ? 0 : Double(count.count) / 0.5
  }

  /// Returns the number of times in half a second that tasks are resumed.
  private func ticks() async -> Int {
    let (count, end) = (Flag(), now() + 0.5)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          while now() < end {
            await Task.yield()
            count.add()
          }
        }
      }
    }
    return count.count
  }

  /// Fills and empties a cache that has no files, and returns the MiB of memory that stay.
  private func memoryGrowth() -> Int {
    let before = residentByteCount
    let memory = MemoryCache<Int, [UInt8]>()
    for _ in 0..<6 {
      for number in 0..<2_000 {
        memory.store([UInt8](repeating: 1, count: 100_000), forKey: number)
      }
      memory.removeAll()
    }
    return (residentByteCount - before) >> 20
  }
}

/// Runs a command of the shell.
func command(_ text: String) {
  var pid = pid_t()
  let words = unsafe [strdup("sh"), strdup("-c"), strdup(text), nil]
  unsafe posix_spawn(&pid, "/bin/sh", nil, nil, words, nil)
  waitpid(pid, nil, 0)
}

/// The caches on the file system that is frozen.
struct Hung: Sendable {
  private struct Failure: Error {}

  private let mount: String
  private let caches: [Cache<[UInt8]>]
  private let isFrozen = Flag()

  init(_ mount: String) throws {
    self.mount = mount
    // A durable cache writes to a temporary with a name, which the end of a load removes.
    caches = try (0..<8).map { number in
      var configuration = CacheConfiguration()
      configuration.disk.recencyGranularity = .milliseconds(100)
      configuration.disk.durability = number < 4 ? .durable : .relaxed
      configuration.disk.writeBehindLimit = number % 2 == 0 ? nil : 10_000
      let cache = try Cache(
        directory: "\(mount)/\(number)", coder: .bytes, configuration: configuration)
      for key in 0..<32 { try cache.store([1, 2, 3], forKey: "\(key)") }
      try cache.flush()
      return cache
    }
  }

  /// Starts loads that fail once the file system is frozen.
  func startLoads() -> [Task<Void, Never>] {
    caches.map { [isFrozen] cache in
      Task.detached {
        do {
          _ = try await cache.withFile(forKey: "large") { (file: borrowing EntryFile) in
            file.byteCount
          } orStore: { writer in
            try await writer.write([UInt8](repeating: 1, count: 1 << 20))
            while isFrozen.count == 0 { try await Task.sleep(for: .milliseconds(5)) }
            throw Failure()
          }
        } catch {}
      }
    }
  }

  /// Makes calls that hang, in threads and tasks, or whose upkeep does.
  func use() throws {
    isFrozen.add()
    for cache in caches {
      for key in 0..<32 { _ = try cache.value(forKey: "\(key)", options: .diskOnly) }
      // More than the cache has threads for, so that later calls wait for their turn.
      for _ in 0..<8 { Task.detached { _ = try? await cache.store([4], forKey: "new") } }
      inThread { _ = try? cache.trim(toCount: 10) }
      inThread { _ = try? cache.removeAll() }
    }
    for number in 0..<4 {
      inThread { [mount] in
        let cache = try? DiskCache(directory: "\(mount)/opened \(number)")
        _ = try? cache?.store([1], forKey: "k")
      }
    }
  }

  /// Cancels asynchronous calls that wait for their turn, and expects that they return at once.
  func cancelCalls() async {
    // Those that write behind have threads left, on which a change begins.
    let full = caches.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    let tasks =
      full.map { cache in Task.detached { _ = try? await cache.disk.value(forKey: "1") } }
      + full.map { cache in Task.detached { _ = try? await cache.remove(forKey: "1") } }
    try? await Task.sleep(for: .milliseconds(100))
    let (start, returned) = (now(), Flag())
    for task in tasks {
      task.cancel()
      Task.detached {
        await task.value
        returned.add()
      }
    }
    while returned.count < tasks.count && now() < start + 5 {
      try? await Task.sleep(for: .milliseconds(1))
    }
    judge(
      returned.count == tasks.count,
      "\(returned.count) of \(tasks.count) cancelled calls return after "
        + "\(Int((now() - start) * 1_000)) ms")
  }

  func close() throws {
    for cache in caches { try cache.close() }
  }
}
