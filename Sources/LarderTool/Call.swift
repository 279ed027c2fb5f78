import Larder

/// One invocation of a verb: its arguments, and the console for its output.
///
/// Each verb is implemented in an extension of its own.
struct Call: Sendable {
  let arguments: Arguments
  let console: Console

  /// Whether the answer is one JSON object.
  var isJSON: Bool { arguments.has(.json) }
}

extension Call {
  /// Returns the keys from the arguments or from `--key-file`.
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

  /// The argument that means stdin or stdout instead of a file.
  static let dash = [UInt8(ascii: "-")]

  /// Returns the key of a verb that takes one.
  func key() throws(Failure) -> CacheKey {
    guard let key = try keys().first else { throw .usage("KEY is missing") }
    return key
  }
}

extension Call {
  /// Returns the name of each key's file. With `--ext`, the name has that extension. Without, it is
  /// the bare name if that file exists, else the name of the only file with an extension, else the
  /// bare name.
  func names(of keys: [CacheKey], in cache: DiskCache) throws(Failure) -> [EntryName] {
    if let wanted = arguments.fileExtension {
      return keys.map { EntryName($0, fileExtension: wanted) }
    }
    let found = try onCache { () throws(CacheError) in try cache.names(forKeys: keys) }
    var names: [EntryName] = []
    for (key, candidates) in zip(keys, found) {
      // Not guessed, because the result of a script would depend on other files in the directory.
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
  /// Suggests the next command if both streams go to a terminal.
  ///
  /// The suggestion is on stderr, so that text copied from stdout does not contain it.
  func suggest(_ verb: String, _ rest: String = "", _ why: String) {
    guard console.isTerminal, console.showsProgress, !isJSON else { return }
    guard let directory = shellDirectory else { return }
    let command = ["larder", verb, directory, rest].filter { !$0.isEmpty }.joined(separator: " ")
    // The command is shown in full so that it can be pasted; the reason only if there is room.
    let line = "next: \(command)  # \(why)"
    let isShort = line.displayWidth <= console.width ?? .max
    console.talk(console.style.dim(isShort ? line : "next: \(command)") + "\n")
  }

  /// DIR quoted for a shell; nil if it contains characters that are unsafe on a terminal.
  private var shellDirectory: String? {
    let word = CacheKey(arguments.directory).shellWord
    return word.map { arguments.directory.first == UInt8(ascii: "-") ? "./\($0)" : $0 }
  }
}

extension CacheKey {
  /// The key quoted for a shell; nil if it contains characters that are unsafe on a terminal.
  var shellWord: String? {
    guard let text = String(validating: bytes, as: UTF8.self),
      !text.unicodeScalars.contains(where: \.isUnsafeForDisplay)
    else { return nil }
    return text.shellWord
  }
}
