// What caches on a healthy disk do while the file system of others does not answer. Run by
// Tests/Reliability/hung-disk, which mounts the file systems.
import Glibc
import Larder
import Synchronization

switch CommandLine.arguments.dropFirst().first {
case "frozen": try await Frozen(CommandLine.arguments[2], CommandLine.arguments[3]).run()
case "prompt-frozen":
  try await Prompt(CommandLine.arguments[2]).frozen(CommandLine.arguments[3])
case "prompt-cold":
  let prompt = try Prompt(CommandLine.arguments[2])
  try await prompt.cold(droppingNames: false)
  try await prompt.cold(droppingNames: true)
case "idle": try idle(CommandLine.arguments[2])
case "no-threads": try noThreads(CommandLine.arguments[2], CommandLine.arguments[3])
default:
  fail(
    "usage: HungDisk frozen MOUNT HEALTHY | prompt-frozen DIR BELOW | prompt-cold DIR | "
      + "idle HEALTHY | no-threads GROUP HEALTHY")
}
exit(isWrong.load(ordering: .relaxed) ? 1 : 0)

/// Opens a thousand caches that sweep, and expects that they have a handful of threads when idle.
func idle(_ directory: String) throws {
  var configuration = DiskCache.Configuration(sizeLimit: 1 << 20)
  configuration.sweepInterval = .seconds(1)
  let caches = try (0..<1_000).map {
    try DiskCache(directory: "\(directory)/idle/\($0)", configuration: configuration)
  }
  for cache in caches {
    try cache.store([1], forKey: "k")
    _ = try cache.count()
  }
  sleep(5)
  // Sweeps may pile up for a moment on a busy machine. Threads that stay are there each time.
  let counts = (0..<100).map { _ in
    usleep(20_000)
    return threadCount
  }
  let usual = counts.sorted()[10]
  judge(usual <= 40, "1,000 idle caches have \(usual) threads while they sweep")
  for cache in caches { try cache.close() }
}

/// Uses two caches from three threads in a process that can have no more threads, of a cgroup with
/// a `pids.max`.
func noThreads(_ group: String, _ directory: String) throws {
  write("\(getpid())", to: "\(group)/cgroup.procs")
  let (go, ended) = (Flag(), Flag())
  let counts = (0..<3).map { _ in Flag() }
  let caches = Mutex<[Cache<[UInt8]>]>([])
  for count in counts {
    inThread {
      while go.count == 0 { usleep(1_000) }
      let caches = caches.withLock { $0 }
      while go.count == 1 {
        use(caches[Int.random(in: 0..<caches.count)])
        count.add()
      }
      ended.add()
    }
  }
  usleep(100_000)
  write("\(threadCount)", to: "\(group)/pids.max")
  var configuration = CacheConfiguration()
  configuration.disk.sizeLimit = 6_000
  configuration.disk.recencyGranularity = .milliseconds(1)
  configuration.disk.sweepInterval = .milliseconds(20)
  configuration.memoryCountLimit = 10
  for (number, limit) in [5_000, nil].enumerated() {
    configuration.disk.writeBehindLimit = limit
    let cache = try Cache(
      directory: "\(directory)/threads\(number)", coder: .bytes, configuration: configuration)
    caches.withLock { $0.append(cache) }
  }
  go.add()
  sleep(6)
  let first = counts.map(\.count)
  sleep(4)
  judge(
    zip(first, counts).allSatisfy { $0 < $1.count }, "without threads the callers do the work")
  go.add()
  let end = now() + 20
  while ended.count < 3 && now() < end { usleep(1_000) }
  judge(ended.count == 3, "without threads every call returns")
  write("max", to: "\(group)/pids.max")
}

/// Makes one call of many kinds.
func use(_ cache: Cache<[UInt8]>) {
  let key = "k\(Int.random(in: 0..<40))"
  let value = [UInt8](repeating: 1, count: Int.random(in: 0..<900))
  switch Int.random(in: 0..<100) {
  case 0..<40: _ = try? cache.value(forKey: key, options: .diskOnly)
  case 40..<80: _ = try? cache.store(value, forKey: key, expiration: .seconds(1))
  case 80..<84: _ = try? cache.remove(forKey: key)
  case 84..<86: _ = try? cache.removeAll()
  case 86..<88: _ = try? cache.trim(toCount: 5)
  case 88..<90: _ = try? cache.flush()
  case 90..<92: _ = try? cache.disk.count()
  case 92..<96: _ = try? cache.touch(forKey: key, expiration: .days(1))
  default: unsafe unlink(cache.disk.path(forKey: key))
  }
}
