import Larder

extension Call {
  /// Opens the cache directory without changing anything in it.
  func openForReading(
    _ directory: [UInt8]? = nil, fileExtension: FileExtension = .none
  ) throws(Failure) -> DiskCache {
    // Judged by the names before anything is opened as a cache, so that a wrong DIR is never
    // marked.
    try requireCache(directory)
    return try open(directory) { configuration in
      configuration.mode = .readOnly
      configuration.setFileExtension(fileExtension)
    }
  }

  /// Opens the cache directory to change it; one that is missing stays missing.
  func openForWriting(
    _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws(Failure) -> DiskCache {
    try requireCache()
    return try open { configuration in
      configuration.makesDirectory = false
      change(&configuration)
    }
  }

  /// Opens the cache directory by settings that start from the tool's own: no limit, so that
  /// nothing is evicted and no scan begins that nobody asked for.
  func open(
    _ directory: [UInt8]? = nil, _ change: (inout DiskCache.Configuration) -> Void
  ) throws(Failure) -> DiskCache {
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    change(&configuration)
    let path = try Self.path(of: directory ?? arguments.directory)
    return try onCache(directory) { () throws(CacheError) in
      try DiskCache(directory: path, configuration: configuration)
    }
  }

  /// What the directory is to a cache; nil when it does not exist.
  func directoryKind(_ directory: [UInt8]? = nil) throws(Failure) -> DirectoryKind? {
    let path = try Self.path(of: directory ?? arguments.directory)
    return try onCache(directory) { () throws(CacheError) in
      do throws(CacheError) {
        return try DirectoryKind(ofDirectory: path)
      } catch  where error.code == .directoryMissing {
        return nil
      }
    }
  }

  /// Refuses what is no cache directory before anything in it can be changed.
  private func requireCache(_ directory: [UInt8]? = nil) throws(Failure) {
    let name = directory ?? arguments.directory
    switch try directoryKind(directory) {
    case .cache, .empty: return
    case .foreign: throw .notACache(name)
    case nil: throw .missing(name)
    }
  }

  /// The path of a directory as the library takes it.
  static func path(of directory: [UInt8]) throws(Failure) -> String {
    // The library takes text. A replaced byte would name another directory.
    guard let path = String(validating: directory, as: UTF8.self) else {
      let name = directory.quotedForDisplay
      throw .usage("DIR \(name) is not UTF-8; rename it, or reach it through a link")
    }
    return path
  }

  /// Runs a step of the library and makes a failure of the tool from its error.
  func onCache<Result: ~Copyable>(
    _ directory: [UInt8]? = nil, _ step: () throws(CacheError) -> Result
  ) throws(Failure) -> Result {
    do throws(CacheError) {
      return try step()
    } catch {
      throw Failure(error, directory: directory ?? arguments.directory)
    }
  }
}

extension DiskCache.Configuration {
  /// Sets the extension as it was read from the command line or from a name.
  mutating func setFileExtension(_ name: FileExtension) {
    fileExtension = name == .none ? nil : String(decoding: name.bytes, as: UTF8.self)
  }
}
