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
      case .directoryMissing: Self.sentence(onMissing: directory)
      case .notADirectory: "\(name) is no directory; name the directory of a cache"
      case .unsafeDirectory:
        "others own \(name) or can write to it; chmod go-w it, or use a directory of your own"
      case .permissionDenied where error.operation == "open":
        "\(name) cannot be opened; check its owner and mode"
      default: error.description
      }
    self = .problem(ExitCode(error.code), sentence)
  }

  /// The directory is not there; `maker` would make it.
  static func missing(_ directory: [UInt8], maker: String = "larder put") -> Failure {
    .problem(.notACache, sentence(onMissing: directory, maker: maker))
  }

  private static func sentence(
    onMissing directory: [UInt8], maker: String = "larder put"
  ) -> String {
    let name = directory.quotedForDisplay
    return isLink(directory)
      ? "\(name) is a link to nothing; make what it points to, or remove the link"
      : "\(name) does not exist; \(maker) would make it"
  }

  /// Whether a path at which nothing can be opened is a link.
  static func isLink(_ path: [UInt8]) -> Bool {
    do throws(Errno) {
      return try Path(path).isTaken()
    } catch {
      return false
    }
  }

  /// The directory holds only other things. Only a verb that writes may offer to take it.
  static func notACache(_ directory: [UInt8], cure: String? = nil) -> Failure {
    let cure = cure ?? "name the directory of a cache"
    return .problem(
      .notACache, "\(directory.quotedForDisplay) holds only other things and no cache; \(cure)")
  }
}
