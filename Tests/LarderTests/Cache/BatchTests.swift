import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

struct `Batches` {
  let directory: TemporaryDirectory
  let cache: Cache<String>

  init() throws {
    directory = try TemporaryDirectory()
    cache = try Cache(directory: directory.path + "/cache", coder: .string)
  }

  @Test(arguments: [0, 1, 3, 4, 5, 100])
  func `many values are stored, read and removed in the order of the keys`(count: Int) async throws
  {
    let keys = (0..<count).map { "key \($0)" }
    let stored = await cache.store(contentsOf: keys.map { (key: $0, value: "value of \($0)") })
    #expect(try stored.map { try $0.get() } == keys.map { _ in .stored })
    cache.memory.removeAll()
    let values = await cache.values(forKeys: keys + ["absent"])
    #expect(try values.map { try $0.get() } == keys.map { "value of \($0)" } + [nil])
    let removed = await cache.remove(forKeys: keys + ["absent"])
    #expect(try removed.map { try $0.get() } == keys.map { _ in true } + [false])
  }

  @Test func `each outcome of a closed cache is its error`() async throws {
    try await cache.close()
    let outcomes = await cache.values(forKeys: ["a", "b"])
    #expect(outcomes.count == 2)
    for outcome in outcomes {
      #expect(throws: CacheError.self) { try outcome.get() }
    }
  }

  @Test func `a cancelled batch says so for what had not begun`() async throws {
    let cache = cache
    let task = Task {
      try await eventually("the cancellation") { () async in Task.isCancelled }
      return await cache.values(forKeys: ["a", "b", "c"])
    }
    task.cancel()
    for outcome in try await task.value {
      let error = #expect(throws: CacheError.self) { try outcome.get() }
      #expect(error?.code == .cancelled)
    }
  }
}
