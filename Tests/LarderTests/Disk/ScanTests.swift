import Foundation
import Synchronization
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem
@testable import LarderTool

/// Tests that hold the scan. They run one at a time, because the process has few upkeep threads.
@Suite(.serialized, .watched)
struct `The scan` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
    let cache = try scene.open()
    for number in 0..<20 { try cache.store([1], forKey: "\(number)") }
    try cache.close()
  }
}

extension `The scan` {
  /// Opens a cache whose scan is held in the middle of the directory.
  private func held(_ gate: Gate, at n: Int = 12) throws -> DiskCache {
    let cache = try scene.open()
    scene.faults.plan(.before { gate.pass() }, for: .readdir, at: n)
    cache.engine.startScanIfNeeded()
    gate.waitUntilReached()
    return cache
  }

  @Test func `reads, stores and removals never wait for it`() throws {
    let gate = Gate()
    let cache = try held(gate)
    for number in 0..<20 { #expect(try cache.value(forKey: "\(number)") == [1]) }
    #expect(try cache.store([2], forKey: "new") == .stored)
    #expect(try cache.storeIfAbsent([2], forKey: "newer") == .stored)
    #expect(try cache.remove(forKey: "3"))
    #expect(try cache.contains("4") && !cache.contains("3"))
    #expect(cache.statistics.scan == .running)
    gate.open()
    #expect(try cache.count() == 21)
    try scene.expectConsistent(cache)
  }

  @Test func `totals wait for it`() throws {
    let gate = Gate()
    let cache = try held(gate)
    let right = Counter()
    gate.expectToHold { if try cache.totalSize() == 20 { right.add() } }
    #expect(right.value == 1)
  }

  @Test func `tasks that wait for it keep no thread from reads and stores`() async throws {
    let gate = Gate()
    let cache = try held(gate)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<2 * cache.configuration.threadCount {
        group.addTask { _ = try await cache.totalSize() }
        group.addTask { _ = try await cache.trim(toCount: 100) }
      }
      // Nothing shows that they have begun.
      for _ in 0..<1_000 { await Task.yield() }
      #expect(try await cache.value(forKey: "0") == [1])
      #expect(try await cache.store([2], forKey: "new") == .stored)
      gate.open()
      try await group.waitForAll()
    }
  }

  @Test func `a trim tells of the scan first, and then of each file that is gone`() throws {
    let cache = try scene.open()
    let seen = Mutex<[String]>([])
    let note: @Sendable () -> Void = {
      let progress = cache.trimProgress(of: 4)
      let total = progress?.total.map(String.init) ?? "?"
      seen.withLock { $0.append(progress.map { "\($0.done) of \(total)" } ?? "none") }
    }
    scene.faults.plan(.before(note), for: .readdir)
    scene.faults.plan(.before(note), for: .unlinkat, onwards: true)
    #expect(try cache.trim(toCount: 16).removed == 4)
    note()
    #expect(seen.withLock(\.self) == ["0 of ?", "0 of 4", "1 of 4", "2 of 4", "3 of 4", "4 of 4"])
    #expect(cache.trimProgress(of: nil) == nil)
  }

  @Test(arguments: [1, 5, 12, 22])
  func `what happens meanwhile wins the merge`(n: Int) throws {
    let gate = Gate()
    let cache = try held(gate, at: n)
    for number in 0..<5 { try cache.store([2, 2], forKey: "\(number)") }
    for number in 5..<10 { try cache.remove(forKey: "\(number)") }
    scene.clock.advance(by: .seconds(500))
    for number in 10..<12 { _ = try cache.value(forKey: "\(number)") }
    gate.open()
    #expect(try cache.count() == 15)
    #expect(try cache.totalSize() == 20)
    #expect(try cache.trim(toCount: 2).removed == 13)
    #expect(try cache.contains("10") && cache.contains("11"))
    try scene.expectConsistent(cache)
  }

