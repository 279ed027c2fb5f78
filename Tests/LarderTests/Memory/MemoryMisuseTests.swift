import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// Traps on misuse. Each test runs in a process of its own.
struct MemoryMisuseTests {
  typealias Cache = MemoryCache<Int, Int>

  @Test
  func `a negative cost limit traps`() async {
    await #expect(processExitsWith: .failure) { _ = Cache(.init(costLimit: -1)) }
  }

  @Test
  func `a negative count limit traps`() async {
    await #expect(processExitsWith: .failure) { _ = Cache(.init(countLimit: -1)) }
  }

  @Test
  func `a negative age limit traps`() async {
    await #expect(processExitsWith: .failure) { _ = Cache(.init(ageLimit: .seconds(-1))) }
  }

  @Test
  func `a negative limit that is set later traps`() async {
    await #expect(processExitsWith: .failure) { Cache().countLimit = -1 }
  }

  @Test
  func `a negative cost traps`() async {
    await #expect(processExitsWith: .failure) { Cache().store(1, forKey: 1, cost: -1) }
  }

  @Test(arguments: [Double.nan, 0, 1, -1, .infinity])
  func `a share that is none traps with a sentence`(share: Double) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [bits = share.bitPattern as UInt64] in
      let cache = Cache()
      cache.store(1, forKey: 1)
      cache.respond(to: .reduce(share: Double(bitPattern: bits)))
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("share must be above 0 and below 1"))
  }

  @Test
  func `a negative trim traps`() async {
    await #expect(processExitsWith: .failure) { Cache().trim(toCount: -1) }
    await #expect(processExitsWith: .failure) { Cache().trim(toCost: -1) }
    await #expect(processExitsWith: .failure) { Cache().trim(toAge: .seconds(-1)) }
  }

  @Test(arguments: [0.0, -0.5, 1.5])
  func `a trim target outside of the limit traps`(_ target: Double) async {
    await #expect(processExitsWith: .failure) { [target = target as Double] in
      var configuration = Cache.Configuration(countLimit: 10)
      configuration.trimTarget = target
      _ = Cache(configuration)
    }
  }

  @Test(arguments: [-1, 0, 3, 17, 32])
  func `an odd number of stripes traps`(_ stripes: Int) async {
    await #expect(processExitsWith: .failure) { [stripes = stripes as Int] in
      var configuration = Cache.Configuration()
      configuration.stripes = stripes
      _ = Cache(configuration)
    }
  }
}
