import Glibc

/// The file for the marks. It lies on the recorder's file system, so that the order of marks and of
/// writes to the disk is recorded.
struct CrashMarks: Sendable {
  private let raw: Int32

  init(_ path: String) throws {
    raw = unsafe open(path, O_WRONLY | O_CLOEXEC)
    guard raw >= 0 else { throw UsageError() }
  }

  /// Records that an operation begins.
  func begin(_ id: String, _ kind: String, _ key: String, _ version: Int) {
    note("b \(id) \(kind) \(key) \(version)")
  }

  /// Records that an operation has returned.
  func end(_ id: String, _ outcome: String) { note("e \(id) \(outcome)") }

  /// Records that a key is absent after an operation that may remove any.
  func gone(_ id: String, _ key: String) { note("g \(id) \(key)") }

  /// Records that a sync of the whole file system begins or has returned.
  func syncs(_ begins: Bool) { note(begins ? "sync begins" : "sync ends") }

  private func note(_ line: String) {
    // One call for a line, because lines of several threads must not mix.
    guard Self.write(Array("\(line)\n".utf8), to: raw) else { exit(1) }
  }

  /// Writes all bytes to a descriptor, and returns whether that succeeded.
  static func write(_ bytes: [UInt8], to raw: Int32) -> Bool {
    var count = 0
    while count < bytes.count {
      let written = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.write(raw, $0.baseAddress?.advanced(by: count), bytes.count - count)
      }
      if written <= 0 { return false }
      count += written
    }
    return true
  }
}
