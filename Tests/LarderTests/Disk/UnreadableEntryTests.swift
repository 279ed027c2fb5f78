import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem
@testable import LarderTool

struct `An entry that cannot be opened` {
  @Test func `that another machine has removed has no name and no length`() throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    scene.faults.plan(.errno(.staleHandle), for: .fstatat, onwards: true)
    #expect(try cache.names(forKeys: ["k"]) == [[]])
    #expect(try cache.remove(DiskScene.name(of: Array("k".utf8))) == nil)
    #expect(try cache.survey().hasTag == false)
  }

  @Test(arguments: [
    (Errno.noSuchFile, MissReason.absent), (.tooManyLinks, .foreign),
    (.noSuchDeviceOrAddress, .foreign), (.staleHandle, .unreadable), (.ioError, .unreadable),
  ])
  func `is a miss with a reason of its own`(errno: Errno, reason: MissReason) throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    scene.faults.plan(.errno(errno), for: .openat)
    #expect(try cache.value(forKey: "k") == nil)
    #expect(cache.statistics.misses == [reason: 1])
  }

  @Test func `is listed with what its status tells`() throws {
    let scene = try TemporaryDirectory()
    let faults = FaultInjector()
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    configuration.faults = faults
    let cache = try DiskCache(directory: scene.path + "/c", configuration: configuration)
    try cache.store([1, 2, 3], forKey: "k", expiration: .seconds(60))
    let sound = try #require(try cache.entries().first)
    #expect(sound.isReadable && sound.key == "k")
    // The first call is the walk's; the second opens the entry.
    faults.plan(.errno(.permissionDenied), for: .openat, at: 2)
    let entry = try #require(try cache.entries().first)
    #expect(!entry.isReadable && entry.key == nil && entry.lifetime == nil)
    #expect(entry.name == sound.name && entry.byteCount == 3 && entry.expiry == sound.expiry)
    try cache.close()
  }

  @Test(arguments: ["", "/tmp/a\0b"])
  func `a path that is none opens no directory`(path: String) throws {
    let error = #expect(throws: CacheError.self) { try DiskCache(directory: path) }
    #expect(error?.code == .invalidArgument)
  }
}
