import Foundation

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// A cache that stays open while others work on its directory with ordinary commands.
final class LiveDirectory {
  private let folder: TemporaryDirectory
  let path: String
  /// An hour behind, so that what the shell stamps with the present is later than every store.
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

  /// Moves the cache's clock to just after everything that the shell has stamped.
  func catchUp() {
    clock.now = WallClock.system.now()
  }

  /// Runs a script in the directory. `$FILE` is the file of a key, `$OUT` the folder around.
  @discardableResult
  func shell(_ script: String, file key: String = "a") throws -> String {
    try Shell.run(
      script, in: path, ["FILE": String(cache.path(forKey: key).suffix(32)), "OUT": folder.path])
  }

  /// A cache that knows of the directory only what is on the disk, and changes nothing in it.
  func stranger(
    at name: String = "cache", _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws -> DiskCache {
    var configuration = DiskCache.Configuration()
    configuration.clock = clock.wallClock
    configuration.mode = .readOnly
    change(&configuration)
    return try DiskCache(directory: "\(folder.path)/\(name)", configuration: configuration)
  }

  /// What a directory in the folder holds, its own by default.
  func record(of name: String = "cache") throws -> DirectoryRecord {
    try DirectoryRecord("\(folder.path)/\(name)")
  }
}

extension DiskCache {
  /// What a read says, as text: the value, or the reason why there is none.
  func say(_ key: String) throws -> String {
    let before = statistics.misses
    if let value = try value(forKey: key) { return String(decoding: value, as: UTF8.self) }
    let reasons = MissReason.allCases.filter { statistics.misses[$0] != before[$0] }
    return "miss: " + reasons.map(\.rawValue).joined(separator: " ")
  }
}
