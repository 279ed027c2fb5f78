import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

@Suite(.watched)
struct CooperativePoolTests {
  /// More than twice the threads of Swift's pool, so that reads on its threads would block all of
  /// them.
  private let count = 2 * ProcessInfo.processInfo.activeProcessorCount + 2
}

extension CooperativePoolTests {
  @Test func `more reads than cores wait for the disk, and unrelated tasks still run`() async throws
  {
    let scene = try DiskScene()
    let cache = try cache(in: scene)
    for number in 0..<count { try await cache.store("\(number)", forKey: "\(number)") }
    cache.memory.removeAll()
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .openat, onwards: true)
    let reads = (0..<count).map { number in
      Task { try await cache.value(forKey: "\(number)") }
    }
    await allAtGate(gate)
    #expect(scene.faults.struckCount == count)
    // If the reads were on threads of the pool, none of these tasks would begin.
    let sum = await withTaskGroup(of: Int.self) { group in
      for number in 0..<100 {
        group.addTask {
          await Task.yield()
          return number
        }
      }
      return await group.reduce(0, +)
    }
    #expect(sum == 4_950)
    gate.open()
    for (number, read) in reads.enumerated() { #expect(try await read.value == "\(number)") }
  }

  @Test func `a hit in memory is answered while every thread of the cache is held`() async throws {
    let scene = try DiskScene()
    let cache = try cache(in: scene)
    try await cache.store("value", forKey: "key")
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .openat, onwards: true)
    let reads = (0..<count).map { number in
      Task { try await cache.value(forKey: "absent \(number)") }
    }
    await allAtGate(gate)
    #expect(try await cache.value(forKey: "key") == "value")
    gate.open()
    for read in reads { #expect(try await read.value == nil) }
  }

  private struct Failure: Error {}

  private typealias Use = @Sendable (Cache<[UInt8]>) async throws -> Void

  /// The asynchronous operations, also those that fail and those whose files no caller keeps.
  private static let uses: [String: Use] = [
    "store": { try await $0.store([1], forKey: "k") },
    "value": {
      $0.memory.removeAll()
      _ = try await $0.value(forKey: "k")
    },
    "remove": { try await $0.remove(forKey: "k") },
    "removeAll": { try await $0.removeAll() },
    "removeExpired": { try await $0.removeExpired() },
    "tier": { _ = try await $0.tier(forKey: "k") },
    "trim": { try await $0.trim(toCount: 0) },
    "flush": { try await $0.flush() },
    "close": { try await $0.close() },
    "batches": {
      await $0.store(contentsOf: [(key: "k", value: [1])])
      _ = await $0.values(forKeys: ["k"])
      await $0.remove(forKeys: ["k"])
    },
    "load": { _ = try await $0.value(forKey: "new") { [1] } },
    "failing load": { _ = try? await $0.value(forKey: "new") { throw Failure() } },
    "revalidation": {
      _ = try await $0.value(forKey: "new") { _ in .value([1]) }
    },
    "read": { _ = try await $0.disk.read(forKey: "k") },
    "entries": { _ = try await $0.disk.entries() },
    "verify": { _ = try await $0.disk.verify(repairs: true) },
    "lent file": { _ = try await $0.withFile(forKey: "k") { $0.byteCount } },
    "lent reader": {
      _ = try await $0.withFile(forKey: "k") { (file: EntryFileReader) in try await file.read() }
    },
    "stream": { try await $0.store(forKey: "k") { try await $0.write([1]) } },
    "failing stream": {
      _ = try? await $0.store(forKey: "k") {
        try await $0.write([1])
        throw Failure()
      }
    },
    "stream with too much data": {
      _ = try? await $0.store(forKey: "k") {
        try await $0.write([1])
        $0.setExtendedData([UInt8](repeating: 1, count: 2_000))
      }
    },
    "load of a file": {
      _ = try await $0.withFile(forKey: "new", { $0.byteCount }) { try await $0.write([1]) }
    },
    "failing load of a file": {
      _ = try? await $0.withFile(forKey: "new", { $0.byteCount }) {
        try await $0.write([1])
        throw Failure()
      }
    },
    "cancelled load of a file": { cache in
      let task = Task {
        try await cache.withFile(forKey: "new", { $0.byteCount }) {
          try await $0.write([1])
          unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
          try await $0.write([1])
        }
      }
      _ = await task.result
    },
  ]

