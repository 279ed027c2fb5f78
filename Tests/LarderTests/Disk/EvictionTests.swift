import Foundation
import Synchronization
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

@Suite(.serialized, .watched)
struct `An eviction` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `An eviction` {
  private func value(_ count: Int = 100) -> [UInt8] { [UInt8](repeating: 1, count: count) }

  /// Opens a cache with a limit of 1,000 bytes, and stores values of 100 bytes, a second apart.
  private func filled(
    _ count: Int, _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws -> DiskCache {
    let cache = try scene.open {
      $0.sizeLimit = 1000
      change(&$0)
    }
    _ = try cache.count()
    for number in 0..<count {
      scene.clock.advance(by: .seconds(1))
      try cache.store(value(), forKey: "\(number)")
    }
    return cache
  }

  @Test func `has happened when the store that passed the limit returns`() throws {
    let cache = try scene.open { $0.sizeLimit = 10_000 }
    _ = try cache.count()
    let threadCount = 8
    inThreads(threadCount) { thread in
      for number in 0..<400 {
        do {
          try cache.store(value(), forKey: "\(thread) \(number)")
        } catch {
          Issue.record(error)
        }
        // The values of the other threads may be visible and not yet returned from.
        let total = cache.engine.withState { $0.catalog.index.totals.byteCount }
        #expect(total <= 10_000 + UInt64(threadCount - 1) * 100)
      }
    }
    #expect(cache.engine.withState { $0.catalog.index.totals.byteCount } <= 10_000)
    try scene.expectConsistent(cache)
  }

  @Test func `goes down to half after the store is counted, and not before`() throws {
    let cache = try filled(11)
    try cache.flush()
    #expect(try cache.totalSize() == 500 && cache.statistics.purges == 1)
  }

  @Test func `is not made for a store that stores nothing`() throws {
    let cache = try filled(10) { $0.shouldStore = { _, byteCount in byteCount != 7 } }
    #expect(try cache.store(value(7), forKey: "declined") == .rejected(.declined))
    #expect(try cache.storeIfAbsent(value(), forKey: "0") == .rejected(.alreadyPresent))
    scene.faults.plan(.errno(.ioError), for: .write)
    #expect(throws: CacheError.self) { try cache.store(value(), forKey: "failed") }
    var outdated = cache.request("outdated", nil, [])
    outdated.isWanted = { false }
    #expect(try cache.engine.store(value().span, outdated) == .rejected(.declined))
    #expect(try cache.count() == 10 && cache.statistics.purges == 0)
    try scene.expectConsistent(cache)
  }

  @Test func `is not made for a store over a value of the same length`() throws {
    let cache = try filled(10)
    try cache.store(value(), forKey: "3")
    #expect(try cache.count() == 10 && cache.statistics.purges == 0)
    try cache.removeAll()
    for _ in 0..<2 { try cache.store(value(600), forKey: "large") }
    #expect(try cache.totalSize() == 600 && cache.statistics.purges == 0)
  }

  @Test func `spares the value that passed the limit, although it exceeds the target`() throws {
    let cache = try filled(10)
    try cache.store(value(600), forKey: "large")
    try cache.flush()
    #expect(try cache.count() == 1 && cache.contains("large"))
    try scene.expectConsistent(cache)
  }

  @Test func `passes over a name that a slow store holds`() throws {
    let cache = try filled(10)
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .renameat, at: 1)
    let done = Gate()
    done.open()
    try startThread {
      #expect(throws: Never.self) { try cache.store(value(), forKey: "0") }
      done.pass()
    }
    gate.waitUntilReached()
    for number in 10..<20 { try cache.store(value(), forKey: "\(number)") }
    #expect(cache.engine.withState { $0.catalog.index.totals.byteCount } <= 1000)
    gate.open()
    done.waitUntilReached()
    #expect(try cache.value(forKey: "0") == value() && !cache.contains("1"))
    try scene.expectConsistent(cache)
  }

