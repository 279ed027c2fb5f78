import Foundation
import Synchronization

/// The one directory of a run in the temporary folder, which holds those of all its tests.
///
/// 1. The first test that asks makes it, locks it, and has it removed when the process exits.
/// 2. A child of an exit test uses its parent's, which it knows by the number in the name. So it may
///    end without removing anything, by SIGKILL for example.
/// 3. What a run left that was killed itself, the next one removes: nobody holds the lock.
package enum TemporaryRoot {
  private static let prefix = "larder-tests-\(geteuid())-"
  private static let made = Mutex<String?>(nil)

  /// The path, made if need be.
  package static func path() throws -> String {
    try made.withLock { made in
      if let made { return made }
      let folder = FileManager.default.temporaryDirectory.path
      let parents = "\(folder)/\(prefix)\(getppid())"
      if isHeld(parents) {
        made = parents
        return parents
      }
      removeAbandoned(in: folder)
      let own = "\(folder)/\(prefix)\(getpid())"
      // Another run may take the directory for an abandoned one until it is locked.
      repeat {
        try FileManager.default.createDirectory(
          atPath: own, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      } while !lock(own)
      made = own
      atexit { if !isForkedChild { TemporaryRoot.remove() } }
      return own
    }
  }

  /// Removes the directory of this run; does nothing in the child of an exit test.
  static func remove() {
    guard let path = made.withLock({ $0 }), path.hasSuffix("-\(getpid())") else { return }
    // A thread of a cache that is not closed may still write.
    for attempt in 1...5 {
      do {
        return try remove(path)
      } catch {
        if attempt == 5 { print("left behind: \(path): \(error)") }
      }
    }
  }

  /// Removes a directory with all in it, also what a test has taken the permissions of.
  static func remove(_ path: String) throws {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      try allowAll(in: path)
      try FileManager.default.removeItem(atPath: path)
    }
  }

  private static func allowAll(in directory: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory)
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
      let path = "\(directory)/\(name)"
      let kind = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
      if kind == .typeDirectory { try allowAll(in: path) }
    }
  }

  private static func removeAbandoned(in folder: String) {
    do {
      for name in try FileManager.default.contentsOfDirectory(atPath: folder)
      where name.hasPrefix(prefix) && !isHeld("\(folder)/\(name)") {
        try remove("\(folder)/\(name)")
      }
    } catch {
      print("cannot tidy up: \(error)")
    }
  }

  /// Whether a process holds a directory's lock.
  private static func isHeld(_ path: String) -> Bool {
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }

  private static func lock(_ path: String) -> Bool {
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    return descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0
  }
}
