import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// Two published keys with the same MD5, with every tier and in every mode.
struct `Two keys of one name` {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func open(
    _ mode: DiskCache.Mode, _ coherence: DiskCache.Coherence = .events
  ) throws -> Cache<String> {
    var configuration = CacheConfiguration()
    configuration.disk.mode = mode
    configuration.disk.coherence = coherence
    return try Cache(
      directory: directory.path + "/cache", coder: .string, configuration: configuration)
  }

  @Test(
    arguments: [DiskCache.Mode.shared, .exclusive], [DiskCache.Coherence.events, .strict, .none])
  func `never get each other's value, in memory or on disk`(
    mode: DiskCache.Mode, coherence: DiskCache.Coherence
  ) throws {
    for (first, second) in [`Keys on disk`.twins, (`Keys on disk`.twins.1, `Keys on disk`.twins.0)]
    {
      let cache = try open(mode, coherence)
      try cache.store("first", forKey: first)
      #expect(try cache.value(forKey: second) == nil)
      #expect(try cache.value(forKey: first) == "first")
      try cache.store("second", forKey: second)
      #expect(try cache.value(forKey: second) == "second")
      // The first value may still be in memory, but is gone from the disk.
      #expect(try [nil, "first"].contains(cache.value(forKey: first)))
      cache.memory.removeAll()
      #expect(try cache.value(forKey: first) == nil)
      #expect(try cache.value(forKey: second) == "second")
      try cache.removeAll()
      try cache.close()
    }
  }

  @Test(arguments: [DiskCache.Mode.readOnly, .fixture])
  func `are told apart by who only reads`(mode: DiskCache.Mode) throws {
    let writer = try open(.shared)
    try writer.store("first", forKey: `Keys on disk`.twins.0)
    let reader = try open(mode)
    #expect(try reader.value(forKey: `Keys on disk`.twins.1) == nil)
    #expect(try reader.value(forKey: `Keys on disk`.twins.0) == "first")
    #expect(try reader.value(forKey: `Keys on disk`.twins.1) == nil)
    try writer.close()
  }
}
