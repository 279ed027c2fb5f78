import Foundation
import LarderTestSupport
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// Asynchronous reads that stay on the caller's thread, where the kernel and the file system of the
/// temporary directory can tell what would wait for the device.
@Suite(.watched, .enabled(if: PromptGround.isThere))
struct `A read without a switch of threads` {
  let scene: DiskScene
  let disk: DiskCache

  init() throws {
    scene = try DiskScene()
    disk = try scene.open()
  }
}

/// Whether this kernel, and the file system of the temporary directory, can be asked.
enum PromptGround {
  static let isThere = isPrompt { _ in }
  /// With the flags that disks need. The directory may be in memory, which is asked as a disk then.
  static let hasFlags = isPrompt(showDisk)

  static let showDisk: @Sendable (inout DiskCache.Configuration) -> Void = {
    $0.fileSystem = FileSystemKind(name: "ext4", isNetwork: false)
  }

  private static func isPrompt(_ change: (inout DiskCache.Configuration) -> Void) -> Bool {
    guard let scene = try? DiskScene(), let disk = try? scene.open(change) else { return false }
    return disk.engine.location.handle.isPrompt
  }
}

// The synchronous forms, which an asynchronous function cannot name.
extension DiskCache {
  fileprivate func storeNow(
    _ value: [UInt8], forKey key: CacheKey, expiration: Expiration? = nil
  ) throws { try store(value, forKey: key, expiration: expiration) }
  fileprivate func valueNow(_ key: CacheKey) throws -> [UInt8]? { try value(forKey: key) }
  fileprivate func containsNow(_ key: CacheKey) throws -> Bool { try contains(key) }
  fileprivate func trimNow(toCount count: Int) throws { try trim(toCount: count) }
  fileprivate func removeNow(_ key: CacheKey) throws { try remove(forKey: key) }
  fileprivate func namesByUse() throws -> [String] { try entries(byUse: true).map(\.name) }
}

extension `A read without a switch of threads` {
  private func shownAsDisk() throws -> (DiskScene, DiskCache) {
    let scene = try DiskScene()
    let disk = try scene.open(PromptGround.showDisk)
    #expect(disk.engine.location.handle.isPrompt)
    return (scene, disk)
  }

  private func counts(_ disk: DiskCache) -> [Int] {
    [disk.statistics.promptReads, disk.statistics.switchedReads]
  }

  /// Returns the reads here and on other threads that a call makes. It is repeated if it takes so
  /// long that a thread had to check the directory's path.
  private func reads(_ disk: DiskCache, of call: () async throws -> Void) async throws -> [Int] {
    while true {
      disk.engine.followReplacement(isUrgent: true)
      let (start, before) = (MonotonicTime.now, counts(disk))
      try await call()
      let reads = zip(counts(disk), before).map { $0 - $1 }
      if MonotonicTime.now.duration(since: start) < .milliseconds(900) { return reads }
    }
  }

  @Test func `is a hit on what this process has verified, and a miss of what it knows not`()
    async throws
  {
    try disk.storeNow([1, 2], forKey: "key")
    // A store has verified what it wrote.
    let hit = try await reads(disk) {
      let value = try await disk.value(forKey: "key")
      #expect(value == [1, 2])
    }
    #expect(hit == [1, 0])
    // The kernel learns here that there is no such name.
    #expect(try await disk.value(forKey: "other") == nil)
    let miss = try await reads(disk) {
      let value = try await disk.value(forKey: "other")
      #expect(value == nil)
    }
    #expect(miss == [1, 0])
    #expect(disk.statistics.hits >= 1 && disk.statistics.misses[.absent] ?? 0 >= 2)
    #expect(try await disk.contains("key"))
    #expect(try await !disk.contains("other"))
  }

  @Test func `is a miss by the index where the directory is held for this cache alone`()
    async throws
  {
    let scene = try DiskScene()
    let disk = try scene.open {
      PromptGround.showDisk(&$0)
      $0.mode = .exclusive
    }
    #expect(try await disk.count() == 0)
    let miss = try await reads(disk) {
      let value = try await disk.value(forKey: "never asked for")
      #expect(value == nil)
    }
    #expect(miss == [1, 0])
  }

  @Test func `moves the entry to the end of the order, and extends it`() async throws {
    for key in ["a", "b"] {
      try disk.storeNow([1], forKey: CacheKey(key), expiration: .seconds(3600))
    }
    scene.clock.advance(by: .seconds(1800))
    let hit = try await reads(disk) {
      let value = try await disk.value(forKey: "a")
      #expect(value == [1])
    }
    #expect(hit == [1, 0])
    #expect(try disk.namesByUse().last == disk.subject("a").name.description)
    try disk.trimNow(toCount: 1)
    #expect(try disk.containsNow("a"))
    scene.clock.advance(by: .seconds(3000))
    #expect(try await disk.value(forKey: "a") == [1])
  }

