import Foundation

/// A lock on a key among all machines. It ends with the object, and with the process.
final class KeyLock: Sendable {
  private let file: Int32
  /// Locks a key; nil if another process holds the lock. Keys share 1,024 files.
  init?(_ key: String, in directory: String) throws {
    // Not Swift's own hash, because every machine has to get the same number.
    let hash = key.utf8.reduce(0 as UInt32) { $0 &* 31 &+ UInt32($1) }
    mkdir(directory, 0o700)
    file = open("\(directory)/\(hash % 1024)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
    // If the file system has no locks, every process may load.
    if flock(file, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { return nil }
  }

  deinit { if file >= 0 { close(file) } }
}
