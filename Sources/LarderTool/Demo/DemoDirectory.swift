import Larder

/// The place of the demo's directory.
enum DemoDirectory {
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

  /// Opens the first candidate that can be used.
  static func open(_ configuration: DiskCache.Configuration) throws(Failure) -> DiskCache {
    var failure = Failure.problem(
      Problem(
        exitCode: .inputOutput, code: CacheError.Code.io.rawValue,
        what: "there is no place for the demo's directory", cure: "set XDG_CACHE_HOME"))
    for path in candidates {
      do throws(CacheError) {
        return try DiskCache(directory: path, configuration: configuration)
      } catch {
        failure = Failure(error, directory: Array(path.utf8))
      }
    }
    throw failure
  }
}
