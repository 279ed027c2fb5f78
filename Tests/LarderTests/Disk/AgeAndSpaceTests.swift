import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(2)))
struct `Age limits, free space and clocks that stand still` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }

  private func store(_ cache: DiskCache, _ keys: String...) throws {
    for key in keys { try cache.store([1], forKey: key) }
  }

  @Test func `a process that only asks evicts nothing for want of free space`() throws {
    let first = try scene.open()
    try store(first, "a", "b", "c")
    try first.close()
    let cache = try scene.open { $0.freeSpaceLimit = .max }
    #expect(try cache.count() == 3)
    // The end of the scan looks at the limits when those who waited for it have their answer.
    let isOver = Happening().wait { cache.engine.withState { $0.rescans.lastEnd != nil } }
    #expect(try isOver && cache.count() == 3 && cache.statistics.purges == 0)
    try cache.store([1], forKey: "d")
    #expect(try cache.count() == 1 && cache.contains("d"))
    try scene.expectConsistent(cache)
  }

  @Test func `what the age limit removes has expired, and no cause counts nothing`() throws {
    let cache = try scene.open { $0.ageLimit = .seconds(100) }
    try store(cache, "a", "b")
    scene.clock.advance(by: .seconds(101))
    try store(cache, "c")
    #expect(try cache.removeExpired().removed == 2)
    #expect(cache.statistics.removals == [.expired: 2])
    try cache.trim(toCount: 0)
    #expect(cache.statistics.removals == [.expired: 2, .evicted: 1])
  }
}
