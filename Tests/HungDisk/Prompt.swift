import Glibc
import Larder
import Synchronization

/// Tasks that read from a disk which takes long, and how long others wait for their turn meanwhile.
struct Prompt: Sendable {
  private let cache: DiskCache
  private let directory: String
  private static let count = 200

  init(_ directory: String) throws {
    self.directory = directory
    var configuration = DiskCache.Configuration(sizeLimit: 64 << 20)
    configuration.recencyGranularity = .seconds(3_600)
    cache = try DiskCache(directory: directory, configuration: configuration)
    for number in 0..<Self.count {
      let value = [UInt8](repeating: UInt8(number), count: 300 * number)
      try cache.store(value, forKey: "\(number)")
    }
    try cache.flush()
    sync()
    for number in 0..<Self.count { _ = try cache.value(forKey: "\(number)") }
  }

  /// Reads what is in memory while the file system below the cache's is frozen, with stores,
  /// evictions and a sync that hang.
  func frozen(_ below: String) async throws {
    let (flag, other) = (Flag(), try DiskCache(directory: directory + "-other"))
    inThread {
      var number = 0
      while flag.count == 0 {
        number += 1
        _ = try? other.store([UInt8](repeating: 1, count: 50_000), forKey: "new \(number)")
        if number.isMultiple(of: 50) { _ = try? other.trim(toCount: 10) }
      }
    }
    inThread { while flag.count == 0 { sync() } }
    usleep(300_000)
    command("fsfreeze -f \(below)")
    inThread {
      usleep(4_000_000)
      command("fsfreeze -u \(below)")
    }
    usleep(500_000)
    let (gap, reads) = try await read(for: 3)
    judge(gap < 0.3, "while the disk is frozen a task waits for its turn \(milliseconds(gap)) ms")
    judge(
      reads.here > 1_000, "\(reads.here) reads go on meanwhile, \(reads.there) on other threads")
    flag.add()
  }

  /// Reads while pages leave memory, and with names the kernel's knowledge of them.
  func cold(droppingNames: Bool) async throws {
    let flag = Flag()
    inThread { [cache] in
      while flag.count == 0 {
        for number in 0..<Self.count {
          let file = unsafe open(cache.path(forKey: "\(number)"), O_RDONLY)
          posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
          close(file)
        }
        if droppingNames { write("2", to: "/proc/sys/vm/drop_caches") }
      }
    }
    let (gap, reads) = try await read(for: 3)
    flag.add()
    let what = droppingNames ? "names" : "pages"
    judge(gap < 0.3, "while \(what) are dropped a task waits for its turn \(milliseconds(gap)) ms")
    judge(reads.there > 0, "\(reads.there) reads wait on other threads, \(reads.here) do not wait")
  }

  /// Reads with more tasks than processors; returns the longest time for which a task that wants to
  /// run each 10 ms did not, and the reads.
  private func read(
    for seconds: Double
  ) async throws -> (gap: Double, reads: (here: Int, there: Int)) {
    let (before, end) = (cache.statistics, now() + seconds)
    let gap = try await withThrowingTaskGroup(of: Double.self) { group in
      group.addTask {
        var (gap, last) = (0.0, now())
        while last < end {
          try await Task.sleep(for: .milliseconds(10))
          (gap, last) = (max(gap, now() - last), now())
        }
        return gap
      }
      for task in 0..<8 {
        group.addTask { [cache] in
          var number = task
          while now() < end {
            let value = try await cache.value(forKey: "\(number % Self.count)")
            if value?.count != 300 * (number % Self.count) { fail("a value is wrong") }
            number += 1
          }
          return 0
        }
      }
      return try await group.reduce(0, max)
    }
    let after = cache.statistics
    return (
      gap,
      (after.promptReads - before.promptReads, after.switchedReads - before.switchedReads)
    )
  }

  private func milliseconds(_ seconds: Double) -> Int { Int(seconds * 1_000) }
}
