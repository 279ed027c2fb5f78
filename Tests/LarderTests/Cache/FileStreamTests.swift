import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// Values that asynchronous closures write and read in pieces.
@Suite(.watched)
struct `A value in pieces` {
  let scene: DiskScene
  let cache: Cache<[UInt8]>

  struct Failure: Error, Equatable {}

  init() throws {
    scene = try DiskScene()
    cache = try scene.open(.bytes) { $0.disk.sizeLimit = 64 << 20 }
  }
}

extension `A value in pieces` {
  @Test func `is visible when the closure has ended, and not before`() async throws {
    try await cache.store([0], forKey: "k")
    let outcome = try await cache.store(forKey: "k", extendedData: [9]) { writer in
      try await writer.write([1, 2])
      #expect(try await cache.value(forKey: "k") == [0])
      try await writer.write([3])
    }
    #expect(outcome == .stored)
    let found = try await cache.read(forKey: "k")
    #expect(found?.value == [1, 2, 3] && found?.extendedData == [9])
    #expect(try await cache.value(forKey: "k") == [1, 2, 3])
    #expect(try scene.names == [scene.name("k").text])
  }

  @Test func `is stored by a closure that waits for nothing too, in both spellings`() async throws {
    func blocking() throws {
      try cache.store(forKey: "a") { stream in try stream.write([1]) }
      let sum = try cache.withFile(forKey: "a") { $0.byteCount }
      #expect(sum == 1)
    }
    try blocking()
    try await cache.store(forKey: "b") { stream in try stream.write([1, 2]) }
    let count = try await cache.withFile(forKey: "b") { $0.byteCount }
    #expect(count == 2)
    #expect(try await cache.value(forKey: "a") == [1])
    #expect(try await cache.value(forKey: "b") == [1, 2])
  }

  @Test func `is written no faster than the disk takes it`() async throws {
    let (cache, gate, written) = (cache, Gate(), Counter())
    // Waited for without holding a thread: the task that is to write may have no other.
    let reached = AsyncGate()
    let hold: @Sendable () -> Void = {
      reached.open()
      gate.pass()
    }
    scene.faults.plan(.before(hold), for: .write, at: 1)
    let task = Task {
      try await cache.disk.store(forKey: "k") { writer in
        for _ in 0..<10 {
          try await writer.write([UInt8](repeating: 7, count: 1 << 16))
          written.add()
        }
      }
    }
    await reached.wait()
    #expect(written.value == 0)
    gate.open()
    #expect(try await task.value == .stored)
    #expect(try await cache.disk.entry(forKey: "k")?.byteCount == 10 << 16)
  }

  @Test func `says how long it is valid, and what is beside it, while it comes`() async throws {
    try await cache.store(forKey: "k", expiration: .days(1), extendedData: [1]) { writer in
      writer.setExpiration(.seconds(60))
      writer.setExtendedData([2, 3])
    }
    let found = try await cache.read(forKey: "k")
    #expect(found?.value == [] && found?.extendedData == [2, 3])
    #expect(found?.expiry == scene.clock.now.adding(seconds: 60))
    let count = try await cache.withFile(forKey: "l") {
      $0.byteCount
    } orStore: { writer in
      writer.setExtendedData([4])
      try await writer.write([1, 2])
    }
    #expect(count == 2)
    #expect(try await cache.read(forKey: "l")?.extendedData == [4])
  }

