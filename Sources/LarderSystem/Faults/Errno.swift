import LarderLibc

/// A system call's error number. Corresponds to C's `errno`.
public struct Errno: RawRepresentable, Sendable, Hashable, Error {
  /// The number.
  public let rawValue: Int32

  /// Creates an error from its number.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  // Only errors that some decision depends on. Each is named after the failure; people see the
  // number and the system's sentence.
  package static let badDescriptor = Errno(rawValue: EBADF)
  package static let permissionDenied = Errno(rawValue: EACCES)
  package static let notPermitted = Errno(rawValue: EPERM)
  package static let noSuchFile = Errno(rawValue: ENOENT)
  package static let fileExists = Errno(rawValue: EEXIST)
  package static let isDirectory = Errno(rawValue: EISDIR)
  package static let notDirectory = Errno(rawValue: ENOTDIR)
  static let interrupted = Errno(rawValue: EINTR)
  package static let ioError = Errno(rawValue: EIO)
  package static let noSpace = Errno(rawValue: ENOSPC)
  package static let quotaExceeded = Errno(rawValue: EDQUOT)
  package static let fileTooLarge = Errno(rawValue: EFBIG)
  package static let readOnlyFileSystem = Errno(rawValue: EROFS)
  package static let tooManyOpenFiles = Errno(rawValue: EMFILE)
  package static let tooManyOpenFilesInSystem = Errno(rawValue: ENFILE)
  package static let noMemory = Errno(rawValue: ENOMEM)
  package static let tooManyLinks = Errno(rawValue: ELOOP)
  package static let nameTooLong = Errno(rawValue: ENAMETOOLONG)
  package static let staleHandle = Errno(rawValue: ESTALE)
  package static let notConnected = Errno(rawValue: ENOTCONN)
  /// A client that its servers have shut out, as CephFS does with one that was silent for too long.
  package static let shutDown = Errno(rawValue: ESHUTDOWN)
  /// A call that waits for the process of a FUSE mount when that process ends.
  package static let connectionAborted = Errno(rawValue: ECONNABORTED)
  package static let noSuchDeviceOrAddress = Errno(rawValue: ENXIO)
  package static let noData = Errno(rawValue: ENODATA)
  package static let rangeTooSmall = Errno(rawValue: ERANGE)
  package static let argumentListTooLong = Errno(rawValue: E2BIG)
  package static let notSupported = Errno(rawValue: EOPNOTSUPP)
  package static let invalidArgument = Errno(rawValue: EINVAL)
  static let noSuchSystemCall = Errno(rawValue: ENOSYS)
  package static let brokenPipe = Errno(rawValue: EPIPE)
  package static let wouldBlock = Errno(rawValue: EWOULDBLOCK)

  /// The error of the call that just failed in this thread.
  ///
  /// Valid until the next call in this thread, so read it right after a failure.
  package static var current: Errno { Errno(rawValue: errno) }
}

extension Errno: CustomStringConvertible {
  /// The system's sentence and the number. Corresponds to `strerror_r`.
  public var description: String {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(rawValue, &text, text.count) == 0 else { return "error \(rawValue)" }
    let sentence = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return "\(String(decoding: sentence, as: UTF8.self)) (\(rawValue))"
  }
}
