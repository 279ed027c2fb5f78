import Larder

extension Call {
  /// Opens the cache directory without changing anything in it.
  func openForReading(
    fileExtension: FileExtension = .none
  ) throws(Failure) -> DiskCache {
    // Judged by the names before anything is opened as a cache, so that a wrong DIR is never
    // marked.
    try requireCache()
    return try open { configuration in
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
    _ change: (inout DiskCache.Configuration) -> Void
  ) throws(Failure) -> DiskCache {
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    change(&configuration)
    let path = try directoryPath()
    return try onCache { () throws(CacheError) in
      try DiskCache(directory: path, configuration: configuration)
    }
  }

  /// What the directory is to a cache; nil when it does not exist.
  func directoryKind() throws(Failure) -> DirectoryKind? {
    let path = try directoryPath()
    return try onCache { () throws(CacheError) in
      do throws(CacheError) {
        return try DirectoryKind(ofDirectory: path)
      } catch  where error.code == .directoryMissing {
        return nil
      }
    }
  }

  /// Refuses what is no cache directory before anything in it can be changed.
  private func requireCache() throws(Failure) {
    switch try directoryKind() {
    case .cache, .empty: return
    case .foreign: throw .notACache(arguments.directory)
    case nil:
      throw .problem(
        .notACache,
        "\(arguments.directory.quotedForDisplay) does not exist; larder put would make it")
    }
  }

  /// The path of the directory as the library takes it.
  func directoryPath() throws(Failure) -> String { try text(of: arguments.directory) }

  /// The path of a directory as the library takes it.
  func text(of directory: [UInt8]) throws(Failure) -> String {
    // The library takes text. A replaced byte would name another directory.
    guard let path = String(validating: directory, as: UTF8.self) else {
      let name = directory.quotedForDisplay
      throw .usage("DIR \(name) is not UTF-8; rename it, or reach it through a link")
    }
    return path
  }

  /// Runs a step of the library and makes a failure of the tool from its error.
  func onCache<Result>(_ step: () throws(CacheError) -> Result) throws(Failure) -> Result {
    do throws(CacheError) {
      return try step()
    } catch {
      throw Failure(error, directory: arguments.directory)
    }
  }
}

extension DiskCache.Configuration {
  /// Sets the extension as it was read from the command line or from a name.
  mutating func setFileExtension(_ name: FileExtension) {
    fileExtension = name == .none ? nil : String(decoding: name.bytes, as: UTF8.self)
  }
}