  @Test func `waits for no store whose victim waits for it`() throws {
    let cache = try scene.open { $0.countLimit = 1 }
    _ = try cache.count()
    inThreads(2) { thread in
      for _ in 0..<500 {
        #expect(throws: Never.self) { try cache.store([1], forKey: "\(thread)") }
      }
    }
    #expect(try cache.count() == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `tries a file that cannot be removed once`() throws {
    let cache = try filled(10)
    let accesses = try (0..<10).map { try scene.status(scene.name("\($0)")).lastAccess }
    // Two threads evict, so it may be any six.
    for n in 1...6 { scene.faults.plan(.errno(.notPermitted), for: .unlinkat, at: n) }
    try cache.store(value(), forKey: "10")
    try cache.flush()
    // 600 bytes stay, and half of the other 400.
    #expect(try cache.totalSize() == 800 && cache.statistics.removals == [.evicted: 3])
    #expect(cache.statistics.upkeepFailures == [.notPermitted: 6])
    for number in 11..<20 { try cache.store(value(), forKey: "\(number)") }
    try cache.flush()
    #expect(cache.statistics.upkeepFailures == [.notPermitted: 6])
    let left = (0..<10).filter { FileManager.default.fileExists(atPath: scene.file("\($0)")) }
    #expect(left.count == 6)
    for number in left {
      #expect(try scene.status(scene.name("\(number)")).lastAccess == accesses[number])
    }
    // A trim tries them again, and they are the coldest.
    let evicted = cache.statistics.removals[.evicted, default: 0]
    let removed = try cache.trim(toCount: 2).removed
    #expect(cache.statistics.removals[.evicted, default: 0] == evicted + removed && removed > 5)
    #expect(try !cache.contains("0") && cache.contains("19"))
    try scene.expectConsistent(cache)
  }

  @Test(arguments: [Errno.permissionDenied, .readOnlyFileSystem])
  func `ends where the directory refuses, and takes the coldest when it no longer does`(
    errno: Errno
  ) throws {
    let cache = try filled(10)
    scene.faults.plan(.errno(errno), for: .unlinkat, onwards: true)
    scene.faults.plan(.errno(errno), for: .faccessat, onwards: true)
    for number in 10..<13 {
      try cache.store(value(), forKey: "\(number)")
      try cache.flush()
    }
    // Once for each store, and for purges beside them.
    #expect((3...9).contains(cache.statistics.upkeepFailures[errno, default: 0]))
    #expect(try cache.totalSize() == 1300 && cache.statistics.removals.isEmpty)
    #expect(cache.engine.withState { $0.catalog.index.stuck.nodes.count } == 0)
    #expect(try cache.trim(toCount: 0).failed == 1)
    // The purge that the trim has begun at its end.
    try cache.flush()
    scene.faults.reset()
    try cache.store(value(), forKey: "13")
    try cache.flush()
    #expect(try (0..<14).filter { try cache.contains("\($0)") } == Array(9..<14))
    try scene.expectConsistent(cache)
  }

  @Test func `passes over a file that alone refuses, with any error`() throws {
    let cache = try filled(10)
    scene.faults.plan(.errno(.permissionDenied), for: .unlinkat, at: 1)
    try cache.store(value(), forKey: "10")
    try cache.flush()
    // Two threads evict, so the one that is refused may be the second.
    let left = try (0..<11).filter { try cache.contains("\($0)") }
    #expect(left == [0, 7, 8, 9, 10] || left == [1, 7, 8, 9, 10])
    try scene.expectConsistent(cache)
  }

  @Test func `waits for the files of a removal of everything, and takes no fresh value for them`()
    throws
  {
    let cache = try filled(10)
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    let progress = try cache.removeAllInBackground()
    gate.waitUntilReached()
    gate.expectToHold { try cache.store(value(1000), forKey: "large") }
    try progress.wait()
    #expect(try cache.totalSize() == 1000 && cache.statistics.purges == 0)
    try scene.expectConsistent(cache)
  }

