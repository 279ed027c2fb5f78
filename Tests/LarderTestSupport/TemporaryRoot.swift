import Foundation
import Synchronization

/// The directory of a run in the temporary folder. It contains the directories of all tests.
///
/// The folder is that of TMPDIR in the environment. Without it, it is one in memory, if there is
/// room for 1 GiB: so many files come and go that a disk takes half a minute longer.
///
/// 1. The first test that needs it creates it, locks it, and arranges its removal at the exit of
///    the process.
/// 2. A child of an exit test uses its parent's directory, which it recognises by the number in the
///    name. So it may end without removing anything, for example by SIGKILL.
/// 3. The directory of a run that was killed is removed by the next run, because no process holds
///    its lock.
package enum TemporaryRoot {
  private static let prefix = "larder-tests-\(geteuid())-"
  private static let made = Mutex<String?>(nil)

  /// Returns the path. Creates the directory if it is missing.
  package static func path() throws -> String {
    try made.withLock { made in
      if let made { return made }
      // A cache tells its path with links resolved.
      let folder = URL(filePath: chosenFolder).resolvingSymlinksInPath().path
      let parents = "\(folder)/\(prefix)\(getppid())"
      if isHeld(parents) {
        made = parents
        return parents
      }
      removeAbandoned(in: folder)
      let own = "\(folder)/\(prefix)\(getpid())"
      // Repeated, because another run may remove the directory as abandoned until it is locked.
      repeat {
        try FileManager.default.createDirectory(
          atPath: own, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      } while !lock(own)
      made = own
      atexit { if !isForkedChild { TemporaryRoot.remove() } }
      return own
    }
  }

  private static var chosenFolder: String {
    let memory = "/dev/shm"
    let disk = FileManager.default.temporaryDirectory.path
    let process = ProcessInfo.processInfo
    guard process.environment["TMPDIR"] == nil else { return disk }
    // From this release on, files in memory have attributes.
    let release = OperatingSystemVersion(majorVersion: 6, minorVersion: 6, patchVersion: 0)
    guard process.isOperatingSystemAtLeast(release) else {
      let mounts = try? String(contentsOfFile: "/proc/mounts", encoding: .utf8)
      return mounts?.contains(" \(disk) tmpfs ") == true ? "/var/tmp" : disk
    }
    guard
      FileManager.default.isWritableFile(atPath: memory),
      let values = try? FileManager.default.attributesOfFileSystem(forPath: memory),
      let free = values[.systemFreeSize] as? NSNumber
    else { return disk }
    return free.int64Value > 1 << 30 ? memory : disk
  }

  /// Removes the directory of this run. Does nothing in a child of an exit test.
  static func remove() {
    guard let path = made.withLock({ $0 }), path.hasSuffix("-\(getpid())") else { return }
    // Repeated, because a thread of a cache that is not closed may still write.
    for attempt in 1...5 {
      do {
        return try remove(path)
      } catch {
        if attempt == 5 { print("left behind: \(path): \(error)") }
      }
    }
  }

  /// Removes a directory with its content, even if a test has removed permissions.
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
