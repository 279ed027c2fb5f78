import Larder
import LarderSystem

extension Call {
  /// Opens the cache directory without changing anything in it.
  func openForReading(
    _ directory: [UInt8]? = nil, fileExtension: FileExtension = .none
  ) throws(Failure) -> DiskCache {
    // Checked by the names in the directory before it is opened as a cache, so that no file is
    // written to a wrong DIR.
    try requireCache(directory)
    return try open(directory) { configuration in
      configuration.mode = .readOnly
      configuration.setFileExtension(fileExtension)
    }
  }

  /// Opens the cache directory to change it. Does not create a missing directory.
  func openForWriting(
    _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws(Failure) -> DiskCache {
    try requireCache()
    return try open { configuration in
      configuration.makesDirectory = false
      change(&configuration)
    }
  }

  /// Throws if a verb that chooses what it removes must not be let into the directory: its files
  /// may be another program's, or have the stamps of a checkout.
  func requireRemovable() throws(Failure) {
    try requireCache()
    let (isProven, isFixture) = try proof()
    if isFixture {
      throw .usage("DIR is a fixture, with the stamps of a checkout; name a KEY or FILE")
    }
    if !isProven {
      let cure = "an empty file CACHEDIR.TAG in it says that it is one"
      throw .notACache(arguments.directory, cure: cure)
    }
  }

  /// Opens the cache directory with the tool's own settings. It sets no limit, so that nothing is
  /// evicted, and no scan starts, unless the verb asks for one or a value finds the disk full. A
  /// directory that a group shares stays shared with it.
  func open(
    _ directory: [UInt8]? = nil, _ change: (inout DiskCache.Configuration) -> Void
  ) throws(Failure) -> DiskCache {
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    if goesByValue { configuration.evictionOrder = .leastValuable }
    change(&configuration)
    var path = try Self.path(of: directory ?? arguments.directory)
    if directory == nil, let fixture = fixtureCopy {
      path = fixture.path
      configuration.clock = ManualClock(fixture.now).wallClock
    }
    configuration.sharesWithGroup = Self.isShared(path)
    return try onCache(directory) { () throws(CacheError) in
      try DiskCache(directory: path, configuration: configuration)
    }
  }

  /// Whether a directory has the mode that `DiskCache.Configuration.sharesWithGroup` gives it: its
  /// group may write, and new files get that group.
  private static func isShared(_ path: String) -> Bool {
    do throws(Errno) {
      let status = try DirectoryHandle.open(path: path, faults: nil).status(of: FileName("."))
      return status.permissions & 0o2020 == 0o2020
    } catch {
      return false
    }
  }

  /// Whether the verb evicts, or shows, the least valuable first.
  var goesByValue: Bool {
    arguments.choice(.order) == "value" || arguments.choice(.sort) == EntryOrder.value.rawValue
  }

  /// Returns the path of a directory as text, which the library takes.
  static func path(of directory: [UInt8]) throws(Failure) -> String {
    // Invalid bytes are refused, because a replacement character would name another directory.
    guard let path = String(validating: directory, as: UTF8.self) else {
      let name = directory.quotedForDisplay
      throw .usage("DIR \(name) is not UTF-8; rename it, or reach it through a link")
    }
    return path
  }

  /// Runs a step that calls the library, and converts its error to a ``Failure``.
  func onCache<Result: ~Copyable>(
    _ directory: [UInt8]? = nil, _ step: () throws(CacheError) -> Result
  ) throws(Failure) -> Result {
    do throws(CacheError) {
      return try step()
    } catch {
      throw Failure(error, directory: directory ?? arguments.directory)
    }
  }

  /// Runs a step on more than one directory. The failure names the directory of the error.
  func onFixture<Result>(
    _ step: () throws(CacheError) -> Result
  ) throws(Failure) -> Result {
    do throws(CacheError) {
      return try step()
    } catch {
      throw Failure(error, directory: error.path.map { Array($0.utf8) } ?? arguments.directory)
    }
  }
}

extension DiskCache.Configuration {
  /// Sets the extension from the command line or from an entry's name.
  mutating func setFileExtension(_ name: FileExtension) {
    fileExtension = name == .none ? nil : String(decoding: name.bytes, as: UTF8.self)
  }
}
