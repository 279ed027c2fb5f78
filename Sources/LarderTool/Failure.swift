import Larder

/// The reason that a verb failed.
enum Failure: Error, Sendable {
  /// A failure with an exit status and a sentence for stderr.
  case problem(Problem)
  /// The command line contradicts itself or the state of the directory.
  case usage(String)
  /// The reader of stdout has closed it. No message is written.
  case brokenPipe
}

/// A failure in parts: people read one sentence, and scripts get one JSON object.
struct Problem: Sendable, Hashable {
  let exitCode: ExitCode
  /// A word that stays the same between releases: the code of a `CacheError`, `notACache`, `usage`,
  /// or `absent` for a name that no entry has.
  let code: String
  /// The failure without the cure, or with it if the library wrote the sentence.
  let what: String
  /// The remedy; nil if none is known.
  var cure: String?
  /// The system's error number; nil if no system call failed.
  var errno: Int32?

  /// The sentence for stderr.
  var sentence: String {
    guard let cure, !what.contains(cure) else { return what }
    return "\(what); \(cure)"
  }

  /// The object for scripts.
  var json: JSONValue {
    [
      "schema": 1, "error": .string(what), "code": .string(code), "cure": JSONValue(cure),
      "errno": errno.map { JSONValue($0) } ?? .null, "status": JSONValue(exitCode.rawValue),
    ]
  }
}

extension Failure {
  /// Creates the failure of a system call on a file that the user named.
  init(_ errno: Errno, doing what: String) {
    self = .problem(
      Problem(
        exitCode: .inputOutput, code: CacheError.Code.io.rawValue, what: "cannot \(what): \(errno)",
        errno: errno.rawValue))
  }

  /// Creates the failure for an error of the library on a directory that the user named.
  init(_ error: CacheError, directory: [UInt8]) {
    let name = directory.quotedForDisplay
    let (what, cure): (String, String?) =
      switch error.code {
      case .directoryMissing: Self.sentence(onMissing: directory)
      case .notADirectory: ("\(name) is no directory", "name the directory of a cache")
      case .unsafeDirectory:
        (
          "another user owns \(name) or can write to it",
          "use a directory of your own, run this as its owner, or chmod go-w it"
        )
      case .permissionDenied where error.operation == "open":
        ("\(name) cannot be opened", "check its owner and mode")
      default: (error.description, error.code.remedy)
      }
    self = .problem(
      Problem(
        exitCode: ExitCode(error.code), code: error.code.rawValue, what: what, cure: cure,
        errno: error.errno?.rawValue))
  }

  /// Creates the failure for an error that is not the library's.
  init(unexpected error: any Error) {
    self = .problem(
      Problem(exitCode: .inputOutput, code: CacheError.Code.io.rawValue, what: "\(error)"))
  }

  /// Returns the failure for a missing directory.
  static func missing(
    _ directory: [UInt8], cure: String = "larder put would make it"
  ) -> Failure {
    let (what, cure) = sentence(onMissing: directory, cure: cure)
    return .problem(
      Problem(
        exitCode: .notACache, code: CacheError.Code.directoryMissing.rawValue, what: what,
        cure: cure))
  }

  private static func sentence(
    onMissing directory: [UInt8], cure: String = "larder put would make it"
  ) -> (what: String, cure: String?) {
    let name = directory.quotedForDisplay
    return isLink(directory)
      ? ("\(name) is a link to nothing", "make what it points to, or remove the link")
      : ("\(name) does not exist", cure)
  }

  /// The failure for a watched directory that was removed.
  static let gone = Failure.problem(
    Problem(
      exitCode: .notACache, code: CacheError.Code.directoryMissing.rawValue,
      what: "the directory is gone"))

  /// Whether a path that cannot be opened exists nevertheless, as a dangling link does; not if
  /// another process has just made it.
  static func isLink(_ path: [UInt8]) -> Bool {
    do throws(Errno) {
      _ = try Path(path).status()
      return false
    } catch {
      do throws(Errno) { return try Path(path).isTaken() } catch { return false }
    }
  }

  /// Returns the failure for a directory of other files. Only a verb that writes offers a cure.
  static func notACache(
    _ directory: [UInt8], _ what: String = "holds only other things and no cache",
    cure: String? = nil
  ) -> Failure {
    .problem(
      Problem(
        exitCode: .notACache, code: "notACache", what: "\(directory.quotedForDisplay) \(what)",
        cure: cure ?? "name the directory of a cache"))
  }
}

extension CacheError.Code {
  /// The second part of the library's sentence, which says what to do.
  fileprivate var remedy: String? {
    let parts = cure.split(separator: "; ", maxSplits: 1)
    return parts.count == 2 ? String(parts[1]) : nil
  }
}