  @Test func `does not end a purge while a victim of another thread may come back`() throws {
    // Without a watcher, so that the first look during an eviction is the evictor's own.
    let cache = try filled(10) { $0.coherence = .none }
    let (gate, isFirst) = (Gate(), Counter())
    let change: @Sendable () -> Void = { [scene] in
      guard let name = cache.engine.withState({ $0.evictions.names.first }) else { return }
      isFirst.add()
      guard isFirst.value == 1 else { return }
      gate.pass()
      do {
        try scene.touch(
          name.fileName, access: nil, modification: scene.clock.now.adding(seconds: 9_999))
      } catch {
        // Gone by now, where it was the victim of the other thread.
      }
    }
    scene.faults.plan(.before(change), for: .fstatat, onwards: true)
    let storing = inBackground {
      try cache.store(value(), forKey: "10")
      try cache.flush()
    }
    gate.waitUntilReached()
    try eventually("the other thread to reach the target") {
      cache.engine.withState { $0.catalog.index.totals.byteCount <= 500 }
    }
    gate.open()
    try storing().get()
    #expect(try cache.totalSize() == 500)
    scene.faults.reset()
    try scene.expectConsistent(cache)
  }

  @Test func `goes on without a file that changes at each look`() throws {
    let cache = try filled(10)
    let time = Mutex(scene.clock.now)
    let change: @Sendable () -> Void = { [scene] in
      do {
        let next = time.withLock { time in
          time = time.adding(seconds: 1)
          return time
        }
        // The last access stays the earliest.
        let access = try scene.status(scene.name("0")).lastAccess
        try scene.touch(scene.name("0"), access: access, modification: next.adding(seconds: 9_999))
      } catch {
        Issue.record(error)
      }
    }
    scene.faults.plan(.before(change), for: .fstatat, onwards: true)
    try cache.store(value(), forKey: "10")
    try cache.flush()
    scene.faults.reset()
    #expect(try cache.contains("0") && !cache.contains("1") && cache.totalSize() == 500)
    // The last change came after the last look.
    cache.rescan()
    try scene.expectConsistent(cache)
  }

