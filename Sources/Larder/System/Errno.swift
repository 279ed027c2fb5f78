#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A system call's error number. Corresponds to C's `errno`.
public struct Errno: RawRepresentable, Sendable, Hashable, Error {
  /// The number as the system has it.
  public let rawValue: Int32

  /// Creates an error from its number.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  // Only those that some decision goes by. Each has the name of what happened; the number and the
  // system's sentence are shown to people.
  static let permissionDenied = Errno(rawValue: EACCES)
  static let notPermitted = Errno(rawValue: EPERM)
  static let noSuchFile = Errno(rawValue: ENOENT)
  static let fileExists = Errno(rawValue: EEXIST)
  static let isDirectory = Errno(rawValue: EISDIR)
  static let notDirectory = Errno(rawValue: ENOTDIR)
  static let directoryNotEmpty = Errno(rawValue: ENOTEMPTY)
  static let interrupted = Errno(rawValue: EINTR)
  static let ioError = Errno(rawValue: EIO)
  static let noSpace = Errno(rawValue: ENOSPC)
  static let quotaExceeded = Errno(rawValue: EDQUOT)
  static let fileTooLarge = Errno(rawValue: EFBIG)
  static let readOnlyFileSystem = Errno(rawValue: EROFS)
  static let tooManyOpenFiles = Errno(rawValue: EMFILE)
  static let tooManyOpenFilesInSystem = Errno(rawValue: ENFILE)
  static let noMemory = Errno(rawValue: ENOMEM)
  static let tooManyLinks = Errno(rawValue: ELOOP)
  static let tooManyHardLinks = Errno(rawValue: EMLINK)
  static let nameTooLong = Errno(rawValue: ENAMETOOLONG)
  static let staleHandle = Errno(rawValue: ESTALE)
  static let notConnected = Errno(rawValue: ENOTCONN)
  static let noSuchDeviceOrAddress = Errno(rawValue: ENXIO)
  static let noData = Errno(rawValue: ENODATA)
  static let rangeTooSmall = Errno(rawValue: ERANGE)
  static let argumentListTooLong = Errno(rawValue: E2BIG)
  static let notSupported = Errno(rawValue: EOPNOTSUPP)
  static let invalidArgument = Errno(rawValue: EINVAL)
  static let noSuchSystemCall = Errno(rawValue: ENOSYS)
  package static let brokenPipe = Errno(rawValue: EPIPE)
  static let notTerminal = Errno(rawValue: ENOTTY)
  static let wouldBlock = Errno(rawValue: EWOULDBLOCK)
  static let crossDevice = Errno(rawValue: EXDEV)

  /// The number of the call that just failed in this thread.
  ///
  /// Valid until the next call in this thread, so it is read first thing after a failure.
  static var current: Errno { Errno(rawValue: errno) }
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
