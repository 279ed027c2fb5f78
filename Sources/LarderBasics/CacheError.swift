public import LarderSystem

/// An error to act on: a code, the operation and path that it concerns, and the cure in a sentence.
///
/// Some failures are no errors but misses with a counted reason: an entry that another process
/// removed, a damaged file. Errors name entries by their digests and never by their keys, because
/// keys can hold secrets.
public struct CacheError: Error, Sendable, Hashable {
  /// The kind of failure.
  public let code: Code
  /// The operation that failed, named as the public function: `"store"`.
  public let operation: String
  /// The file or directory concerned, if there is one.
  public let path: String?
  /// The system's error number, if a system call failed.
  public let errno: Errno?
  /// Whether, after a failed store, an older value is still there and will be served.
  ///
  /// True if the store was refused before it began, as in a read-only cache or in a cancelled task,
  /// if removing the older value failed too, and for `storeIfAbsent`.
  public let oldValueRemains: Bool
  /// The error thrown by the caller's own closure or coder, as text, if that is the cause.
  public let underlying: String?

  package init(
    _ code: Code, operation: String, path: String? = nil, errno: Errno? = nil,
    oldValueRemains: Bool = false, underlying: String? = nil
  ) {
    self.code = code
    self.operation = operation
    self.path = path
    self.errno = errno
    self.oldValueRemains = oldValueRemains
    self.underlying = underlying
  }

  /// The kinds of failure. More may be added: give a `switch` over them a `default`.
  @nonexhaustive
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The directory does not exist, and the cache was not allowed to make it.
    case directoryMissing
    /// The path is there and is not a directory.
    case notADirectory
    /// The directory belongs to another user, or other users can write to it.
    case unsafeDirectory
    /// The directory cannot be opened, read or written with the present permissions.
    case permissionDenied
    /// The file system has no room, or the quota is used up.
    case noSpace
    /// The file system is mounted read-only, or the cache was opened read-only.
    case readOnly
    /// The process or the system has no more descriptors or memory.
    case resourcesExhausted
    /// Another cache in this process holds the directory with different settings.
    case configurationConflict
    /// Another process has the directory open, and one of the two wants it for itself.
    case locked
    /// The file system is shared with other machines, and no lock keeps those out.
    case exclusiveUnsupported
    /// The file system finds open files by their paths, so a read could mix two values.
    case writingUnsupported
    /// The mount has lost the servers of its file system, or they have shut it out.
    case mountLost
    /// The file system cannot hold the extended data asked for.
    case extendedDataUnsupported
    /// A name or a setting cannot be used.
    case invalidArgument
    /// A directory stands where the entry's file belongs.
    case nameOccupied
    /// The coder or the caller's closure threw.
    case callerFailed
    /// The task was cancelled before the operation began.
    case cancelled
    /// A load waits for its own key, or two loads wait for each other.
    case loadCycle
    /// There is no valid value, and the options forbid to load one, or the loaded one was rejected.
    case notCached
    /// The cache was closed.
    case closed
    /// The process was forked after the cache was opened.
    case forked
    /// Any other failure of the system.
    case io
  }
}

extension CacheError: CustomStringConvertible {
  /// One line with the operation, the cure, the path and the cause.
  public var description: String {
    var text = "\(operation): \(code.cure)"
    // Escaped, because names and messages come from outside and errors end up on terminals.
    if let path { text += " [\(path.escapedForDisplay)]" }
    if let errno { text += ": \(errno)" }
    if let underlying { text += ": \(underlying.escapedForDisplay)" }
    if oldValueRemains { text += "; an older value may still be there" }
    return text
  }
}

extension CacheError.Code {
  /// The failure and, after a semicolon, the cure if there is one.
  package var cure: String {
    switch self {
    case .directoryMissing: "the directory does not exist; create it or its parent"
    case .notADirectory: "the path is not a directory; choose another"
    case .unsafeDirectory:
      "another user owns or can change the directory; use one of your own, chmod go-w it, or "
        + "allow it in the configuration"
    case .permissionDenied: "the permissions do not allow it; check owner and mode"
    case .noSpace: "the file system is full or the quota used up; free some or lower the limit"
    case .readOnly: "this cache or its file system is read-only; open or mount it for writing"
    case .resourcesExhausted: "no more descriptors or memory; raise the limit or close some"
    case .configurationConflict:
      "the directory is open in this process with other limits, clock or mode; use the same"
    case .locked: "another process has the directory open, or holds it exclusively; stop it"
    case .exclusiveUnsupported:
      "the file system is shared with other machines, which no lock keeps out; open it shared"
    case .writingUnsupported:
      "the file system finds open files by their paths; choose another, or open it read-only"
    case .mountLost:
      "the mount has lost its servers, or they shut it out; wait for them, or mount it anew"
    case .extendedDataUnsupported:
      "the file system holds no extended attributes of that size; store without extended data"
    case .invalidArgument: "the name or setting cannot be used"
    case .nameOccupied: "a directory stands where the entry belongs; move it away"
    case .callerFailed: "the closure or coder given by the caller threw"
    case .cancelled: "the task was cancelled before the operation began"
    case .loadCycle:
      """
      a load asks for a key whose load waits for it; load that key elsewhere, or from \
      Task.detached
      """
    case .notCached:
      "there is no valid value, and none may be loaded or kept; allow it or do without"
    case .closed: "the cache was closed; open another"
    case .forked: "the process was forked after opening; open the cache again in the child"
    case .io: "the system reported a failure"
    }
  }
}

extension CacheError {
  /// Creates an error from a system call's error number.
  ///
  /// The label tells `.invalidArgument` and the like apart, which are both codes and error numbers.
  package init(
    errno: Errno, operation: String, path: String? = nil, oldValueRemains: Bool = false
  ) {
    self.init(
      Code(errno), operation: operation, path: path, errno: errno,
      oldValueRemains: oldValueRemains)
  }

  /// Creates the error for a file that another process has locked. It names those that can be seen.
  package init(lockOn file: FileIdentity, operation: String, path: String) {
    let holders = LockTable.holders(of: file).map(String.init)
    let text = "held by process \(holders.joined(separator: ", "))"
    self.init(
      .locked, operation: operation, path: path, underlying: holders.isEmpty ? nil : text)
  }

  /// Returns the same error with another `oldValueRemains`.
  package func settingOldValueRemains(_ remains: Bool) -> CacheError {
    CacheError(
      code, operation: operation, path: path, errno: errno, oldValueRemains: remains,
      underlying: underlying)
  }
}

extension CacheError.Code {
  /// Creates the code with the cure for an error number.
  package init(_ errno: Errno) {
    self =
      switch errno {
      case .permissionDenied, .notPermitted: .permissionDenied
      case .noSuchFile: .directoryMissing
      case .notDirectory, .tooManyLinks: .notADirectory
      case .noSpace, .quotaExceeded: .noSpace
      case .readOnlyFileSystem: .readOnly
      case .notConnected, .shutDown, .connectionAborted: .mountLost
      case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory: .resourcesExhausted
      // rename onto a directory: the only operation on entries that meets one.
      case .isDirectory: .nameOccupied
      // The engine gave its directory back while the call ran.
      case .badDescriptor: .closed
      // The error also holds the number, for callers that need more detail.
      default: .io
      }
  }
}