  /// What can be under a name, and how a read finds it.
  static let things: [(name: String, make: @Sendable (DiskScene, DiskCache) throws -> Void)] = [
    ("nothing", { _, _ in }),
    ("a value", { try $1.storeNow([1, 2, 3], forKey: "key") }),
    ("an empty value", { try $1.storeNow([], forKey: "key") }),
    ("a long value", { try $1.storeNow([UInt8](repeating: 1, count: 70_000), forKey: "key") }),
    (
      "an expired value",
      {
        try $1.storeNow([1], forKey: "key", expiration: .seconds(10))
        $0.clock.advance(by: .seconds(20))
      }
    ),
    (
      "a damaged value",
      {
        try $1.storeNow([1, 2, 3], forKey: "key")
        try Data([1, 2, 4]).write(to: URL(fileURLWithPath: $0.file("key")))
      }
    ),
    (
      "a value cut short",
      {
        try $1.storeNow([1, 2, 3], forKey: "key")
        try #require(unsafe truncate($0.file("key"), 1) == 0)
      }
    ),
    (
      "another process's value",
      { scene, _ in
        try scene.open { $0.mode = .shared }.storeNow([9], forKey: "key")
      }
    ),
    (
      "a link",
      {
        try #require(unsafe symlink("/etc/passwd", $0.file("key")) == 0); _ = $1
      }
    ),
    (
      "a pipe",
      {
        try #require(unsafe mkfifo($0.file("key"), 0o600) == 0); _ = $1
      }
    ),
    (
      "a folder",
      {
        try #require(unsafe mkdir($0.file("key"), 0o700) == 0); _ = $1
      }
    ),
    (
      "a file that a person made",
      { scene, _ in try Data([5]).write(to: URL(fileURLWithPath: scene.file("key"))) }
    ),
    (
      "a removed value",
      {
        try $1.storeNow([1], forKey: "key")
        try FileManager.default.removeItem(atPath: $0.file("key"))
      }
    ),
  ]

  @Test(arguments: things.indices)
  func `finds what a synchronous one finds, and counts it alike`(thing: Int) async throws {
    func found(isAwaited: Bool) async throws -> ([[UInt8]?], DiskStatistics) {
      let scene = try DiskScene()
      let disk = try scene.open()
      _ = try await disk.count()
      try Self.things[thing].make(scene, disk)
      var values: [[UInt8]?] = []
      for _ in 0..<3 {
        values.append(isAwaited ? try await disk.value(forKey: "key") : try disk.valueNow("key"))
      }
      let isThere = isAwaited ? try await disk.contains("key") : try disk.containsNow("key")
      values.append(isThere ? [] : nil)
      try await disk.flush()
      let statistics = disk.statistics
      try await disk.close()
      return (values, statistics)
    }
    let (awaited, waited) = (try await found(isAwaited: true), try await found(isAwaited: false))
    #expect(awaited.0 == waited.0, "\(Self.things[thing].name)")
    #expect(awaited.1.hits == waited.1.hits && awaited.1.misses == waited.1.misses)
    #expect(awaited.1.removals == waited.1.removals && awaited.1.bytesRead == waited.1.bytesRead)
  }

  @Test(
    .enabled(if: PromptGround.hasFlags),
    arguments: [SystemCall.openat2, .cachestat, .preadv2],
    [Errno.wouldBlock, .notPermitted, .noSuchSystemCall, .notSupported, .ioError])
  func `is left to another thread where the kernel would wait or refuses`(
    call: SystemCall, errno: Errno
  ) async throws {
    let (scene, disk) = try shownAsDisk()
    try disk.storeNow([1, 2], forKey: "key")
    scene.faults.plan(.errno(errno), for: call, onwards: true)
    let read = try await reads(disk) {
      let value = try await disk.value(forKey: "key")
      #expect(value == [1, 2])
    }
    #expect(read == [0, 1] && scene.faults.struckCount >= 1)
    #expect(disk.statistics.hits >= 1 && disk.statistics.errors.isEmpty)
  }

  @Test(.enabled(if: PromptGround.hasFlags))
  func `asks for no byte that is not in memory`() async throws {
    let (scene, disk) = try shownAsDisk()
    try disk.storeNow([UInt8](repeating: 1, count: 60_000), forKey: "key")
    scene.faults.plan(.short(3), for: .cachestat, onwards: true)
    let read = try await reads(disk) {
      let value = try await disk.value(forKey: "key")
      #expect(value?.count == 60_000)
    }
    #expect(scene.faults.count(of: .preadv2) == 0 && read == [0, 1])
  }

