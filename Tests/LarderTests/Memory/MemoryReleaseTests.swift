import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// The threads that release values after their removal from a memory cache.
@Suite(.watched)
struct MemoryReleaseTests {}

extension MemoryReleaseTests {
  typealias Cache = MemoryCache<Int, ReleaseProbe>

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let remove: @Sendable (Cache) -> Void
  }

  static let rows = [
    Row(testDescription: "removeAll", remove: { $0.removeAll() }),
    Row(testDescription: "trim to a count", remove: { $0.trim(toCount: 0) }),
    Row(testDescription: "trim to a cost", remove: { $0.trim(toCost: 0) }),
    Row(testDescription: "a lowered limit", remove: { $0.countLimit = 0 }),
    Row(testDescription: "pressure", remove: { $0.respond(to: .empty) }),
  ]

  /// Fills a cache, removes all values, and returns how many were released on this thread and
  /// elsewhere.
  private func releases(of count: Int, by row: Row, stripes: Int = 1) -> (here: Int, elsewhere: Int)
  {
    let (here, elsewhere, told) = (Counter(), Counter(), Counter())
    let happening = Happening()
    let thread = ThreadIdentity.current
    var configuration = Cache.Configuration()
    configuration.stripes = stripes
    configuration.removalListener = { _, _, _ in
      if ThreadIdentity.current == thread { told.add() }
    }
    let cache = Cache(configuration)
    for key in 0..<count {
      let probe = ReleaseProbe {
        (ThreadIdentity.current == thread ? here : elsewhere).add()
        happening.tell()
      }
      cache.store(probe, forKey: key)
    }
    row.remove(cache)
    #expect(told.value == count)
    #expect(happening.wait { here.value + elsewhere.value == count })
    #expect(cache.count == 0)
    return (here.value, elsewhere.value)
  }

  @Test(arguments: rows)
  func `a few values are released by who removed them`(_ row: Row) {
    #expect(releases(of: 100, by: row) == (100, 0))
  }

  @Test(arguments: rows)
  func `many values are released by another thread, and told of by who removed them`(_ row: Row) {
    #expect(releases(of: 3_000, by: row) == (0, 3_000))
  }

  @Test func `a store that evicts many lets another thread release them`() {
    let cache = Cache(.init(costLimit: 3_000))
    let (here, elsewhere) = (Counter(), Counter())
    let (happening, thread) = (Happening(), ThreadIdentity.current)
    for key in 0..<3_000 {
      let probe = ReleaseProbe {
        (ThreadIdentity.current == thread ? here : elsewhere).add()
        happening.tell()
      }
      cache.store(probe, forKey: key)
    }
    cache.store(ReleaseProbe {}, forKey: 5_000, cost: 3_000)
    #expect(happening.wait { elsewhere.value == 3_000 })
    #expect(here.value == 0)
  }
}