  @Test func `of many entries for a caller is done by two threads, and counted once`() throws {
    let cache = try filled(0) { ($0.sizeLimit, $0.coherence) = (nil, .none) }
    for number in 0..<1_010 { try cache.store([1], forKey: "\(number)") }
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat)
    let trimming = inBackground { try cache.trim(toCount: 900) }
    gate.waitUntilReached()
    // One thread stands at the gate with a name that it holds.
    try eventually("another thread to remove the rest") {
      cache.statistics.removals == [.evicted: 109]
    }
    gate.open()
    let removal = try trimming().get()
    #expect(removal.removed == 110 && removal.byteCount == 110)
    #expect(try cache.count() == 900 && cache.statistics.removals == [.evicted: 110])
    try scene.expectConsistent(cache)
  }

  @Test(arguments: [false, true])
  func `for a caller waits for a victim of another thread, and takes one that comes back`(
    comesBack: Bool
  ) throws {
    let cache = try filled(3)
    let gate = Gate()
    let change: @Sendable () -> Void = { [scene] in
      gate.pass()
      guard comesBack else { return }
      do {
        try scene.touch(
          scene.name("0"), access: nil, modification: scene.clock.now.adding(seconds: 9_999))
      } catch {
        Issue.record(error)
      }
    }
    // The first look is at the directory's path.
    scene.faults.plan(.before(change), for: .fstatat, at: 2)
    let other = inBackground { try cache.trim(toCount: 2).removed }
    gate.waitUntilReached()
    let (removed, isThere) = (Counter(), Shared(true))
    gate.expectToHold(once: { try scene.names.count == 1 }) {
      for _ in 0..<(try cache.trim(toCount: 0).removed) { removed.add() }
      isThere.value = try cache.contains("0")
    }
    #expect(removed.value == (comesBack ? 3 : 2) && !isThere.value)
    #expect(try other().get() == (comesBack ? 0 : 1))
    #expect(try scene.names.isEmpty)
    try scene.expectConsistent(cache)
  }

  @Test func `for a caller takes also entries that were changed without an event`() throws {
    let cache = try filled(10)
    _ = try cache.count()
    for number in 0..<5 {
      let later = scene.clock.now.adding(seconds: 9_999)
      try scene.touch(scene.name("\(number)"), access: nil, modification: later)
    }
    #expect(try cache.trim(toCount: 0).removed == 10)
    #expect(try scene.names.isEmpty)
  }

  @Test func `for several callers ends, although each waits for others' victims`() throws {
    let cache = try filled(0) { ($0.sizeLimit, $0.countLimit, $0.trimTarget) = (nil, 20, 1) }
    inThreads(6) { thread in
      do {
        for number in 0..<300 {
          if thread < 3 {
            try cache.store([1], forKey: "\(thread) \(number)")
          } else {
            try cache.trim(toCount: thread)
          }
        }
      } catch {
        Issue.record(error)
      }
    }
    try cache.trim(toCount: 0)
    #expect(try scene.names.isEmpty)
    try scene.expectConsistent(cache)
  }

  @Test func `asks for a scan when many files are gone already`() throws {
    let cache = try filled(0) {
      $0.countLimit = 100
      // Events would tell of some files first.
      $0.coherence = .none
    }
    for number in 0..<100 { try cache.store([1], forKey: "\(number)") }
    for number in 0..<80 { try FileManager.default.removeItem(atPath: scene.file("\(number)")) }
    _ = try cache.count()
    let number = cache.engine.withState { $0.catalog.scans.number }
    // The scan begins when all is over. A name that it looks at would be passed over.
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .readdir)
    #expect(try cache.trim(toCount: 1).removed == 19)
    gate.open()
    #expect(cache.engine.withState { $0.catalog.scans.number } == number + 1)
    #expect(cache.statistics.removals == [.evicted: 19])
    try scene.expectConsistent(cache)
  }

  @Test func `that no thread carries on is carried on by a flush, and ends once`() throws {
    let cache = try filled(10)
    let isAsked = cache.engine.withState { state in
      state.catalog.index.upsert(IndexSample.entry(1, bytes: 1), order: .mostRecent)
      state.beginPurge(cache.engine.configuration, sparing: IndexSample.name(1))
      return state.evictions.claimPurge()
    }
    #expect(isAsked && cache.statistics.purges == 1)
    inThreads(8) { _ in #expect(throws: Never.self) { try cache.flush() } }
    #expect(cache.engine.withState { $0.evictions.purge == nil })
    #expect(cache.engine.withState { $0.catalog.index.totals.byteCount } == 401)
    #expect(cache.statistics.purges == 1)
    cache.engine.withState { $0.catalog.index.remove(IndexSample.name(1)) }
    try scene.expectConsistent(cache)
  }

  @Test func `is finished before a flush stamps uses, because it passes over held names`() throws {
    let cache = try filled(10)
    scene.clock.advance(by: .seconds(3_600))
    #expect(try cache.value(forKey: "9") != nil)
    cache.engine.withState { state in
      state.catalog.index.upsert(IndexSample.entry(1, bytes: 1), order: .mostRecent)
      state.beginPurge(cache.engine.configuration, sparing: IndexSample.name(1))
    }
    let calls = Mutex<[SystemCall]>([])
    for call in [SystemCall.unlinkat, .futimens] {
      scene.faults.plan(.before { calls.withLock { $0.append(call) } }, for: call, onwards: true)
    }
    try cache.flush()
    #expect(calls.withLock { $0 } == Array(repeating: .unlinkat, count: 6) + [.futimens])
    cache.engine.withState { $0.catalog.index.remove(IndexSample.name(1)) }
    try scene.expectConsistent(cache)
  }

  @Test func `syncs a durable directory once for each loop`() throws {
    let cache = try filled(10) { $0.durability = .durable }
    let syncs = Counter()
    let plan = TrimPlan(for: .count(3), at: scene.clock.now, cache.engine.configuration)
    scene.faults.plan(.before { syncs.add() }, for: .fsync, onwards: true)
    cache.engine.evict(EvictionRun(plan))
    #expect(syncs.value == 1 && cache.statistics.removals == [.evicted: 7])
    try scene.expectConsistent(cache)
  }

  @Test func `for a limit is made by no process that has stored nothing`() throws {
    try filled(10).close()
    scene.clock.advance(by: .seconds(1))
    let writer = try scene.open()
    try writer.store([1], forKey: "short", expiration: .seconds(1))
    try writer.close()
    scene.clock.advance(by: .seconds(2))
    let cache = try scene.open { $0.sizeLimit = 500 }
    // What has expired is swept.
    #expect(try cache.count() == 10 && cache.value(forKey: "0") != nil)
    try cache.flush()
    #expect(try cache.count() == 10 && cache.statistics.purges == 0)
    try cache.store([1], forKey: "new")
    #expect(try cache.totalSize() == 201 && cache.statistics.purges == 1)
  }

  @Test func `by a sweep leaves to a trim that waits what that has to report`() throws {
    let cache = try filled(0)
    try cache.store(value(), forKey: "short", expiration: .seconds(1))
    scene.clock.advance(by: .seconds(2))
    cache.engine.withState { $0.evictions.waitingTrimCount += 1 }
    cache.engine.sweep()
    #expect(try cache.count() == 1)
    cache.engine.withState { $0.evictions.waitingTrimCount -= 1 }
    cache.engine.sweep()
    #expect(try cache.count() == 0)
  }

  @Test func `of a file that another process removed first is not counted`() throws {
    let cache = try filled(10)
    let removals = cache.removals()
    try FileManager.default.removeItem(atPath: scene.file("0"))
    #expect(try cache.trim(toCount: 5).removed == 4)
    #expect(try cache.count() == 5 && cache.statistics.removals == [.evicted: 4])
    _ = removals
    try scene.expectConsistent(cache)
  }

  @Test func `of a value that is used or stored meanwhile is not made by a trim`() throws {
    let cache = try filled(5)
    let change: @Sendable () -> Void = { [scene] in
      do {
        scene.clock.advance(by: .seconds(1))
        _ = try cache.value(forKey: "3")
        try cache.store([9], forKey: "4")
      } catch {
        Issue.record(error)
      }
    }
    scene.faults.plan(.before(change), for: .unlinkat, at: 1)
    let result = try cache.trim(toCount: 0)
    #expect(result.removed == 3 && result.failed == 0 && result.byteCount == 300)
    #expect(try cache.count() == 2 && cache.value(forKey: "4") == [9])
    try scene.expectConsistent(cache)
  }

  @Test func `is not undone by a clock that stores`() throws {
    let cache = Shared<DiskCache?>(nil)
    let (count, time) = (Counter(), scene.clock.now)
    let (begun, ended) = (Counter(), Counter())
    let opened = try scene.open {
      $0.countLimit = 4
      $0.clock = WallClock {
        begun.add()
        defer { ended.add() }
        // Not while it stores itself.
        if let cache = cache.value, count.value < 40 {
          count.add()
          if count.value.isMultiple(of: 4) {
            #expect(throws: Never.self) { try cache.store([1], forKey: "clock \(count.value)") }
          }
        }
        return time
      }
    }
    _ = try opened.count()
    cache.value = opened
    for number in 0..<40 { try opened.store([1], forKey: "\(number)") }
    cache.value = nil
    // One of the engine's threads may still store in it.
    try eventually("the clock") { begun.value == ended.value }
    #expect(try opened.count() <= 4)
    try scene.expectConsistent(opened)
  }
}
