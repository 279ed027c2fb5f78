import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderDisk

struct `Kept keys` {
  private func name(_ key: CacheKey) -> EntryName {
    EntryName(digest: key.withBytes { MD5.digest(of: $0) }, fileExtension: .none)
  }

  @Test func `what is on its way into memory is not forgotten`() {
    let keys = KeptKeys()
    let (arriving, kept) = (CacheKey("arriving"), CacheKey("kept"))
    _ = keys.insert(arriving, name(arriving)) { _ in true }
    _ = keys.insert(kept, name(kept)) { _ in true }
    keys.endInsertion(of: name(kept))
    // Enough insertions that all other keys are examined.
    for number in 0..<50_000 {
      let name = IndexSample.name(number)
      _ = keys.insert(CacheKey("\(number)"), name) { _ in true }
      keys.endInsertion(of: name)
    }
    #expect(keys.key(of: name(arriving)) == arriving)
    #expect(keys.key(of: name(kept)) == nil)
  }

  @Test func `an insertion looks at few of the keys under the lock, and loses none in memory`() {
    let keys = KeptKeys()
    var most = 0
    for number in 0..<50_000 {
      var count = 0
      let name = IndexSample.name(number)
      _ = keys.insert(CacheKey("\(number)"), name) { _ in
        count += 1
        return false
      }
      keys.endInsertion(of: name)
      most = max(most, count)
    }
    #expect(most < 500)
    #expect((0..<50_000).allSatisfy { keys.key(of: IndexSample.name($0)) == CacheKey("\($0)") })
  }

  @Test(arguments: [false, true])
  func `the keys go with the values when memory is emptied or short`(_ isShort: Bool) throws {
    let scene = try DiskScene()
    let cache = try scene.open(.string)
    for number in 0..<100 { try cache.store("value", forKey: "\(number)") }
    #expect(cache.keptKeys.keys { _ in true }.count == 100)
    if isShort { cache.respond(to: .empty) } else { try cache.removeAll() }
    #expect(cache.keptKeys.keys { _ in true }.isEmpty)
  }

  @Test func `a file that any process may have replaced leaves memory as replaced`() throws {
    let scene = try DiskScene()
    let cache = try scene.open(.string)
    try cache.store("value", forKey: "key")
    cache.disk.engine.tellOfAnyChange()
    #expect(cache.statistics.memory.removals[.replaced] == 1)
    #expect(cache.statistics.memory.removals[.explicit] ?? 0 == 0)
  }

  @Test func `memory keeps no more values than its limit pays for`() throws {
    let scene = try DiskScene()
    func limit(_ change: @Sendable (inout CacheConfiguration) -> Void) throws -> Int? {
      try scene.open(.string) { change(&$0) }.memory.countLimit
    }
    #expect(try limit { $0.memoryCostLimit = 64 << 20 } == 131_072)
    #expect(try limit { $0.memoryCostLimit = 10 } == 4_096)
    #expect(try limit { $0.memoryCostLimit = nil } == nil)
    #expect(try limit { $0.memoryCountLimit = 7 } == 7)
  }
}
