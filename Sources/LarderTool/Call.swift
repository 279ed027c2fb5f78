import Larder

/// One invocation of a verb: its arguments, and the console for its output.
///
/// Each verb is implemented in an extension of its own.
struct Call: Sendable {
  let arguments: Arguments
  let console: Console
  /// The copy that is read in the place of DIR; nil if DIR is no fixture, or the verb is about the
  /// files themselves.
  var fixtureCopy: FixtureCopy?

  /// The time by which entries are judged: a fixture's own, else the present.
  var now: Timestamp { fixtureCopy?.now ?? WallClock.system.now() }

  /// Whether the answer is one JSON object.
  var isJSON: Bool { arguments.has(.json) }
}

extension Call {
  /// Returns the keys from the arguments or from `--key-file`, each with the parts of `--variant`.
  func keys() throws(Failure) -> [CacheKey] {
    guard let path = arguments.file(.keyFile) else {
      return arguments[.key].map { CacheKey(joined($0)) }
    }
    let name = path.quotedForDisplay
    do throws(Errno) {
      let bytes =
        path == Self.dash
        ? try InputFile.standardInput.readToEnd() : try InputFile(Path(path)).readToEnd()
      return [CacheKey(joined(bytes))]
    } catch {
      throw Failure(error, doing: "read the key from \(name)")
    }
  }

  /// Joins a key with the parts given with `--variant`, as `CacheKey(_:variant:)` does.
  func joined(_ key: [UInt8]) -> [UInt8] {
    arguments.parts(.variant).reduce(key) { $0 + [CacheKey.separator] + $1 }
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
  /// Suggests the next command if both streams go to a terminal.
  ///
  /// The suggestion is on stderr, so that text copied from stdout does not contain it.
  func suggest(_ verb: String, _ rest: String = "", _ why: String) {
    guard hasPeople, let directory = shellDirectory else { return }
    let command = ["larder", verb, directory, rest].filter { !$0.isEmpty }.joined(separator: " ")
    // The command is shown in full so that it can be pasted; the reason only if there is room.
    let line = "next: \(command)  # \(why)"
    let isShort = line.displayWidth <= console.width ?? .max
    console.talk(console.style.dim(isShort ? line : "next: \(command)") + "\n")
  }

  /// Whether both streams go to a terminal, so that hints are of use.
  var hasPeople: Bool { console.isTerminal && console.showsProgress && !isJSON }

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
