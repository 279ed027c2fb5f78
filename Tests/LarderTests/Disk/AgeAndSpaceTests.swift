import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

@Suite(.watched)
struct `Age limits, free space and clocks that stand still` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `Age limits, free space and clocks that stand still` {
  private func store(_ cache: DiskCache, _ keys: String...) throws {
    for key in keys { try cache.store([1], forKey: key) }
  }

  @Test func `a process that only asks evicts nothing for want of free space`() throws {
    let first = try scene.open()
    try store(first, "a", "b", "c")
    try first.close()
    let cache = try scene.open { $0.freeSpaceLimit = .max }
    #expect(try cache.count() == 3)
    // The scan checks the limits after it has answered the waiting callers.
    let isOver = Happening().wait {
      cache.engine.withState { $0.catalog.scans.rescans.pauseEnd != nil }
    }
    #expect(try isOver && cache.count() == 3 && cache.statistics.purges == 0)
    try cache.store([1], forKey: "d")
    #expect(try cache.count() == 1 && cache.contains("d"))
    try scene.expectConsistent(cache)
  }

  @Test func `the free space is looked at again without a store`() throws {
    let cache = try scene.open {
      ($0.freeSpaceLimit, $0.freeSpacePause) = (.max, .milliseconds(500))
    }
    _ = try cache.count()
    try store(cache, "a")
    try cache.flush()
    // Too soon for a look of its own.
    try store(cache, "b")
    try eventually("another look") { try cache.count() == 1 }
    #expect(try cache.contains("b"))
  }

  @Test func `nothing new goes for the space that a removal of everything is to give`() throws {
    let cache = try scene.open {
      ($0.freeSpaceLimit, $0.freeSpacePause) = (1, .nanoseconds(1))
    }
    try store(cache, "old")
    #expect(try cache.count() == 1)
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    let progress = try cache.removeAllInBackground()
    gate.waitUntilReached()
    scene.faults.plan(.short(0), for: .fstatvfs, onwards: true)
    try store(cache, "a", "b", "c")
    #expect(cache.engine.entryIndex.totals.count == 3)
    gate.open()
    try progress.wait()
  }

  @Test func `a predicate removes an entry whose earlier use is stamped while it is asked`() throws
  {
    let cache = try scene.open { $0.recencyGranularity = .seconds(1) }
    try store(cache, "a")
    scene.clock.advance(by: .seconds(10))
    #expect(try cache.value(forKey: "a") == [1] && cache.value(forKey: "a") == [1])
    #expect(!cache.engine.withState { $0.catalog.uses.isEmpty })
    let removal = try cache.removeAll { _ in
      cache.engine.drainStamps()
      return true
    }
    #expect(try removal.removed == 1 && cache.count() == 0)
  }

  @Test func `what the age limit removes has expired, and no cause counts nothing`() throws {
    let cache = try scene.open { $0.ageLimit = .seconds(100) }
    // The end of a scan removes what has expired.
    _ = try cache.count()
    try store(cache, "a", "b")
    scene.clock.advance(by: .seconds(101))
    try store(cache, "c")
    #expect(try cache.removeExpired().removed == 2)
    #expect(cache.statistics.removals == [.expired: 2])
    try cache.trim(toCount: 0)
    #expect(cache.statistics.removals == [.expired: 2, .evicted: 1])
  }

  @Test(arguments: [true, false])
  func `what is exactly as old as a trim allows goes from both tiers`(isOlder: Bool) throws {
    let cache = try scene.open()
    var settings = MemoryCache<String, Int>.Configuration()
    (settings.recordsUseTimes, settings.clock) = (true, scene.clock.wallClock)
    let memory = MemoryCache<String, Int>(settings)
    try store(cache, "a")
    memory.store(1, forKey: "a")
    scene.clock.advance(by: isOlder ? .seconds(100) : .nanoseconds(99_999_999_999))
    try store(cache, "b")
    memory.store(1, forKey: "b")
    let removed = try cache.trim(toAge: .seconds(100)).removed
    #expect(removed == (isOlder ? 1 : 0) && memory.trim(toAge: .seconds(100)) == removed)
    #expect(try cache.count() == memory.count)
  }

