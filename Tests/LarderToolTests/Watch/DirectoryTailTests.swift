import Foundation
import Larder
import Testing

@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem
@testable import LarderTool

/// The events of a directory that is watched.
struct DirectoryTailTests {
  @Test func `nothing follows the end of the directory`() throws {
    let scene = try Scene()
    let path = scene.root.appending(path: "c").path
    let cache = try DiskCache(directory: path)
    var watch = try DirectoryTail(cache)
    try cache.store([1], forKey: "k")
    try FileManager.default.removeItem(atPath: path)
    let tail = try watch.events()
    #expect(tail.suffix(2) == [.removed(EntryName(CacheKey("k"))), .ended])
    let later = try watch.events()
    #expect(later == [])
    try cache.close()
  }

  @Test(arguments: [("nfs4", true), ("ext4", false)])
  func `a watch says that it does not see what other machines do`(
    name: String, isNetwork: Bool
  ) throws {
    let scene = try Scene()
    var configuration = DiskCache.Configuration()
    let faults = FaultInjector()
    faults.simulate(FileSystemKind(name: name, isNetwork: isNetwork))
    configuration.faults = faults
    let cache = try DiskCache(
      directory: scene.root.appending(path: "c").path, configuration: configuration)
    let watch = try DirectoryTail(cache)
    #expect(watch.blindness?.contains("what other machines do") == (isNetwork ? true : nil))
    try cache.close()
  }

  // As of a write: the file is not opened.
  @Test func `a changed expiry alone is seen`() throws {
    let scene = try Scene()
    try scene.put("v", "k")
    let cache = try DiskCache(directory: scene.root.appending(path: "c").path)
    var watch = try DirectoryTail(cache)
    _ = try scene.shell("touch -c -m -d '+1 hour' \"$($larder path c k)\"")
    #expect(try watch.events() == [.stamped(EntryName(CacheKey("k")))])
    try cache.close()
  }

  // The system tells of a stamp that sets the last access alone as of a read.
  @Test func `a use by a cache is seen`() throws {
    let scene = try Scene()
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    configuration.recencyGranularity = .zero
    let path = scene.root.appending(path: "c").path
    let cache = try DiskCache(directory: path, configuration: configuration)
    try cache.store([1], forKey: "k")
    var watch = try DirectoryTail(cache)
    #expect(try cache.value(forKey: "k") == [1])
    try cache.flush()
    let events = try watch.events()
    #expect(events.contains(.stamped(EntryName(CacheKey("k")))))
    try cache.close()
  }
}
