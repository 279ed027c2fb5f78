import Larder
import LarderFixtures

/// The place of the demo's directory.
///
/// The demo empties its directory. It uses only one that it has made, which the last line of the
/// tag in it tells: a link, or another cache of that name, is left alone.
enum DemoDirectory {
  private static let tagText =
    DirectoryMaking.tagText + "# It was made by larder demo, which empties it at each run.\n"

  /// The paths to try in order: below `$XDG_CACHE_HOME`, `~/.cache`, and the temporary directory.
  static var candidates: [String] {
    var places: [String] = []
    if let cache = absolute("XDG_CACHE_HOME") { places.append(cache) }
    // A missing home directory is not created.
    if let home = absolute("HOME"), isDirectory(home) { places.append(home + "/.cache") }
    places.append(absolute("TMPDIR") ?? "/tmp")
    return places.map { $0 + "/larder-demo" }
  }

  private static func absolute(_ variable: String) -> String? {
    guard let path = SystemEnvironment.variable(variable), path.hasPrefix("/") else { return nil }
    return path
  }

  private static func isDirectory(_ path: String) -> Bool {
    do throws(CacheError) {
      _ = try DirectoryKind(ofDirectory: path)
      return true
    } catch {
      return false
    }
  }

  /// Makes a directory, or throws if there is one that the demo has not made.
  private static func claim(
    _ path: String, _ configuration: DiskCache.Configuration
  ) throws(Failure) {
    // Not cut, because the user has to find it.
    let name = "'\(path.escapedForDisplay)'"
    let tag = Path(path).appending("CACHEDIR.TAG")
    do throws(Errno) {
      if try DirectoryMaking.makeDirectories(path, permissions: 0o700, configuration) {
        setNoAtimeFlag(path)
        var file = try OutputFile(tag, permissions: 0o644)
        try file.write(tagText.utf8.span)
        try file.finish()
        return
      }
      // Of a FIFO the open would wait for a writer.
      if try tag.status().isRegular,
        try InputFile(tag).readToEnd(upTo: 1000).elementsEqual(tagText.utf8)
      {
        return
      }
    } catch .noSuchFile {
      // A directory without a tag.
    } catch {
      throw Failure(error, doing: "make \(name)")
    }
    throw .problem(
      Problem(
        exitCode: .inputOutput, code: CacheError.Code.io.rawValue,
        what: "\(name) was not made by larder demo",
        cure: "move it away, or set XDG_CACHE_HOME"))
  }

  /// As a cache does in a directory that it makes. Some file systems have no such flag.
  private static func setNoAtimeFlag(_ path: String) {
    do throws(Errno) {
      try DirectoryHandle.open(path: path, faults: nil).descriptor.setNoAtimeFlag()
    } catch {
      // The demo works without.
    }
  }

  private static func open(
    _ path: String, _ configuration: DiskCache.Configuration
  ) throws(Failure) -> DiskCache {
    try claim(path, configuration)
    do throws(CacheError) {
      return try DiskCache(directory: path, configuration: configuration)
    } catch {
      throw Failure(error, directory: Array(path.utf8))
    }
  }

  /// Opens the first candidate that can be used.
  static func open(_ configuration: DiskCache.Configuration) throws(Failure) -> DiskCache {
    var failure = Failure.problem(
      Problem(
        exitCode: .inputOutput, code: CacheError.Code.io.rawValue,
        what: "there is no place for the demo's directory", cure: "set XDG_CACHE_HOME"))
    for path in candidates {
      do throws(Failure) {
        return try open(path, configuration)
      } catch {
        failure = error
      }
    }
    throw failure
  }
}
