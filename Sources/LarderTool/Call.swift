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
