import Larder

/// The exit status of the command.
enum ExitCode: UInt8, Sendable, Hashable, CaseIterable {
  /// Everything was done, or there was nothing to do.
  case fine = 0
  /// The result is bad news: a miss, a rejected value, damage.
  case finding = 1
  /// The command line cannot be understood or contradicts itself.
  case usage = 2
  /// The path is no cache directory, or has another version of the format.
  case notACache = 3
  /// A system call failed or was refused.
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

  /// Creates the status for an error of the library.
  ///
  /// A code that this version does not know counts as `inputOutput`.
  init(_ code: CacheError.Code) {
    self =
      switch code {
      case .directoryMissing, .notADirectory: .notACache
      case .invalidArgument: .usage
      case .unsafeDirectory, .permissionDenied, .noSpace, .readOnly, .resourcesExhausted,
        .configurationConflict, .locked, .exclusiveUnsupported, .writingUnsupported, .mountLost,
        .extendedDataUnsupported, .nameOccupied, .callerFailed, .cancelled, .loadCycle, .notCached,
        .closed, .forked, .io:
        .inputOutput
      // The codes are nonexhaustive, so that the tool compiles with a newer library.
      @unknown default: .inputOutput
      }
  }
}
