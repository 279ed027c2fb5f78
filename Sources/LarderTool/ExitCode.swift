import Larder

/// What the command's exit status says to a script.
enum ExitCode: UInt8, Sendable, Hashable, CaseIterable {
  /// Everything was done, also when there was nothing to do.
  case fine = 0
  /// The answer is bad news: a miss, a rejected value, damage.
  case finding = 1
  /// The command line cannot be understood or contradicts itself.
  case usage = 2
  /// The path is no cache directory, or holds another version of the format.
  case notACache = 3
  /// The system refused or failed.
  case inputOutput = 4
}

extension ExitCode {
  /// One line for the help text.
  var meaning: String {
    switch self {
    case .fine: "done, or nothing to do"
    case .finding: "a finding: a miss, a rejected value, damage"
    case .usage: "the command line makes no sense"
    case .notACache: "not a cache directory, or another version of the format"
    case .inputOutput: "the system refused or failed"
    }
  }

  /// The status for a failure of the library.
  ///
  /// A kind of failure that this version does not know counts as the system's.
  init(_ code: CacheError.Code) {
    self =
      switch code {
      case .directoryMissing, .notADirectory: .notACache
      case .invalidArgument: .usage
      case .unsafeDirectory, .permissionDenied, .noSpace, .readOnly, .resourcesExhausted,
        .configurationConflict, .locked, .exclusiveUnsupported, .extendedDataUnsupported,
        .nameOccupied, .callerFailed,
        .cancelled, .loadCycle, .notCached, .closed, .forked, .io:
        .inputOutput
      // The library's codes are nonexhaustive: a newer one must not stop the tool from compiling.
      @unknown default: .inputOutput
      }
  }
}
