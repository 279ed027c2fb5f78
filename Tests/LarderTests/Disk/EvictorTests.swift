import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// Tests that hold the evictor. They run one at a time, because the process has few upkeep threads.
@Suite(.serialized, .watched)
struct `The evictor` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }

  private func filled(
    _ count: Int, patience: Duration = .seconds(60), measure: DiskCache.SizeMeasure = .bytes,
    fullDiskPause: Duration = .seconds(30)
  ) throws -> DiskCache {
    let cache = try scene.open {
      $0.sizeLimit = measure == .bytes ? 1000 : 40_960
      $0.sizeMeasure = measure
      $0.electionPatience = patience
      $0.fullDiskPause = fullDiskPause
    }
    _ = try cache.count()
    for number in 0..<count {
      scene.clock.advance(by: .seconds(1))
      try cache.store([UInt8](repeating: 1, count: 100), forKey: "\(number)")
    }
    return cache
  }

  @Test func `victims are misses before their files are gone`() throws {
    let cache = try filled(10)
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    try cache.store([UInt8](repeating: 2, count: 100), forKey: "10")
    gate.waitUntilReached()
    #expect(try cache.totalSize() == 500)
    #expect(try cache.count() == 5)
    #expect(try scene.names.count == 11)
    for number in 0..<6 {
      #expect(try cache.value(forKey: "\(number)") == nil)
      #expect(try !cache.contains("\(number)"))
    }
    gate.open()
    try cache.flush()
    #expect(try scene.names.count == 5)
    try scene.expectConsistent(cache)
  }

  @Test func `a limit that was left to a purge is left to the next one and not asked for again`()
    throws
  {
    let (looks, time) = (Counter(), scene.clock.now)
    let (engine, thread) = (Shared<DiskEngine?>(nil), ThreadIdentity.current)
    let cache = try scene.open {
      $0.freeSpaceLimit = .max
      $0.clock = WallClock {
        // Each purge asks for the time once. After the first, another thread's begins; it ends only
        // to let a thread go on that asks for ever. The cache's own threads may ask as well.
        guard thread == .current else { return time }
        engine.value?.withState { state in
          looks.add()
          state.limits.forgetFreeSpaceCheck()
          if looks.value == 2 { _ = state.evictions.beginPurge(nil) }
          if looks.value == 9 { state.endPurges() }
        }
        return time
      }
    }
    try cache.store([1], forKey: "a")
    _ = try cache.count()
    cache.engine.withState { state in
      let purge = state.evictions.beginPurge(nil)
      _ = state.evictions.leaveToPurge()
      state.evictions.endChoosing(purge)
      state.limits.forgetFreeSpaceCheck()
    }
    engine.value = cache.engine
    cache.engine.enforceLimits(after: nil)
    engine.value = nil
    // Fewer, where a thread of the cache was quicker to take the limit that was left.
    #expect(looks.value <= 2)
    cache.engine.withState { $0.endPurges() }
    try cache.close()
  }

  @Test func `a store of a doomed name cancels its unlink`() throws {
    let cache = try filled(10)
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    try cache.store([2], forKey: "10")
    gate.waitUntilReached()
    // One victim's name is held at the gate; all other keys can be stored again.
    let held = cache.engine.withState { $0.locks.held }
    let again = (0..<6).filter { !held.contains(DiskScene.name(of: Array("\($0)".utf8))) }
    #expect(again.count == 5)
    for number in again { try cache.store([3], forKey: "\(number)") }
    gate.open()
    try cache.flush()
    for number in again { #expect(try cache.value(forKey: "\(number)") == [3]) }
    try scene.expectConsistent(cache)
  }

  @Test(arguments: [DiskCache.SizeMeasure.bytes, .allocatedBytes])
  func `a store that would pass 1.1 times the limit waits for the evictor`(
    measure: DiskCache.SizeMeasure
  ) throws {
    let cache = try filled(10, measure: measure)
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    try cache.store([UInt8](repeating: 2, count: 100), forKey: "10")
    gate.waitUntilReached()
    let done = DispatchSemaphore(value: 0)
    let stored = Counter()
    Thread.detachNewThread {
      do {
        try cache.store([UInt8](repeating: 3, count: 200), forKey: "late")
        stored.add()
      } catch {
        Issue.record(error)
      }
      done.signal()
    }
    #expect(done.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
    #expect(try scene.names.count == 11)
    gate.open()
    done.wait(for: "the store that the evictor held up")
    #expect(stored.value == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `a victim that was used or replaced by others since it was chosen stays`() throws {
    let cache = try filled(10)
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    try cache.store([UInt8](repeating: 2, count: 100), forKey: "10")
    gate.waitUntilReached()
    let held = cache.engine.withState { $0.locks.held }
    let other = try #require(
      (0..<6).first { !held.contains(DiskScene.name(of: Array("\($0)".utf8))) })
    try scene.touch(scene.name("\(other)"), access: scene.clock.now, modification: nil)
    gate.open()
    try cache.flush()
    #expect(try cache.value(forKey: "\(other)") == [UInt8](repeating: 1, count: 100))
    try scene.expectConsistent(cache)
  }

  /// Takes the tag's lock, as another process does that evicts.
  private func takeTag() throws -> FileDescriptor {
    let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
    let tag = try handle.openForReading(DirectoryMaking.tagName)
    #expect(try tag.tryLock(.exclusive))
    return tag
  }

  @Test func `while another process evicts, this one waits its turn`() throws {
    let cache = try filled(10)
    let tag = try takeTag()
    try cache.store([UInt8](repeating: 2, count: 100), forKey: "10")
    #expect(try cache.count() == 5)
    #expect(try scene.names.count == 11)
    #expect(try cache.value(forKey: "10")?.count == 100)
    try tag.unlock()
    try cache.flush()
    #expect(try scene.names.count == 5)
    try scene.expectConsistent(cache)
  }

  @Test func `who holds the tag for ever holds nobody up for ever`() throws {
    let cache = try filled(10, patience: .milliseconds(1))
    let tag = try takeTag()
    try cache.store([UInt8](repeating: 2, count: 100), forKey: "10")
    try cache.flush()
    #expect(try scene.names.count == 5)
    try cache.close()
    try tag.unlock()
  }

  @Test func `what stays because it changed is neither removed nor failed`() throws {
    let cache = try filled(5)
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    var plan = TrimPlan(now: scene.clock.now, protected: nil)
    plan.maximumCount = 0
    let eviction = cache.engine.withState { [plan] in $0.evict(plan) }
    cache.engine.runEvictor()
    gate.waitUntilReached()
    let held = cache.engine.withState { $0.locks.held }
    let others = (0..<5).filter { !held.contains(DiskScene.name(of: Array("\($0)".utf8))) }
    try scene.touch(scene.name("\(others[0])"), access: scene.clock.now, modification: nil)
    try cache.store([9], forKey: "\(others[1])")
    gate.open()
    let result = cache.engine.wait(for: eviction)
    #expect(result.removed == 3 && result.failed == 0 && result.byteCount == 300)
    // The replaced value counts as evicted too; only its name stays.
    #expect(cache.statistics.removals[.evicted] == 4)
    #expect(try cache.count() == 2)
    try scene.expectConsistent(cache)
  }

  @Test(arguments: [Errno.noSpace, .quotaExceeded], [SystemCall.write, .linkat, .fsetxattr])
  func `a full disk evicts once and the store is tried again`(
    errno: Errno, call: SystemCall
  ) throws {
    let cache = try filled(10)
    // A shorter attribute is tried before the disk counts as full.
    for n in 1...(call == .fsetxattr ? 2 : 1) { scene.faults.plan(.errno(errno), for: call, at: n) }
    #expect(try cache.store([7], forKey: "new") == .stored)
    #expect(try cache.value(forKey: "new") == [7])
    #expect(cache.statistics.purges == 1)
    #expect(try cache.count() < 11)
    try scene.expectConsistent(cache)
  }

  @Test func `a stream that meets a full disk goes on after an eviction`() throws {
    let cache = try filled(10)
    scene.faults.plan(.short(2), for: .write, at: 2)
    scene.faults.plan(.errno(.noSpace), for: .write, at: 3)
    try cache.store(forKey: "new") { stream in
      try stream.write([1, 2, 3, 4])
      try stream.write([5, 6, 7, 8])
    }
    #expect(try cache.value(forKey: "new") == [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(cache.statistics.purges == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `a disk that stays full is an error after one eviction`() throws {
    let cache = try filled(10)
    scene.faults.plan(.errno(.noSpace), for: .write, at: 1, onwards: true)
    let error = #expect(throws: CacheError.self) { try cache.store([7], forKey: "new") }
    #expect(error?.code == .noSpace && error?.oldValueRemains == false)
    #expect(cache.statistics.purges == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `a disk that stays full costs the cache one eviction and not one a store`() throws {
    let cache = try filled(10)
    scene.faults.plan(.errno(.noSpace), for: .write, at: 1, onwards: true)
    for number in 0..<10 {
      #expect(throws: CacheError.self) { try cache.store([7], forKey: "new \(number)") }
    }
    #expect(throws: CacheError.self) {
      try cache.store(forKey: "in pieces") { try $0.write([1]) }
    }
    #expect(cache.statistics.purges == 1)
    #expect(cache.statistics.vainEvictions == 1)
    #expect(try cache.count() == 5)
    try scene.expectConsistent(cache)
  }

  @Test func `after a while a full disk is worth another eviction`() throws {
    let cache = try filled(10, fullDiskPause: .zero)
    scene.faults.plan(.errno(.noSpace), for: .write, at: 1, onwards: true)
    for number in 0..<2 {
      #expect(throws: CacheError.self) { try cache.store([7], forKey: "new \(number)") }
    }
    #expect(cache.statistics.purges == 2)
    #expect(cache.statistics.vainEvictions == 2)
  }

  @Test func `stores that find the disk full at once make one eviction`() throws {
    let cache = try filled(10)
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    for n in 1...2 { scene.faults.plan(.errno(.noSpace), for: .write, at: n) }
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      #expect(throws: Never.self) { try cache.store([7], forKey: "first") }
      done.signal()
    }
    gate.waitUntilReached()
    gate.expectToHold { try cache.store([8], forKey: "second") }
    done.wait(for: "the first store")
    #expect(cache.statistics.purges == 1 && cache.statistics.vainEvictions == 0)
    #expect(try cache.value(forKey: "first") == [7])
    #expect(try cache.value(forKey: "second") == [8])
    try scene.expectConsistent(cache)
  }

  @Test func `a key that does not fit beside the inode is not a full disk`() throws {
    let cache = try filled(5)
    scene.faults.plan(.errno(.noSpace), for: .fsetxattr, at: 1)
    #expect(try cache.store([7], forKey: "new") == .stored)
    #expect(cache.statistics.purges == 0)
    #expect(try scene.attribute(scene.name("new"))?.contains(" #") == true)
    #expect(try cache.value(forKey: "new") == [7])
  }
}

extension EngineState {
  /// Ends the choice of victims by all threads.
  fileprivate mutating func endPurges() {
    for eviction in evictions.waiting { evictions.endChoosing(eviction) }
  }
}
