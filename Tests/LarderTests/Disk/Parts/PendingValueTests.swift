import LarderTestSupport
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// The result of each operation while a value waits to be written. The writer is blocked, so that
/// only the operation itself writes to the disk.
@Suite(.watched)
struct `Beside a pending value` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `Beside a pending value` {
  private func open(_ change: (inout DiskCache.Configuration) -> Void = { _ in }) throws
    -> DiskCache
  {
    let cache = try scene.open {
      $0.writeBehindLimit = 1 << 20
      change(&$0)
    }
    cache.blockWriter()
    return cache
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let answer: String
    let operation: @Sendable (DiskCache) throws -> String

    init(
      _ name: String, _ answer: String,
      _ operation: @escaping @Sendable (DiskCache) throws -> String
    ) {
      testDescription = name
      self.answer = answer
      self.operation = operation
    }
  }

  /// The operations that are answered from memory. They write nothing and wait for nothing.
  private static let readers = [
    Row("value", "[1, 2]") { "\(try $0.value(forKey: "k") ?? [])" },
    Row("read", "[1, 2] [9] 1") {
      let found = try $0.read(forKey: "k")
      return "\(found?.value ?? []) \(found?.extendedData ?? []) \(found?.expiry == nil ? 0 : 1)"
    },
    Row("withFile", "[1, 2] of 2, [9]") { cache in
      try cache.withFile(forKey: "k") { file in
        var bytes: [UInt8] = [0, 0]
        _ = try file.read(into: &bytes)
        return "\(bytes) of \(file.byteCount), \(file.extendedData)"
      } ?? "none"
    },
    Row("contains", "true") { "\(try $0.contains("k"))" },
    Row("entry", "k, 2 bytes, 0 allocated, [9]") {
      guard let entry = try $0.entry(forKey: "k") else { return "none" }
      let key = entry.key == CacheKey("k") ? "k" : "?"
      return "\(key), \(entry.byteCount) bytes, \(entry.allocatedByteCount) allocated, "
        + "\(entry.extendedData)"
    },
    Row("remove", "true, then []") {
      "\(try $0.remove(forKey: "k")), then \(try $0.value(forKey: "k") ?? [])"
    },
    Row("removeAll", "1 removed, then []") {
      "\(try $0.removeAll().removed) removed, then \(try $0.value(forKey: "k") ?? [])"
    },
  ]

  /// The operations that report on the directory, and therefore write the value first.
  private static let writers = [
    Row("count", "1") { "\(try $0.count())" },
    Row("totalSize", "2") { "\(try $0.totalSize())" },
    Row("entries", "[2]") { "\(try $0.entries().map(\.byteCount))" },
    Row("survey", "1") { "\(try $0.survey().entryCount)" },
    Row("verify", "1 whole") {
      let verification = try $0.verify()
      return "\(verification.checkedCount) whole"
    },
    Row("flush", "[1, 2]") {
      try $0.flush()
      return "\(try $0.value(forKey: "k") ?? [])"
    },
    Row("stamp", "true") {
      let outcome = try $0.stamp(DiskScene.name(of: Array("k".utf8)).description)
      if case .stamped = outcome { return "true" }
      return "\(outcome)"
    },
    Row("trim", "1") { "\(try $0.trim(toCount: 0).removed)" },
  ]

