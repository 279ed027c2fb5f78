import Larder

/// The file system of a cache directory, and the promises that are weaker on it.
struct Ground: Sendable {
  let fileSystem: FileSystemKind
  let weakerPromises: [WeakerPromise]

  init(_ fileSystem: FileSystemKind, _ weakerPromises: [WeakerPromise]) {
    (self.fileSystem, self.weakerPromises) = (fileSystem, weakerPromises)
  }

  /// Gets both from an open cache.
  init(of cache: DiskCache) throws(CacheError) {
    self.init(cache.fileSystem, try cache.weakerPromises())
  }

  private var name: String { Array(fileSystem.name.utf8).escapedForDisplay }

  /// The lines for people, each with a label.
  var lines: [(String, String)] {
    let reach = fileSystem.isNetwork ? "\(name), which other machines may share" : name
    return [("file system", reach)] + weakerPromises.map { ("weaker", $0.sentence) }
  }

  /// A sentence on the weaker promises; nil if there are none.
  var sentence: String? {
    if weakerPromises.isEmpty { return nil }
    return "On \(name) some promises are weaker: "
      + weakerPromises.map(\.sentence).joined(separator: "; ") + "."
  }

  /// The JSON members.
  var jsonMembers: [JSONValue.Member] {
    let promises = weakerPromises.map {
      JSONValue.Member(name: $0.name, value: .string($0.sentence))
    }
    return [
      JSONValue.Member(name: "file_system", value: .string(fileSystem.name)),
      JSONValue.Member(name: "network", value: .bool(fileSystem.isNetwork)),
      JSONValue.Member(name: "weaker_promises", value: .object(promises)),
    ]
  }
}
