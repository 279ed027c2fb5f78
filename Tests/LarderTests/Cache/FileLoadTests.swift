import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// Loads that write a file, which all waiting callers borrow.
@Suite(.watched)
struct `A load of a file` {
  let scene: DiskScene
  let cache: Cache<[UInt8]>

  struct Failure: Error, Equatable {}

  init() throws {
    scene = try DiskScene()
    cache = try scene.open(.bytes) { $0.disk.sizeLimit = 64 << 20 }
  }

  private static func content(of file: borrowing EntryFile) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: file.byteCount)
    _ = try file.read(into: &bytes)
    return bytes
  }

  private var isEmptyFolder: Bool { get throws { try scene.names == [] } }
}

extension `A load of a file` {
  @Test func `that finds the disk full is counted once as an error`() async throws {
    let scene = try DiskScene()
    let cache = try scene.open(.bytes)
    scene.faults.plan(.errno(.noSpace), for: .write, onwards: true)
    await #expect(throws: CacheError.self) {
      try await cache.withFile(forKey: "key", { $0.byteCount }) { try await $0.write([1]) }
    }
    #expect(cache.statistics.disk.errors == [.noSpace: 1])
  }

  @Test func `runs once, and lends the file to all who wait`() async throws {
    let (cache, gate, loads) = (cache, AsyncGate(), Counter())
    let tasks = (0..<20).map { _ in
      Task {
        try await cache.withFile(forKey: "k", extendedData: [9]) { file in
          try Self.content(of: file)
        } orStore: { writer in
          loads.add()
          try await writer.write([1, 2])
          await gate.wait()
          try await writer.write([3])
        }
      }
    }
    while cache.fileFlights.waiterCount < 20 { await Task.yield() }
    #expect(try await cache.value(forKey: "k") == nil)
    gate.open()
    for task in tasks { #expect(try await task.value == [1, 2, 3]) }
    #expect(loads.value == 1)
    #expect(try await cache.read(forKey: "k")?.extendedData == [9])
    let again = try await cache.withFile(forKey: "k") {
      $0.byteCount
    } orStore: { _ in
      throw Failure()
    }
    #expect(again == 3)
    // Known from the check of a file that is met for the first time, read from one that is trusted.
    let data = try await cache.disk.withFile(forKey: "k") { $0.extendedData }
    #expect(data == [9])
  }

  @Test func `asks for no data of a value that is known to have none`() async throws {
    try await cache.disk.store([1], forKey: "k")
    scene.faults.plan(.errno(.ioError), for: .fgetxattr)
    let data = try await cache.disk.withFile(forKey: "k") { $0.extendedData }
    #expect(data == [] && scene.faults.struckCount == 0)
    scene.faults.reset()
  }

  @Test func `leaves nothing where it throws`() async throws {
    await #expect(throws: Failure.self) {
      try await cache.withFile(forKey: "k") {
        $0.byteCount
      } orStore: { writer in
        try await writer.write([1, 2])
        throw Failure()
      }
    }
    #expect(try isEmptyFolder)
  }

  @Test func `is counted where its file cannot be made`() async throws {
    let before = scene.faults.count(of: .openat)
    func load() async throws {
      try await cache.withFile(forKey: "k") { _ in
      } orStore: { _ in
        throw Failure()
      }
    }
    await #expect(throws: Failure.self) { try await load() }
    // The last file that was opened is the one to be written.
    scene.faults.plan(
      .errno(.ioError), for: .openat, at: scene.faults.count(of: .openat) - before)
    await #expect(throws: CacheError.self) { try await load() }
    #expect(cache.statistics.disk.errors == [.ioError: 1])
  }

  @Test func `is cancelled with the last who waits, and leaves nothing`() async throws {
    let (cache, started) = (cache, AsyncGate())
    let task = Task {
      try await cache.withFile(forKey: "k") {
        $0.byteCount
      } orStore: { writer in
        try await writer.write([1, 2])
        started.open()
        while true { try await writer.write([3]) }
      }
    }
    await started.wait()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await eventually("the end of the load") { () async in
      cache.fileFlights.statistics.failed == 1
    }
    #expect(try isEmptyFolder)
  }

  @Test func `lends what the third load has written, after two whose key was removed`() async throws
  {
    let (cache, loads) = (cache, Counter())
    let count = try await cache.withFile(forKey: "k") {
      $0.byteCount
    } orStore: { writer in
      loads.add()
      if loads.value < 3 { _ = try await cache.remove(forKey: "k") }
      try await writer.write([1, 2])
    }
    #expect(count == 2 && loads.value == 3)
  }

  @Test func `waits for the disk with every piece`() async throws {
    let (cache, gate, written) = (cache, Gate(), Counter())
    // Waited for without holding a thread: the task that is to write may have no other.
    let reached = AsyncGate()
    let hold: @Sendable () -> Void = {
      reached.open()
      gate.pass()
    }
    scene.faults.plan(.before(hold), for: .write, at: 1)
    let task = Task {
      try await cache.withFile(forKey: "k") {
        $0.byteCount
      } orStore: { writer in
        for _ in 0..<10 {
          try await writer.write([UInt8](repeating: 7, count: 1 << 16))
          written.add()
        }
      }
    }
    await reached.wait()
    #expect(written.value == 0)
    gate.open()
    #expect(try await task.value == 10 << 16)
  }

  @Test func `is told where the cache does not take what it wrote`() async throws {
    await #expect {
      try await cache.withFile(forKey: "k") {
        $0.byteCount
      } orStore: { writer in
        for _ in 0..<65 { try await writer.write([UInt8](repeating: 7, count: 1 << 20)) }
      }
    } throws: {
      ($0 as? CacheError)?.code == .notCached
    }
    #expect(try isEmptyFolder)
  }

  @Test(arguments: [
    (StoreOutcome.Reason.tooLarge, 200, nil as Expiration?), (.expired, 1, .expired),
    (.expired, 1, .seconds(0)), (.declined, 50, nil),
  ])
  func `runs once where what it wrote is rejected, and says why`(
    reason: StoreOutcome.Reason, byteCount: Int, expiration: Expiration?
  ) async throws {
    let (scene, loads) = (try DiskScene(), Counter())
    let cache = try scene.open(.bytes) {
      $0.disk.sizeLimit = 100
      $0.disk.shouldStore = { _, byteCount in byteCount < 50 }
    }
    let error = await #expect(throws: CacheError.self) {
      try await cache.withFile(forKey: "k") {
        $0.byteCount
      } orStore: { writer in
        loads.add()
        if let expiration { writer.setExpiration(expiration) }
        try await writer.write([UInt8](repeating: 7, count: byteCount))
      }
    }
    #expect(loads.value == 1)
    #expect(error?.code == .notCached)
    #expect(error?.underlying == "rejected: \(reason)")
  }

  @Test(arguments: ["sizeLimit", "countLimit"], [false, true])
  func `does not run where a limit of 0 rejects each value`(
    limit: String, isAsynchronous: Bool
  ) async throws {
    let (scene, loads) = (try DiskScene(), Counter())
    let cache = try scene.open(.bytes) {
      if limit == "sizeLimit" { $0.disk.sizeLimit = 0 } else { $0.disk.countLimit = 0 }
    }
    let load: @Sendable (EntryFileWriter) async throws -> Void = { writer in
      loads.add()
      try await writer.write([1])
    }
    let error = await #expect(throws: CacheError.self) {
      if isAsynchronous {
        let read = { (file: EntryFileReader) async throws in file.byteCount }
        _ = try await cache.withFile(forKey: "k", read, orStore: load)
      } else {
        _ = try await cache.withFile(forKey: "k", { $0.byteCount }, orStore: load)
      }
    }
    #expect(error?.code == .notCached)
    #expect(error?.underlying == "rejected: \(StoreOutcome.Reason.tooLarge)")
    #expect(loads.value == 0)
    #expect(try scene.names == [])
    // While a load of a value gives what it has loaded.
    #expect(try await cache.value(forKey: "k") { [1] } == [1])
    #expect(try await cache.tier(forKey: "k") == nil)
    try await cache.close()
  }

  @Test(arguments: ["memoryCostLimit", "memoryCountLimit"])
  func `runs once where memory has a limit of 0`(limit: String) async throws {
    let (scene, loads) = (try DiskScene(), Counter())
    let cache = try scene.open(.bytes) {
      if limit == "memoryCostLimit" { $0.memoryCostLimit = 0 } else { $0.memoryCountLimit = 0 }
    }
    for _ in 1...2 {
      let bytes = try await cache.withFile(forKey: "k") {
        try Self.content(of: $0)
      } orStore: { writer in
        loads.add()
        try await writer.write([1])
      }
      #expect(bytes == [1])
      #expect(try await cache.value(forKey: "k") == [1])
      #expect(try await cache.tier(forKey: "k") == .disk)
    }
    #expect(loads.value == 1)
    try await cache.close()
  }

  /// A file that is there and that no read serves.
  enum Unserved: String, Sendable, CaseIterable {
    case unproven, unreadable, damaged

    var fileSystem: FileSystemKind? {
      // Elsewhere a damaged file is removed.
      self == .damaged ? FileSystemKind(name: "nfs", isNetwork: true) : nil
    }
  }

  @Test(arguments: Unserved.allCases)
  func `runs where there is a file that no read serves`(unserved: Unserved) async throws {
    let scene = try DiskScene()
    func open() throws -> Cache<[UInt8]> {
      try scene.open(.bytes) {
        $0.disk.fileSystem = unserved.fileSystem
        $0.disk.requireProof = unserved == .unproven
      }
    }
    let earlier = try open()
    if unserved == .unproven { scene.faults.plan(.errno(.notSupported), for: .fsetxattr) }
    try await earlier.store([1], forKey: "k")
    if unserved == .damaged { try scene.damage("k", to: [9]) }
    try await earlier.close()
    let cache = try open()
    if unserved == .unreadable {
      scene.faults.plan(.errno(.ioError), for: .read, onwards: true)
    }
    let bytes = try await cache.withFile(forKey: "k") {
      try Self.content(of: $0)
    } orStore: { writer in
      scene.faults.reset()
      try await writer.write([2])
    }
    #expect(bytes == [2])
    // A miss, by the caller's first look.
    #expect(cache.statistics.hitRate == 0)
    #expect(try await cache.value(forKey: "k") == [2])
  }

  @Test func `gives way to what was stored meanwhile`() async throws {
    let cache = cache
    let bytes = try await cache.withFile(forKey: "k") { file in
      try Self.content(of: file)
    } orStore: { writer in
      try await writer.write([1])
      try await cache.store([2, 2], forKey: "k")
    }
    #expect(bytes == [2, 2])
    #expect(try await cache.value(forKey: "k") == [2, 2])
  }

  @Test func `writes no more when it has ended`() async throws {
    let writers = Shared<EntryFileWriter?>(nil)
    _ = try await cache.withFile(forKey: "k") {
      $0.byteCount
    } orStore: { writer in
      try await writer.write([1])
      writers.value = writer
    }
    let writer = try #require(writers.value)
    await #expect {
      try await writer.write([2])
    } throws: {
      ($0 as? CacheError)?.code == .closed
    }
    #expect(try await cache.value(forKey: "k") == [1])
  }
}
