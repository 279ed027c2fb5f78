import Larder

/// The values that the demo caches: real files if there are any.
struct DemoFiles: Sendable {
  /// One value and the key it is stored under.
  struct File: Sendable {
    let key: CacheKey
    let content: [UInt8]
  }

  /// The origin of the values, in words.
  let origin: String
  /// The values in the order in which they are stored.
  let files: [File]

  /// The bytes of all values together.
  var byteCount: Int { files.reduce(0) { $0 + $1.content.count } }

  private static let fileCount = 400
  private static let byteCounts = 1...(256 << 10)

  /// Finds files: the sources of the package in the current directory, else documents of the
  /// system. If there are none, as in an empty root directory, makes up pages.
  static func gather() -> DemoFiles {
    let isPackage = !read(["Package.swift"]).isEmpty
    let places = (isPackage ? ["Sources"] : []) + ["/usr/share", "/usr/include", "/etc"]
    for place in places {
      let paths = FileTree.readableFiles(under: place, byteCounts: byteCounts, limit: fileCount)
      let files = read(paths)
      if files.count >= 10 { return DemoFiles(origin: "files of \(place)", files: files) }
    }
    return DemoFiles(origin: "made-up pages", files: (1...100).map(page))
  }

  private static func read(_ paths: [String]) -> [File] {
    paths.compactMap { path in
      do throws(Errno) {
        return File(key: CacheKey(path), content: try InputFile(Path(path)).readToEnd())
      } catch {
        // The file is gone or may not be read: the demo leaves it out.
        return nil
      }
    }
  }

  private static func page(_ number: Int) -> File {
    let line = "This is page \(number), made up because no files were found here.\n"
    let lines = Array(repeating: line, count: 10 + number)
    return File(key: CacheKey("page \(number)"), content: Array(lines.joined().utf8))
  }
}
