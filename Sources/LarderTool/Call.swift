import Larder

/// One use of a verb: what was asked for, and where the answer goes.
///
/// What each verb does stands in an extension of its own.
struct Call: Sendable {
  let arguments: Arguments
  let console: Console

  /// Whether the answer is one JSON object.
  var isJSON: Bool { arguments.has(.json) }
}

extension Call {
  /// The keys to work on, from the arguments or from `--key-file`.
  func keys() throws(Failure) -> [CacheKey] {
    guard let path = arguments.file(.keyFile) else { return arguments[.key].map { CacheKey($0) } }
    let name = path.quotedForDisplay
    do throws(Errno) {
      let bytes =
        path == Self.dash
        ? try InputFile.standardInput.readToEnd() : try InputFile(Path(path)).readToEnd()
      return [CacheKey(bytes)]
    } catch {
      throw Failure(error, doing: "read the key from \(name)")
    }
  }

  /// What stands for stdin or stdout in the place of a file.
  static let dash = [UInt8(ascii: "-")]

  /// The one key of a verb that takes one.
  func key() throws(Failure) -> CacheKey {
    guard let key = try keys().first else { throw .usage("KEY is missing") }
    return key
  }
}

extension Call {
  /// The names of keys' files: with the extension asked for, else the bare name if it is there,
  /// else the only one there is with another, else the bare name.
  func names(of keys: [CacheKey], in cache: DiskCache) throws(Failure) -> [EntryName] {
    if let wanted = arguments.fileExtension {
      return keys.map { EntryName($0, fileExtension: wanted) }
    }
    let found = try onCache { () throws(CacheError) in try cache.names(forKeys: keys) }
    var names: [EntryName] = []
    for (key, candidates) in zip(keys, found) {
      // Guessing among several would make a script depend on what else is in the directory.
      guard candidates.count <= 1 else { throw Self.ambiguous(candidates) }
      names.append(candidates.first ?? EntryName(key))
    }
    return names
  }

  private static func ambiguous(_ names: [EntryName]) -> Failure {
    let list = names.map(\.description).joined(separator: ", ")
    return .usage("the key has several files, \(list); say which with --ext")
  }
}

extension Call {
  /// Names the next command, where a person reads both streams.
  ///
  /// On stderr, so that what is copied from stdout has none of it.
  func suggest(_ verb: String, _ rest: String = "", _ why: String) {
    guard console.isTerminal, console.showsProgress, !isJSON else { return }
    guard let directory = shellDirectory else { return }
    let command = ["larder", verb, directory, rest].filter { !$0.isEmpty }.joined(separator: " ")
    // The command can be pasted whole or not at all; the reason only if there is room.
    let line = "next: \(command)  # \(why)"
    let isShort = line.displayWidth <= console.width ?? .max
    console.talk(console.style.dim(isShort ? line : "next: \(command)") + "\n")
  }

  /// DIR as a word of a shell; nil for one that could not be pasted back.
  private var shellDirectory: String? {
    let word = CacheKey(arguments.directory).shellWord
    return word.map { arguments.directory.first == UInt8(ascii: "-") ? "./\($0)" : $0 }
  }
}

extension CacheKey {
  /// The key as a word of a shell; nil for one that could not be pasted back.
  var shellWord: String? {
    guard let text = String(validating: bytes, as: UTF8.self),
      !text.unicodeScalars.contains(where: \.isUnsafeForDisplay)
    else { return nil }
    return text.shellWord
  }
}
