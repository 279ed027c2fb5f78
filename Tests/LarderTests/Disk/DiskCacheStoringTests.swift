import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

struct `Storing on disk` {
  let directory: TemporaryDirectory
  let clock = ManualClock(Timestamp(seconds: 1_800_000_000))

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func open(_ change: (inout DiskCache.Configuration) -> Void = { _ in }) throws
    -> DiskCache
  {
    var configuration = DiskCache.Configuration()
    configuration.clock = clock.wallClock
    change(&configuration)
    return try DiskCache(directory: directory.path + "/cache", configuration: configuration)
  }

  @Test func `a value comes back from the file that md5sum names`() throws {
    let cache = try open()
    #expect(try cache.store(Array("hello".utf8), forKey: "abc") == .stored)
    #expect(try cache.value(forKey: "abc") == Array("hello".utf8))
    #expect(cache.path(forKey: "abc").hasSuffix("/900150983cd24fb0d6963f7d28e17f72"))
    #expect(try cache.count() == 1)
    #expect(try cache.totalSize() == 5)
    #expect(try cache.read(forKey: "abc")?.expiry == clock.now.adding(seconds: 7 * 86_400))
    #expect(try cache.remove(forKey: "abc"))
    #expect(try cache.value(forKey: "abc") == nil)
    #expect(cache.statistics.misses == [.absent: 1])
    try cache.close()
  }

  @Test func `passing the limit evicts the least recently used down to half`() throws {
    let cache = try open { $0.sizeLimit = 1000 }
    _ = try cache.count()
    for number in 0..<10 {
      clock.advance(by: .seconds(1))
      try cache.store([UInt8](repeating: 1, count: 100), forKey: "\(number)")
    }
    _ = try cache.value(forKey: "0")
    clock.advance(by: .seconds(1))
    try cache.store([UInt8](repeating: 1, count: 100), forKey: "10")
    try cache.flush()
    #expect(try cache.totalSize() == 500)
    #expect(try cache.contains("0"))
    #expect(try cache.contains("10"))
    #expect(try !cache.contains("1"))
    #expect(cache.statistics.removals[.evicted] == 6)
    #expect(cache.statistics.purges == 1)
    #expect(try cache.entries().count == 5)
    #expect(try cache.removeAll().removed == 5)
    #expect(try cache.count() == 0)
  }
}