  @Test func `a removal of all meanwhile leaves nothing of what it met`() throws {
    let gate = Gate()
    let cache = try held(gate)
    try cache.removeAll()
    try cache.store([2], forKey: "new")
    gate.open()
    #expect(try cache.count() == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `what others remove behind it does not come back`() throws {
    let scene = try DiskScene()
    try scene.makeDirectory()
    for key in ["a", "b"] { try scene.plant([1], named: scene.name(key).text) }
    let cache = try scene.open { $0.coherence = .events }
    cache.engine.startWatching()
    // The status of one of the two was read, and the index does not know it yet.
    scene.faults.plan(
      .before { [scene] in
        do {
          for key in ["a", "b"] { try FileManager.default.removeItem(atPath: scene.file(key)) }
        } catch {
          Issue.record(error)
        }
        #expect(cache.engine.catchUp())
      }, for: .fstatat, at: 2)
    #expect(try cache.count() == 0)
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `what others removed since it was known is forgotten`() throws {
    let cache = try scene.open()
    for number in 0..<20 { _ = try cache.value(forKey: "\(number)") }
    for number in 0..<7 { try FileManager.default.removeItem(atPath: scene.file("\(number)")) }
    #expect(try cache.count() == 13)
    try scene.expectConsistent(cache)
  }

  @Test(arguments: [1, 3, 20]) func `a signal does not end it`(n: Int) throws {
    let cache = try scene.open()
    scene.faults.plan(.errno(.interrupted), for: .readdir, at: n)
    #expect(try cache.count() == 20)
    #expect(scene.faults.struckCount == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `one that fails is reported, and tried again by the next who asks`() throws {
    let cache = try scene.open { $0.sizeLimit = 1 << 20 }
    scene.faults.plan(.errno(.ioError), for: .readdir, at: 3)
    let error = #expect(throws: CacheError.self) { try cache.count() }
    #expect(error?.errno == .ioError)
    #expect(cache.statistics.scan == .failed(.ioError))
    #expect(try cache.count() == 20)
    try scene.expectConsistent(cache)
  }

  private func finish(_ cache: DiskCache) {
    cache.engine.startScanIfNeeded()
    cache.engine.wait { $0.catalog.scans.progress == .running ? nil : () }
  }

  @Test(arguments: [Errno.ioError, .permissionDenied])
  func `a name that cannot be looked at for a moment is not missed`(errno: Errno) throws {
    let cache = try scene.open()
    scene.faults.plan(.errno(errno), for: .fstatat, at: 7)
    finish(cache)
    #expect(try cache.count() == 20)
    #expect(cache.statistics.upkeepFailures.isEmpty)
    try scene.expectConsistent(cache)
  }

  // An exclusive cache does not look for what its index lacks.
  @Test(arguments: [DiskCache.Mode.shared, .exclusive])
  func `names that cannot be looked at are counted and not lost`(mode: DiskCache.Mode) throws {
    let cache = try scene.open { $0.mode = mode }
    scene.faults.plan(.errno(.ioError), for: .fstatat, at: 15, onwards: true)
    finish(cache)
    #expect(cache.statistics.scan == .finished)
    #expect(cache.statistics.upkeepFailures == [.ioError: 6])
    #expect(cache.engine.withState { $0.catalog.index.totals.count } == 14)
    scene.faults.reset()
    for number in 0..<20 { #expect(try cache.value(forKey: "\(number)") == [1]) }
    try scene.expectConsistent(cache)
  }

  @Test func `a directory that may not be looked into is an error`() throws {
    let cache = try scene.open()
    scene.faults.plan(.errno(.permissionDenied), for: .fstatat, at: 1, onwards: true)
    finish(cache)
    #expect(cache.statistics.scan == .failed(.permissionDenied))
  }

  @Test func `a removal of all goes on past a name that cannot be looked at`() throws {
    let cache = try scene.open()
    // The first look is at the directory's path.
    scene.faults.plan(.errno(.ioError), for: .fstatat, at: 2, onwards: true)
    let none = try cache.removeAll()
    #expect(none.removed == 0 && none.failed == 20)
    scene.faults.reset()
    #expect(try cache.count() == 20)
    #expect(try cache.removeAll().removed == 20)
  }

  @Test func `one that always fails is not tried for ever`() throws {
    let cache = try scene.open { $0.sizeLimit = 1 << 20 }
    scene.faults.plan(.errno(.ioError), for: .readdir, at: 1, onwards: true)
    #expect(throws: CacheError.self) { try cache.count() }
    for _ in 0..<5 { try cache.store([1], forKey: "k") }
    #expect(throws: CacheError.self) { try cache.count() }
    try cache.close()
    #expect(scene.faults.count(of: .readdir) <= 20)
  }

  @Test(arguments: [4, DirectoryScan.pieceCount])
  func `it meets every name once, in pieces of any size`(pieceCount: Int) throws {
    for count in [0, pieceCount - 1, pieceCount, 3 * pieceCount + 1] {
      let scene = try DiskScene()
      let cache = try scene.open()
      for number in 0..<count { try scene.plant([], named: scene.name("\(number)").text) }
      var scan = try DirectoryScan(cache.engine.location.handle, trust: cache.engine.reader.trust)
      var names: [EntryName] = []
      while true {
        let piece = try scan.next(atMost: pieceCount)
        names += piece.entries.map(\.name)
        #expect(piece.entries.count <= pieceCount)
        if piece.isLast { break }
      }
      #expect(names.count == count && Set(names).count == count)
    }
  }

  @Test func `it starts with the first store under a limit or the first total`() throws {
    let unlimited = try scene.open()
    try unlimited.store([1], forKey: "k")
    _ = try unlimited.value(forKey: "k")
    #expect(unlimited.statistics.scan == .notStarted)
    // Opening checks whether the directory is empty, which reads the first name after "." and "..".
    #expect(scene.faults.count(of: .readdir) <= 3)
    try unlimited.close()
    let limited = try scene.open { $0.sizeLimit = 1 << 20 }
    _ = try limited.value(forKey: "k")
    #expect(limited.statistics.scan == .notStarted)
    try limited.store([1], forKey: "k")
    #expect(limited.statistics.scan != .notStarted)
  }

  @Test func `expired entries and too many of them go after it`() throws {
    scene.clock.advance(by: .seconds(1))
    let cache = try scene.open { $0.countLimit = 10 }
    try cache.store([1], forKey: "soon", expiration: .seconds(5))
    _ = try cache.count()
    try cache.flush()
    try cache.close()
    scene.clock.advance(by: .seconds(10))
    let reopened = try scene.open { $0.countLimit = 100 }
    _ = try reopened.count()
    try reopened.flush()
    #expect(try !scene.names.contains(scene.name("soon").text))
    try scene.expectConsistent(reopened)
  }
}