  @Test(arguments: readers, [false, true])
  func `a read or removal answers from it and writes nothing`(row: Row, isOver: Bool) throws {
    let cache = try open()
    if isOver {
      try cache.store([0], forKey: "k")
      try cache.flush()
    }
    #expect(try cache.store([1, 2], forKey: "k", extendedData: [9]) == .pending)
    let written = scene.faults.count(of: .futimens)
    #expect(try row.operation(cache) == row.answer)
    #expect(scene.faults.count(of: .futimens) == written)
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test(arguments: writers, [false, true])
  func `what tells of the directory writes it first`(row: Row, isOver: Bool) throws {
    let cache = try open()
    if isOver {
      try cache.store([0], forKey: "k")
      try cache.flush()
    }
    #expect(try cache.store([1, 2], forKey: "k", extendedData: [9]) == .pending)
    #expect(try row.operation(cache) == row.answer)
    #expect(cache.withBacklog { $0.isEmpty })
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `a file of it that cannot be made in memory is an error`() throws {
    let cache = try open()
    try cache.store([1], forKey: "k")
    scene.faults.plan(.errno(.tooManyOpenFiles), for: .open)
    let error = #expect(throws: CacheError.self) {
      try cache.withFile(forKey: "k") { $0.byteCount }
    }
    #expect(error?.code == .resourcesExhausted)
    #expect(try cache.withFile(forKey: "k") { $0.byteCount } == 1)
    try cache.close()
  }

  @Test func `a store only where there is none finds it there`() throws {
    let cache = try open()
    try cache.store([1], forKey: "k")
    #expect(try cache.storeIfAbsent([2], forKey: "k") == .rejected(.alreadyPresent))
    #expect(try cache.value(forKey: "k") == [1])
    try cache.close()
  }

  @Test(arguments: [false, true])
  func `one that has expired is a miss, and so is what it replaced`(isExclusive: Bool) throws {
    let cache = try open()
    try cache.store([0], forKey: "k", expiration: .never)
    try cache.flush()
    try cache.store([1], forKey: "k", expiration: .seconds(10))
    scene.clock.advance(by: .seconds(11))
    #expect(try cache.value(forKey: "k") == nil)
    #expect(try !cache.contains("k"))
    #expect(try cache.entry(forKey: "k") == nil)
    #expect(cache.statistics.misses[.expired] == 1)
    if isExclusive {
      #expect(try cache.storeIfAbsent([2], forKey: "k") == .stored)
      #expect(try cache.value(forKey: "k") == [2])
    } else {
      try cache.flush()
      #expect(try cache.value(forKey: "k") == nil)
    }
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `a use counts, and reaches the disk with the value`() throws {
    let cache = try open()
    for key in ["a", "b"] { try cache.store([1], forKey: key, expiration: .days(1)) }
    scene.clock.advance(by: .seconds(3600))
    let expiry = try cache.read(forKey: "a")?.expiry
    #expect(expiry == scene.clock.now.adding(seconds: 86_400))
    #expect(try cache.entry(forKey: "a")?.expiry == expiry)
    try cache.flush()
    #expect(try scene.status(scene.name("a")).modification == expiry)
    #expect(try scene.status(scene.name("a")).lastAccess >= scene.clock.now)
    #expect(cache.statistics.hits == 1)
    try cache.trim(toCount: 1)
    #expect(try cache.contains("a"))
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `a use while it is being written reaches the disk after it`() throws {
    let cache = try open()
    try cache.store([1], forKey: "k", expiration: .days(1))
    let use: @Sendable () -> Void = { [scene] in
      scene.clock.advance(by: .seconds(3600))
      do {
        _ = try cache.value(forKey: "k")
      } catch {
        Issue.record(error)
      }
    }
    // The file has its stamps by then.
    scene.faults.plan(.before(use), for: .linkat, at: 1)
    try cache.flush()
    let status = try scene.status(scene.name("k"))
    #expect(status.modification == scene.clock.now.adding(seconds: 86_400))
    #expect(status.lastAccess >= scene.clock.now)
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `a removal that fails leaves it, and not the older value`() throws {
    let cache = try open()
    try cache.store([0], forKey: "k")
    try cache.flush()
    try cache.store([1], forKey: "k")
    scene.faults.plan(.errno(.ioError), for: .unlinkat, at: 1)
    #expect(throws: CacheError.self) { try cache.remove(forKey: "k") }
    #expect(try cache.value(forKey: "k") == [1])
    scene.faults.plan(.errno(.ioError), for: .unlinkat, at: 1)
    #expect(try cache.removeAll().failed == 1)
    #expect(try cache.value(forKey: "k") == [1])
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `a removal of everything counts it once, with the file that it was to replace`() throws
  {
    let cache = try open()
    try cache.store([0], forKey: "over a file")
    try cache.flush()
    try cache.store([1], forKey: "over a file")
    try cache.store([2], forKey: "alone")
    #expect(try cache.removeAll().removed == 2)
    #expect(cache.statistics.removals[.explicit] == 2)
    try scene.expectConsistent(cache)
    #expect(try scene.names.isEmpty)
    try cache.close()
  }

  @Test func `no reader meets an older value, and memory keeps none`() throws {
    var configuration = CacheConfiguration()
    configuration.disk.writeBehindLimit = 1 << 20
    configuration.disk.faults = scene.faults
    let cache = try Cache(directory: scene.path, coder: .string, configuration: configuration)
    try cache.store("0", forKey: "k")
    try cache.flush()
    cache.disk.blockWriter()
    try cache.store("1", forKey: "k")
    cache.memory.removeAll()
    let accept: @Sendable () -> Void = {
      do {
        _ = try cache.store("2", forKey: "k")
      } catch {
        Issue.record(error)
      }
    }
    // While the reader writes the value that it found, a newer one is stored before it is in place.
    scene.faults.plan(.before(accept), for: .fsetxattr, at: 1)
    #expect(try cache.value(forKey: "k") == "1")
    try cache.flush()
    #expect(try cache.value(forKey: "k") == "2")
    cache.memory.removeAll()
    #expect(try cache.value(forKey: "k") == "2")
    try cache.close()
  }

  @Test func `an asynchronous call answers from it, and a load finds it`() async throws {
    var configuration = CacheConfiguration()
    configuration.disk.writeBehindLimit = 1 << 20
    let cache = try Cache(directory: scene.path, coder: .string, configuration: configuration)
    cache.disk.blockWriter()
    _ = try await cache.store("1", forKey: "k")
    cache.memory.removeAll()
    #expect(try await cache.tier(forKey: "k") == .disk)
    #expect(try await cache.value(forKey: "k") { "loaded" } == "1")
    #expect(try await cache.tier(forKey: "k") == .memory)
    cache.memory.removeAll()
    #expect(try await cache.value(forKey: "k") == "1")
    #expect(try scene.names == [])
    try await cache.close()
    #expect(try scene.names.count == 1)
  }

  /// The operations that open a file after they have found that no value waits.
  private static let lookers = [
    Row("value", "[1]") { "\(try $0.value(forKey: "k") ?? [])" },
    Row("entry", "1 byte") { "\(try $0.entry(forKey: "k")?.byteCount ?? 0) byte" },
  ]

  @Test(arguments: lookers)
  func `a read does not meet the file of a store that is about to drop it`(row: Row) throws {
    let cache = try open()
    let gate = Gate()
    let done = Gate()
    done.open()
    let storeTwice: @Sendable () -> Void = { [scene] in
      do {
        #expect(try cache.store([1], forKey: "k") == .pending)
        // The file has its name by then, and the pending value is still served to other readers.
        scene.faults.plan(.before { gate.pass() }, for: .fstat, at: 1)
        try startThread {
          do {
            try cache.store(forKey: "k") { try $0.write([2, 2]) }
          } catch {
            Issue.record(error)
          }
          done.pass()
        }
      } catch {
        Issue.record(error)
      }
      gate.waitUntilReached()
    }
    scene.faults.plan(.before(storeTwice), for: .openat, at: 1)
    #expect(try row.operation(cache) == row.answer)
    #expect(try cache.value(forKey: "k") == [1])
    gate.open()
    done.waitUntilReached()
    #expect(try cache.value(forKey: "k") == [2, 2])
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test(arguments: lookers)
  func `a read does not meet an older file because a removal of everything has failed`(
    row: Row
  ) throws {
    let cache = try open()
    try cache.store([1], forKey: "k")
    try cache.flush()
    #expect(try cache.store([2, 2], forKey: "k") == .pending)
    // The removal has hidden both.
    let (walk, looked, opened) = (Gate(), Gate(), Gate())
    scene.faults.plan(.before { walk.pass() }, for: .openat)
    scene.faults.plan(.errno(.ioError), for: .readdir)
    let removal = try cache.removeAllInBackground()
    walk.waitUntilReached()
    // The read finds no value, and looks after the directory before it opens a file.
    cache.engine.location.isAstray.store(true, ordering: .relaxed)
    scene.faults.plan(.before { looked.pass() }, for: .fstatat)
    let reading = inBackground { try row.operation(cache) }
    looked.waitUntilReached()
    walk.open()
    #expect(throws: CacheError.self) { try removal.wait() }
    // The value has come back, and is written while the read has the older file open.
    scene.faults.plan(.before { opened.pass() }, for: .fstat)
    looked.open()
    opened.waitUntilReached()
    try cache.flush()
    opened.open()
    let found = try reading().get()
    #expect(try found != row.answer && found == row.operation(cache))
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `an object that goes away leaves it to be written`() throws {
    var cache: DiskCache? = try open()
    try cache?.store([1], forKey: "k")
    cache = nil
    let again = try scene.open()
    #expect(try again.value(forKey: "k") == [1])
    try again.close()
  }
}
