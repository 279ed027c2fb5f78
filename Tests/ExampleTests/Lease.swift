import Foundation

/// A file whose opening by another process hangs, as one on a file system that does not answer.
///
/// The kernel lets the other process wait until the lease ends, for 45 s at most by default.
/// See: man 2 fcntl, "Leases".
final class Lease: Sendable {
  // Values of fcntl.h, which Glibc's module hides.
  private static let setLease: Int32 = 1024
  private static let setSignal: Int32 = 10

  private let file: Int32

  /// Makes an empty file and takes the lease.
  init(_ path: String) throws {
    file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    // The kernel says by a signal that another process wants the file. SIGURG is ignored.
    guard file >= 0, fcntl(file, Self.setSignal, SIGURG) == 0,
      fcntl(file, Self.setLease, Int32(F_WRLCK)) == 0
    else { throw CocoaError(.fileLocking) }
  }

  deinit { if file >= 0 { close(file) } }

  /// Whether the temporary folder's file system has leases.
  static var isPossible: Bool {
    do {
      _ = try Lease(Scene().root.appending(path: "lease").path)
      return true
    } catch {
      return false
    }
  }
}