  @Test func `that fails leaves nothing, and takes the older value with it`() async throws {
    for tier in [CacheTier.memory, .disk] {
      try await cache.store([0], forKey: "k")
      if tier == .disk { cache.memory.removeAll() }
      let error = await #expect(throws: CacheError.self) {
        try await cache.store(forKey: "k") { writer in
          try await writer.write([1, 2])
          throw Failure()
        }
      }
      #expect(error?.code == .callerFailed && error?.oldValueRemains == false)
      #expect(try await cache.value(forKey: "k") == nil)
      #expect(try scene.names == [])
    }
  }

  @Test func `whose task is cancelled leaves nothing, and takes the older value with it`()
    async throws
  {
    let (cache, started) = (cache, AsyncGate())
    try await cache.store([0], forKey: "k")
    let task = Task {
      try await cache.store(forKey: "k") { writer in
        try await writer.write([1, 2])
        started.open()
        while true { try await writer.write([3]) }
      }
    }
    await started.wait()
    task.cancel()
    let error = await #expect(throws: CacheError.self) { try await task.value }
    #expect(error?.code == .cancelled && error?.oldValueRemains == false)
    #expect(try await cache.value(forKey: "k") == nil)
    #expect(try scene.names == [])
  }

  @Test func `whose task was cancelled before it began leaves the older value`() async throws {
    let (cache, gate) = (cache, AsyncGate())
    try await cache.store([0], forKey: "k")
    let task = Task {
      await gate.wait()
      try await cache.store(forKey: "k") { _ in Issue.record("the closure ran") }
    }
    task.cancel()
    gate.open()
    let error = await #expect(throws: CacheError.self) { try await task.value }
    #expect(error?.code == .cancelled && error?.oldValueRemains == true)
    #expect(try await cache.value(forKey: "k") == [0])
  }

  @Test func `whose closure swallows a failed write is not stored`() async throws {
    scene.faults.plan(.errno(.ioError), for: .write, at: 1)
    let failures = Counter()
    let error = await #expect(throws: CacheError.self) {
      try await cache.store(forKey: "k") { writer in
        for byte: UInt8 in 1...2 {
          do { try await writer.write([byte]) } catch { failures.add() }
        }
      }
    }
    #expect(failures.value == 2)
    #expect(error?.code == .io)
    #expect(try scene.names == [])
  }

  @Test func `whose closure swallows a cancelled write is not stored`() async throws {
    let (cache, failures) = (cache, Counter())
    let task = Task {
      try await cache.store(forKey: "k") { writer in
        try await writer.write([1])
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        do { try await writer.write([2]) } catch { failures.add() }
      }
    }
    await #expect { try await task.value } throws: { ($0 as? CacheError)?.code == .cancelled }
    #expect(failures.value == 1)
    #expect(try scene.names == [])
  }

  @Test func `that is too large, or has too much beside it, is not stored`() async throws {
    let large = try await cache.store(forKey: "k") { writer in
      for _ in 0..<65 { try await writer.write([UInt8](repeating: 7, count: 1 << 20)) }
    }
    #expect(large == .rejected(.tooLarge))
    let expired = try await cache.store(forKey: "k") { $0.setExpiration(.expired) }
    #expect(expired == .rejected(.expired))
    let unwanted = try await cache.store(forKey: "k", expiration: .expired) {
      (_: EntryFileWriter) in
      Issue.record("the closure ran")
    }
    #expect(unwanted == .rejected(.expired))
    let error = await #expect(throws: CacheError.self) {
      try await cache.store(forKey: "k") {
        $0.setExtendedData([UInt8](repeating: 7, count: 1025))
      }
    }
    #expect(error?.code == .invalidArgument)
    #expect(try scene.names == [])
  }

  @Test func `is read in pieces, and to the end though it is removed meanwhile`() async throws {
    let value = (0..<600 << 10).map { UInt8(truncatingIfNeeded: $0 / 256) }
    try await cache.store(value, forKey: "k", extendedData: [9])
    for _ in 0..<2 {
      let read = try await cache.withFile(forKey: "k") { file in
        #expect(file.byteCount == value.count && file.extendedData == [9])
        var pieces = [try await file.read(upTo: 1000)]
        #expect(pieces[0].count == 1000)
        for try await piece in file { pieces.append(piece) }
        #expect(pieces.dropFirst().allSatisfy { $0.count <= 256 << 10 } && pieces.count == 4)
        #expect(try await file.read().isEmpty)
        return Array(pieces.joined())
      }
      #expect(read == value)
    }
    let read = try await cache.disk.withFile(forKey: "k") { file in
      try await cache.remove(forKey: "k")
      return try await file.read(upTo: 2)
    }
    #expect(read == [0, 0])
    let none = try await cache.withFile(forKey: "k") { (_: EntryFileReader) in
      Issue.record("the closure ran")
    }
    #expect(none == nil)
  }

  @Test func `that was cut short is an error, and none is read when the closure has ended`()
    async throws
  {
    try await cache.store([UInt8](repeating: 7, count: 100), forKey: "k")
    let kept = Shared<EntryFileReader?>(nil)
    let path = scene.file("k")
    let error = await #expect(throws: CacheError.self) {
      try await cache.withFile(forKey: "k") { file in
        kept.value = file
        #expect(try await file.read(upTo: 10).count == 10)
        try Shell.run("truncate -s 50 \(path)", in: "/")
        for try await _ in file {}
      }
    }
    #expect(error?.code == .io)
    let late = try #require(kept.value)
    let closed = await #expect(throws: CacheError.self) { try await late.read() }
    #expect(closed?.code == .closed)
  }

  @Test func `that waits to be written is read from memory, with what is beside it`() async throws {
    let scene = try DiskScene()
    let cache = try scene.open {
      $0.sizeLimit = 64 << 20
      $0.writeBehindLimit = 1000
    }
    let file = try await cache.withFile(forKey: "none") { try await $0.read() }
    #expect(file == nil)
    try await cache.store([1, 2], forKey: "k", extendedData: [9])
    let found = try await cache.withFile(forKey: "k") { file in
      (try await file.read(), file.extendedData)
    }
    #expect(found?.0 == [1, 2] && found?.1 == [9])
    try await cache.close()
  }

  @Test func `that a load brings is lent to an asynchronous closure too`() async throws {
    let read = try await cache.withFile(forKey: "k") { file in
      try await file.read()
    } orStore: { writer in
      try await writer.write([1, 2])
    }
    #expect(read == [1, 2])
  }
}
