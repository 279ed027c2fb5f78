import Larder

/// The reason that a verb failed.
enum Failure: Error, Sendable {
  /// An exit status, and a sentence for stderr.
  case problem(ExitCode, String)
  /// The command line contradicts itself or the state of the directory.
  case usage(String)
  /// The reader of stdout has closed it. No message is written.
  case brokenPipe
}

extension Failure {
  /// Creates the failure of a system call on a file that the user named.
  init(_ errno: Errno, doing what: String) {
    self = .problem(.inputOutput, "cannot \(what): \(errno)")
  }

  /// Creates the failure for an error of the library on a directory that the user named.
  init(_ error: CacheError, directory: [UInt8]) {
    let name = directory.quotedForDisplay
    let sentence =
      switch error.code {
      case .directoryMissing: Self.sentence(onMissing: directory)
      case .notADirectory: "\(name) is no directory; name the directory of a cache"
      case .unsafeDirectory:
        "another user owns \(name) or can write to it; chmod go-w it, or use one of your own"
      case .permissionDenied where error.operation == "open":
        "\(name) cannot be opened; check its owner and mode"
      default: error.description
      }
    self = .problem(ExitCode(error.code), sentence)
  }

  /// Returns the failure for a missing directory; `maker` is the command that would create it.
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

  /// Whether a path that cannot be opened exists nevertheless, as a dangling link does.
  static func isLink(_ path: [UInt8]) -> Bool {
    do throws(Errno) {
      return try Path(path).isTaken()
    } catch {
      return false
    }
  }

  /// Returns the failure for a directory of other files. Only a verb that writes offers a cure.
  static func notACache(_ directory: [UInt8], cure: String? = nil) -> Failure {
    let cure = cure ?? "name the directory of a cache"
    return .problem(
      .notACache, "\(directory.quotedForDisplay) holds only other things and no cache; \(cure)")
  }
}
