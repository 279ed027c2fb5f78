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
    try cache.checkUsable("weakerPromises")
    let directory = cache.engine.location
    do throws(Errno) {
      let kind = directory.handle.fileSystem
      self.init(
        kind, kind.weakerPromises(hasAttributes: try directory.handle.descriptor.holdsAttributes()))
    } catch {
      throw CacheError(errno: error, operation: "weakerPromises", path: directory.path)
    }
  }

  /// Returns it with the promise that a directory lacks whose no-atime flag was lost, as in a copy.
  func judging(_ handle: DirectoryHandle) -> Ground {
    do throws(Errno) {
      return try handle.descriptor.hasNoAtimeFlag()
        ? self : Ground(fileSystem, weakerPromises + [.access])
    } catch {
      return self
    }
  }

  private var name: String {
    let name = Array(fileSystem.name.utf8).escapedForDisplay
    return fileSystem.traits.map { "\($0.title) (\(name))" } ?? name
  }

  /// The lines for people, each with a label.
  var lines: [(String, String)] {
    let reach = fileSystem.isNetwork ? "\(name), which other machines may share" : name
    return [("file system", reach)]
      + fileSystem.sentences.map { ("gives", $0.sentence) }
      + weakerPromises.map { ("weaker", $0.sentence) }
  }

  /// Sentences on what the file system gives and on the weaker promises; nil if there are none.
  var sentence: String? {
    if weakerPromises.isEmpty { return nil }
    let given = fileSystem.sentences.map(\.sentence).joined(separator: "; ")
    return (given.isEmpty ? "" : "\(name) gives this: \(given). ")
      + "On \(name) some promises are weaker: "
      + weakerPromises.map(\.sentence).joined(separator: "; ") + "."
  }

  /// The JSON members.
  var jsonMembers: [JSONValue.Member] {
    func object(_ sentences: [(name: String, sentence: String)]) -> JSONValue {
      .object(sentences.map { JSONValue.Member(name: $0.name, value: .string($0.sentence)) })
    }
    return [
      JSONValue.Member(name: "file_system", value: .string(fileSystem.name)),
      JSONValue.Member(name: "network", value: .bool(fileSystem.isNetwork)),
      JSONValue.Member(name: "gives", value: object(fileSystem.sentences)),
      JSONValue.Member(
        name: "weaker_promises", value: object(weakerPromises.map { ($0.name, $0.sentence) })),
    ]
  }
}
