package import LarderSystem

extension CacheError {
  /// An error of the system in an operation.
  ///
  /// The label keeps `.invalidArgument` and others that are both codes and error numbers apart.
  package init(
    errno: Errno, operation: String, path: String? = nil, oldValueRemains: Bool = false
  ) {
    self.init(
      Code(errno), operation: operation, path: path, errno: errno,
      oldValueRemains: oldValueRemains)
  }

  /// An error of the system while an entry was read.
  package init(readFailure errno: Errno, name: String) {
    self.init(errno: errno, operation: "read", path: name)
  }

  /// The same failure, with what became of the older value.
  package func settingOldValueRemains(_ remains: Bool) -> CacheError {
    CacheError(
      code, operation: operation, path: path, errno: errno, oldValueRemains: remains,
      underlying: underlying)
  }
}

extension CacheError.Code {
  /// The code under which a caller finds the cure for an error number.
  package init(_ errno: Errno) {
    self =
      switch errno {
      case .permissionDenied, .notPermitted: .permissionDenied
      case .noSuchFile: .directoryMissing
      case .notDirectory, .tooManyLinks: .notADirectory
      case .noSpace, .quotaExceeded: .noSpace
      case .readOnlyFileSystem: .readOnly
      case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory: .resourcesExhausted
      // rename onto a directory: the only operation on entries that meets one.
      case .isDirectory: .nameOccupied
      // The number itself is in the error for who wants to know more.
      default: .io
      }
  }
}
