import Foundation

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// A cache that stays open while ordinary commands change its directory.
final class LiveDirectory {
  private let folder: TemporaryDirectory
  let path: String
  /// The cache's clock. It is an hour behind, so that stamps of the shell are later than every
  /// store.
  let clock: ManualClock
  let cache: DiskCache

  init(_ change: (inout DiskCache.Configuration) -> Void = { _ in }) throws {
    folder = try TemporaryDirectory()
    path = folder.path + "/cache"
    clock = ManualClock(WallClock.system.now().adding(seconds: -3600))
    var configuration = DiskCache.Configuration()
    configuration.clock = clock.wallClock
    change(&configuration)
    cache = try DiskCache(directory: path, configuration: configuration)
  }

  /// Sets the cache's clock to the present, just after all stamps of the shell.
  func catchUp() {
    clock.now = WallClock.system.now()
  }

  /// Runs a script in the directory. `$FILE` is the file of a key, `$OUT` the parent folder.
  @discardableResult
  func shell(_ script: String, file key: String = "a") throws -> String {
    try Shell.run(
      script, in: path, ["FILE": String(cache.path(forKey: key).suffix(32)), "OUT": folder.path])
  }

  /// Returns a cache that knows the directory only from disk, and changes nothing in it.
  func stranger(
    at name: String = "cache", _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws -> DiskCache {
    var configuration = DiskCache.Configuration()
    configuration.clock = clock.wallClock
    configuration.mode = .readOnly
    change(&configuration)
    return try DiskCache(directory: "\(folder.path)/\(name)", configuration: configuration)
  }

  /// Returns the content of a directory in the folder, by default the cache's.
  func record(of name: String = "cache") throws -> DirectoryRecord {
    try DirectoryRecord("\(folder.path)/\(name)")
  }
}

extension DiskCache {
  /// Returns the result of a read as text: the value, or the reason for the miss.
  func say(_ key: String) throws -> String {
    let before = statistics.misses
    if let value = try value(forKey: key) { return String(decoding: value, as: UTF8.self) }
    let reasons = MissReason.allCases.filter { statistics.misses[$0] != before[$0] }
    return "miss: " + reasons.map(\.rawValue).joined(separator: " ")
  }
}