  @Test(arguments: uses.keys.sorted()) func `no task makes a system call that may wait`(
    name: String
  ) async throws {
    let scene = try DiskScene()
    // A durable cache writes to temporaries with names, which their end removes.
    let cache = try scene.open(.bytes) {
      $0.disk.durability = .durable
      PromptGround.showDisk(&$0.disk)
    }
    try await cache.store([1], forKey: "k")
    let calls = Shared<Set<SystemCall>>([])
    for call in SystemCall.allCases {
      let note: @Sendable () -> Void = {
        if unsafe withUnsafeCurrentTask(body: { unsafe $0 != nil }) {
          calls.change { $0.insert(call) }
        }
      }
      scene.faults.plan(.before(note), for: call, onwards: true)
    }
    try await Self.uses[name]?(cache)
    #expect(calls.value.isSubset(of: [.openat2, .cachestat, .preadv2, .fstat]))
    #expect(try scene.names.allSatisfy { !$0.hasPrefix(".larder") })
  }

  @Test func `a task that prefers the cache's threads runs on as many as there are`() async throws {
    let scene = try DiskScene()
    let disk = try scene.open { $0.threadCount = 2 }
    let counts = Shared((running: 0, most: 0))
    let tasks = (0..<8).map { number in
      Task(executorPreference: disk.taskExecutor) {
        counts.change { $0 = ($0.running + 1, max($0.most, $0.running + 1)) }
        for _ in 0..<100 { sched_yield() }
        counts.change { $0.running -= 1 }
        await Task.yield()
        return try await disk.contains("\(number)")
      }
    }
    for task in tasks { #expect(try await !task.value) }
    #expect((1...2).contains(counts.value.most))
  }

  @Test func `a lent file is closed by the cache's threads`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      let cache = try scene.open { $0.threadCount = 1 }
      try await cache.store([1], forKey: "k")
      let (gate, closed) = (Gate(), Happening())
      let name = scene.name("k").text
      _ = try await cache.withFile(forKey: "k") { (file: EntryFileReader) in
        cache.executor.submit { gate.pass() }
      }
      #expect(OpenResources.descriptors(of: name).count == 1)
      gate.open()
      #expect(closed.wait { OpenResources.descriptors(of: name).isEmpty })
    }
  }

  @Test func `an open file is closed by the cache's threads when its reader is gone`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      let cache = try scene.open { $0.threadCount = 1 }
      try await cache.store([1], forKey: "k")
      let (gate, closed) = (Gate(), Happening())
      let name = scene.name("k").text
      var reader = try await cache.openFile(forKey: "k")
      #expect(try await reader?.read() == [1])
      cache.executor.submit { gate.pass() }
      reader = nil
      #expect(OpenResources.descriptors(of: name).count == 1)
      gate.open()
      #expect(closed.wait { OpenResources.descriptors(of: name).isEmpty })
    }
  }

  private func cache(in scene: DiskScene) throws -> Cache<String> {
    var configuration = CacheConfiguration()
    configuration.disk.clock = scene.clock.wallClock
    configuration.disk.faults = scene.faults
    // Of which nothing is known, so that no task reads itself.
    scene.faults.simulate(FileSystemKind(name: "overlay", isNetwork: false))
    // Without a limit, only the reads open files.
    configuration.disk.sizeLimit = nil
    configuration.disk.threadCount = count
    return try Cache(directory: scene.path, coder: .string, configuration: configuration)
  }

  /// Waits, on a new thread, until all reads are at the gate.
  private func allAtGate(_ gate: Gate) async {
    await withCheckedContinuation { continuation in
      do {
        try startThread { [count] in
          for _ in 0..<count { gate.waitUntilReached() }
          continuation.resume()
        }
      } catch {
        Issue.record(error)
        continuation.resume()
      }
    }
  }
}
