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

  private var name: String {
    let name = Array(fileSystem.name.utf8).escapedForDisplay
    return fileSystem.traits.map { "\($0.title) (\(name))" } ?? name
  }

  /// The lines for people, each with a label.
  var lines: [(String, String)] {
    let reach = fileSystem.isNetwork ? "\(name), which other machines may share" : name
    return [("file system", reach)]
      + (fileSystem.traits?.sentences ?? []).map { ("gives", $0.sentence) }
      + weakerPromises.map { ("weaker", $0.sentence) }
  }

  /// Sentences on what the file system gives and on the weaker promises; nil if there are none.
  var sentence: String? {
    if weakerPromises.isEmpty { return nil }
    let given = fileSystem.traits?.sentences.map(\.sentence).joined(separator: "; ")
    return (given.map { "\(name) gives this: \($0). " } ?? "")
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
      JSONValue.Member(name: "gives", value: object(fileSystem.traits?.sentences ?? [])),
      JSONValue.Member(
        name: "weaker_promises", value: object(weakerPromises.map { ($0.name, $0.sentence) })),
    ]
  }
}

extension FileSystemTraits {
  /// A sentence for each trait, with one word for scripts.
  fileprivate var sentences: [(name: String, sentence: String)] {
    let stamps = hasFineStamps ? "nanoseconds" : "whole seconds"
    return [
      (
        "coherence",
        coherenceDelay == 0
          ? "a look shows every change, and waits for it if it must"
          : "a change shows on other machines within \(coherenceDelay) s"
      ),
      (
        "locks",
        sharesFileLocks ? "locks on files exclude other machines" : "no locks among machines"
      ),
      ("access", "a read by another program \(readsMoveAccess ? "counts as a use" : "is no use")"),
      ("stamps", "stamps are \(stamps)" + (hasShortStamps ? " and end in 2106" : "")),
    ]
  }
}