  @Test(.enabled(if: PromptGround.hasFlags))
  func `of a file that is removed meanwhile leaves its deletion to another thread`() async throws {
    let (scene, disk) = try shownAsDisk()
    try disk.storeNow([1, 2], forKey: "key")
    scene.faults.plan(
      .before { [disk] in _ = try? disk.removeNow("key") }, for: .cachestat)
    // Nil where the file system takes no flag of `preadv2`, and another thread looks again.
    while scene.faults.struckCount == 0 {
      let value = try await disk.value(forKey: "key")
      #expect(value == nil || value == [1, 2])
    }
    #expect(try await disk.value(forKey: "key") == nil)
    let path = scene.file("key")
    try eventually("the file to be closed") {
      OpenResources.descriptors(of: path).isEmpty
    }
  }

  @Test func `of a cancelled task gets cancelled`() async throws {
    try disk.storeNow([1], forKey: "key")
    let disk = disk
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await disk.value(forKey: "key")
    }
    task.cancel()
    await #expect { try await task.value } throws: { ($0 as? CacheError)?.code == .cancelled }
  }

  @Test func `lets other tasks run now and then`() async throws {
    try disk.storeNow([1], forKey: "key")
    let (disk, executor) = (disk, CountingExecutor())
    let reads = Task(executorPreference: executor) {
      for _ in 0..<2_048 { _ = try await disk.value(forKey: "key") }
    }
    try await reads.value
    // Its beginning, and at least once after each 512 answers.
    #expect(executor.count.load(ordering: .relaxed) >= 5)
  }

  @Test func `of a closed cache throws`() async throws {
    let cache = try scene.open(.bytes) { $0.disk.extending = .lifetime }
    try await disk.close()
    try await cache.close()
    for call in [
      { _ = try await disk.value(forKey: "key") }, { _ = try await disk.contains("key") },
      { _ = try await cache.value(forKey: "key") }, { _ = try await cache.contains("key") },
    ] as [() async throws -> Void] {
      await #expect { try await call() } throws: { ($0 as? CacheError)?.code == .closed }
    }
  }

  @Test(.enabled(if: PromptGround.hasFlags))
  func `is tried again after a lack of descriptors`() async throws {
    let scene = try DiskScene()
    let disk = try scene.open(PromptGround.showDisk)
    try disk.storeNow([1], forKey: "key")
    scene.faults.plan(.errno(.tooManyOpenFiles), for: .openat2)
    #expect(try await disk.value(forKey: "key") == [1])
    #expect(counts(disk) == [0, 1])
    scene.faults.reset()
    #expect(disk.engine.location.handle.isPrompt)
    scene.faults.plan(.errno(.noSuchSystemCall), for: .openat2)
    #expect(try await disk.value(forKey: "key") == [1])
  }

  @Test func `is none of a directory that was moved away`() async throws {
    let scene = try DiskScene()
    let disk = try scene.open { $0.coherence = .events }
    try disk.storeNow([1], forKey: "key")
    _ = disk.engine.catchUp()
    disk.engine.startWatching()
    try FileManager.default.moveItem(atPath: scene.path, toPath: scene.path + "-aside")
    try eventually("the move to be known") {
      _ = disk.engine.catchUp()
      return disk.engine.isAstray
    }
    try FileManager.default.createDirectory(
      atPath: scene.path, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    #expect(try await !disk.contains("key"))
    #expect(try await disk.value(forKey: "key") == nil)
  }

  @Test func `is no read of a value that waits to be written`() async throws {
    let scene = try DiskScene()
    let disk = try scene.open { $0.writeBehindLimit = 1 << 20 }
    for number in 0..<100 {
      try disk.storeNow([UInt8(number)], forKey: "key")
      #expect(try await disk.value(forKey: "key") == [UInt8(number)])
    }
    try await disk.close()
  }

  @Test func `of both tiers promotes the value`() async throws {
    let scene = try DiskScene()
    let cache = try scene.open(.bytes)
    try await cache.store([1], forKey: "key")
    let read = try await reads(cache.disk) {
      cache.memory.removeAll()
      let value = try await cache.value(forKey: "key")
      #expect(value == [1])
    }
    #expect(read == [1, 0] && cache.memory.contains("key"))
    cache.memory.removeAll()
    #expect(try await cache.value(forKey: "key", options: .diskOnly) == [1])
    #expect(try await cache.contains("key") && !cache.memory.contains("key"))
    #expect(cache.statistics.hitCount >= 2)
    #expect(try await cache.value(forKey: "other") { [2] } == [2])
    #expect(cache.statistics.missCount == 1)
    try await cache.close()
  }
}

/// An executor that counts how often a task is given to it.
private final class CountingExecutor: TaskExecutor {
  let count = Atomic<Int>(0)

  func enqueue(_ job: consuming ExecutorJob) {
    count.add(1, ordering: .relaxed)
    let job = UnownedJob(job)
    do throws(Errno) {
      try startThread { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    } catch {
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
