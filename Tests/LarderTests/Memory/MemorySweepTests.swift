import Synchronization
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

@Suite(.watched)
struct MemorySweepTests {
  typealias Cache = MemoryCache<Int, Int>
  let clock = ManualClock(Timestamp(seconds: 1_000))
  let log = RemovalLog()
  let heard = Happening()
}

extension MemorySweepTests {
  private func cache(
    every interval: Duration? = .seconds(3_600), age: Duration? = nil, stripes: Int = 1
  ) -> Cache {
    var configuration = Cache.Configuration(ageLimit: age)
    configuration.clock = clock.wallClock
    configuration.sweepInterval = interval
    configuration.stripes = stripes
    configuration.removalListener = { [log, heard] in
      log.append("\($0) \($2)")
      heard.tell()
    }
    return Cache(configuration)
  }

  private func isPlanned(_ cache: Cache) -> Bool {
    cache.sweepPlan.load(ordering: .sequentiallyConsistent) == cache.ownSweepPlan
  }

  @Test
  func `no sweep is planned while nothing can expire`() {
    let cache = cache()
    for key in 0..<100 { cache.store(key, forKey: key) }
    _ = cache.value(forKey: 1)
    cache.trim(toAge: .seconds(50))
    cache.store(1, forKey: 1, expiration: .expired)
    #expect(!isPlanned(cache))
  }

  @Test
  func `no sweep is planned where none is wanted`() {
    let cache = cache(every: nil)
    cache.store(1, forKey: 1, expiration: .seconds(1))
    #expect(!isPlanned(cache))
  }

  @Test(arguments: [1, 4])
  func `the first value that can expire plans a sweep, in whichever stripe`(_ stripes: Int) {
    let cache = cache(stripes: stripes)
    for key in 0..<20 { cache.store(key, forKey: key) }
    #expect(!isPlanned(cache))
    cache.store(1, forKey: 20, expiration: .seconds(1))
    #expect(isPlanned(cache))
  }

  @Test
  func `an age limit plans a sweep once there is a value`() {
    let limited = cache(age: .seconds(5))
    #expect(!isPlanned(limited))
    limited.store(1, forKey: 1)
    #expect(isPlanned(limited))
    let later = cache()
    later.ageLimit = .seconds(5)
    #expect(!isPlanned(later))
    later.ageLimit = nil
    later.store(1, forKey: 1)
    #expect(!isPlanned(later))
    later.ageLimit = .seconds(5)
    #expect(isPlanned(later))
  }

  @Test
  func `a sweep goes on while anything can expire and ends with the last of it`() {
    let cache = cache()
    cache.store(1, forKey: 1, expiration: .seconds(10))
    cache.store(2, forKey: 2, expiration: .seconds(20))
    cache.store(3, forKey: 3)
    cache.sweep()
    #expect(log.take().isEmpty)
    #expect(isPlanned(cache))
    clock.advance(by: .seconds(10))
    cache.sweep()
    #expect(log.take() == ["1 expired"])
    #expect(isPlanned(cache))
    clock.advance(by: .seconds(10))
    cache.sweep()
    #expect(log.take() == ["2 expired"])
    #expect(!isPlanned(cache))
    cache.store(4, forKey: 4, expiration: .seconds(10))
    #expect(isPlanned(cache))
  }

  @Test
  func `values leave by themselves, though nobody touches the cache`() {
    let cache = cache(every: .milliseconds(1))
    for key in 0..<50 { cache.store(key, forKey: key, expiration: .seconds(key + 1)) }
    clock.advance(by: .seconds(30))
    #expect(heard.wait { log.total == 30 })
    clock.advance(by: .seconds(30))
    #expect(heard.wait { log.total == 50 })
    #expect(cache.statistics.removals[.expired, default: 0] == 50)
    #expect(cache.statistics.missesExpired == 0)
    withExtendedLifetime(cache) {}
  }

  @Test
  func `threads that store while sweeps run leave nothing unplanned`() {
    let cache = cache()
    let threads = 3
    let isDone = Counter()
    for thread in 0..<threads {
      do {
        try startThread { [heard] in
          for key in 0..<2_000 {
            cache.store(key, forKey: key * 4 + thread, expiration: .seconds(10))
            cache.remove(forKey: key * 4 + thread)
          }
          cache.store(0, forKey: thread, expiration: .seconds(10))
          isDone.add()
          heard.tell()
        }
      } catch {
        Issue.record(error)
      }
    }
    while isDone.value < threads { cache.sweep() }
    #expect(isPlanned(cache))
  }

  @Test
  func `a planned sweep does not keep the cache alive`() {
    weak var cache: Cache?
    do {
      let living = self.cache()
      living.store(1, forKey: 1, expiration: .seconds(1))
      #expect(isPlanned(living))
      cache = living
    }
    #expect(cache == nil)
  }

  @Test(arguments: [0, -1])
  func `an interval that is not positive traps`(_ seconds: Int) async {
    await #expect(processExitsWith: .failure) { [seconds = seconds as Int] in
      var configuration = MemoryCache<Int, Int>.Configuration()
      configuration.sweepInterval = .seconds(seconds)
      _ = MemoryCache<Int, Int>(configuration)
    }
  }
}