  @Test func `the age limit goes by the same rule in both tiers`() throws {
    let cache = try scene.open { $0.ageLimit = .seconds(100) }
    var settings = MemoryCache<String, Int>.Configuration()
    (settings.ageLimit, settings.clock) = (.seconds(100), scene.clock.wallClock)
    let memory = MemoryCache<String, Int>(settings)
    try store(cache, "a")
    memory.store(1, forKey: "a")
    scene.clock.advance(by: .nanoseconds(99_999_999_999))
    #expect(try cache.removeExpired().removed == 0 && memory.removeExpired() == 0)
    scene.clock.advance(by: .nanoseconds(1))
    #expect(try cache.removeExpired().removed == memory.removeExpired())
    #expect(try cache.count() == 0)
  }

  @Test func `an age of nothing is that of all, uses ahead of the clock included`() throws {
    let cache = try scene.open()
    try store(cache, "a", "b", "c")
    #expect(try cache.trim(toAge: .zero).removed == 3)
  }

  @Test(arguments: [false, true])
  func `a use before the clock was set back counts as made before those after it`(
    sweeps: Bool
  ) throws {
    let cache = try scene.open {
      if sweeps { ($0.ageLimit, $0.expiredGrace) = (.seconds(1_800), .seconds(86_400)) }
    }
    _ = try cache.count()
    try store(cache, "a", "b")
    scene.clock.advance(by: .seconds(-3_600))
    try store(cache, "c")
    scene.clock.advance(by: .seconds(1_799))
    try store(cache, "d")
    func trim() throws {
      if sweeps { cache.engine.sweep() } else { try cache.trim(toAge: .seconds(1_800)) }
    }
    try trim()
    #expect(try cache.count() == 4)
    scene.clock.advance(by: .seconds(1))
    try trim()
    #expect(try cache.count() == 1 && cache.contains("d"))
    // No use is ahead of the clock any more.
    scene.clock.advance(by: .seconds(3_600))
    try store(cache, "e")
    try trim()
    #expect(try cache.count() == 1 && cache.contains("e"))
    try scene.expectConsistent(cache)
  }

  @Test(arguments: [TrimGoal.size(1_000), .count(2), .age(.seconds(1_000)), .living])
  func `what has reached the age limit goes in every trim`(goal: TrimGoal) throws {
    let first = try scene.open()
    try store(first, "a", "b")
    try first.close()
    scene.clock.advance(by: .seconds(101))
    let cache = try scene.open { $0.ageLimit = .seconds(100) }
    // The sweep at the end of the scan leaves it to the trim.
    #expect(try cache.trim(to: goal).removed == 2 && cache.count() == 0)
  }

  @Test(arguments: [true, false])
  func `with a clock that stands still, what is stored after reopening is the latest`(
    isCounted: Bool
  ) throws {
    let first = try scene.open()
    try store(first, "a", "b", "c")
    try first.close()
    let cache = try scene.open()
    if isCounted { #expect(try cache.count() == 3) }
    try store(cache, "d")
    #expect(try cache.trim(toCount: 1).removed == 3)
    #expect(try cache.contains("d"))
    try scene.expectConsistent(cache)
  }

  @Test func `what a scan meets is older than what is stored after it, with another clock`() throws
  {
    let first = try scene.open()
    try store(first, "a", "b", "c")
    try first.close()
    let clock = ManualClock(scene.clock.now)
    let cache = try scene.open { $0.clock = clock.wallClock }
    #expect(try cache.count() == 3)
    try store(cache, "d")
    let accesses = try ["a", "b", "c", "d"].map { try scene.status(scene.name($0)).lastAccess }
    #expect(accesses == accesses.sorted())
    #expect(try cache.trim(toCount: 1).removed == 3)
    #expect(try cache.contains("d"))
  }
}
