import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// Closures of callers that take long, as those that copy to a slow socket do.
@Suite(.watched)
struct `A closure that takes long` {
  private let scene: DiskScene
  private let cache: Cache<[UInt8]>
  /// Holds the closures.
  private let gate = Gate()
  private let heldCount = Counter()
  /// More closures than the cache has threads.
  private let count = 6

  private typealias Use =
    @Sendable (Cache<[UInt8]>, _ hold: @escaping @Sendable () -> Void)
    async throws -> Void

  private static let uses: [String: Use] = [
    "withFile": { cache, hold in _ = try await cache.withFile(forKey: "k") { _ in hold() } },
    "withFile orStore": { cache, hold in
      try await cache.withFile(forKey: "k") { _ in
        hold()
      } orStore: { _ in
      }
    },
    "store": { cache, hold in
      try await cache.store(forKey: "new") { (stream: inout EntryStream) in hold() }
    },
    "removeAll where": { cache, hold in
      _ = try await cache.removeAll {
        if $0.key == "k" { hold() }
        return false
      }
    },
    "verify": { cache, hold in _ = try await cache.disk.verify { _, _ in hold() } },
  ]

  init() throws {
    scene = try DiskScene()
    cache = try scene.open(.bytes) { $0.disk.threadCount = 2 }
  }
}

extension `A closure that takes long` {
  /// Begins as many closures as `count`, and returns when all are held.
  private func begin(_ name: String) async throws -> [Task<Void, any Error>] {
    let (cache, gate, heldCount) = (cache, gate, heldCount)
    try await cache.store([1, 2], forKey: "k")
    let use = try #require(Self.uses[name])
    let tasks = (0..<count).map { _ in
      Task {
        try await use(cache) {
          heldCount.add()
          gate.pass()
        }
      }
    }
    try await eventually("all closures to run") { () async in heldCount.value == count }
    return tasks
  }

  @Test(arguments: uses.keys.sorted()) func `delays no other call`(name: String) async throws {
    defer { gate.open() }
    let tasks = try await begin(name)
    #expect(try await cache.value(forKey: "other") { [3] } == [3])
    let byteCount = try await cache.withFile(forKey: "third") { (file: EntryFileReader) in
      file.byteCount
    } orStore: {
      try await $0.write([4])
    }
    #expect(byteCount == 1)
    gate.open()
    for task in tasks { try await task.value }
  }

  @Test func `is waited for by a caller that is cancelled meanwhile`() async throws {
    defer { gate.open() }
    let tasks = try await begin("withFile")
    for task in tasks { task.cancel() }
    gate.open()
    for task in tasks { try await task.value }
  }

  @Test func `does not begin for a caller that is cancelled while its file is opened`()
    async throws
  {
    try await cache.store([1, 2], forKey: "k")
    let (cache, gate, begun) = (cache, gate, heldCount)
    defer { gate.open() }
    let openCount = scene.faults.count(of: .openat)
    scene.faults.plan(.before { gate.pass() }, for: .openat)
    let task = Task { try await cache.withFile(forKey: "k") { _ in begun.add() } }
    try await eventually("the file to be opened") { () async in
      scene.faults.count(of: .openat) > openCount
    }
    task.cancel()
    let error = await #expect(throws: CacheError.self) { try await task.value }
    #expect(error?.code == .cancelled && begun.value == 0)
  }

  @Test func `begins after its file was opened, and what throws leaves neither`() async throws {
    struct Failure: Error {}
    try await cache.store([1, 2], forKey: "closes")
    await #expect(throws: Failure.self) {
      try await cache.withFile(forKey: "closes") { _ in throw Failure() }
    }
    let error = await #expect(throws: CacheError.self) {
      try await cache.store(forKey: "closes") { (stream: inout EntryStream) in
        try stream.write([3])
        throw Failure()
      }
    }
    #expect(error?.code == .callerFailed)
    #expect(try scene.names == [])
    #expect(OpenResources.descriptors(of: scene.name("closes").text).isEmpty)
  }
}
