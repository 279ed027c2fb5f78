import Larder

/// Why a verb was not carried out.
enum Failure: Error, Sendable {
  /// What the status and the sentence on stderr say.
  case problem(ExitCode, String)
  /// The command line contradicts itself or what is there.
  case usage(String)
  /// Nobody reads what the command prints any more, so that there is nobody to tell either.
  case brokenPipe
}

extension Failure {
  /// A system call on a file that the user named.
  init(_ errno: Errno, doing what: String) {
    self = .problem(.inputOutput, "cannot \(what): \(errno)")
  }

  /// A failure of the library on a directory that the user named.
  init(_ error: CacheError, directory: [UInt8]) {
    let name = directory.quotedForDisplay
    let sentence =
      switch error.code {
      case .directoryMissing: "\(name) does not exist; larder put would make it"
      case .notADirectory: "\(name) is no directory; name the directory of a cache"
      case .unsafeDirectory:
        "others own \(name) or can write to it; chmod go-w it, or use a directory of your own"
      case .permissionDenied where error.operation == "open":
        "\(name) cannot be opened; check its owner and mode"
      default: error.description
      }
    self = .problem(ExitCode(error.code), sentence)
  }

  /// The directory holds only other things.
  static func notACache(_ directory: [UInt8]) -> Failure {
    let name = directory.quotedForDisplay
    return .problem(
      .notACache, "\(name) holds only other things and no cache; larder put --adopt takes it")
  }
}
