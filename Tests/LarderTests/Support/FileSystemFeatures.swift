import Foundation

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// What the file system of the temporary folder can do, so that a test that needs it says so.
enum FileSystemFeatures {
  /// Whether files have `user.*` attributes.
  static let hasAttributes = succeeds { (file) throws(Errno) in
    try file.setAttribute(.entry, to: [49])
  }

  /// Whether a stamp of 2242 comes back as it was set.
  static let holdsNever = succeeds { (file) throws(Errno) in
    try file.setTimes(access: nil, modification: .never)
    guard try file.status().modification == .never else { throw .notSupported }
  }

  /// Whether a directory can keep reads by other programs from moving its files' last access.
  static let keepsAccessTimes = succeeds { (file) throws(Errno) in try file.setNoAtimeFlag() }

  private static func succeeds(
    _ step: (borrowing FileDescriptor) throws(Errno) -> Void
  ) -> Bool {
    do {
      let directory = try TemporaryDirectory()
      let handle = try DirectoryHandle.open(path: directory.path, faults: nil)
      try step(handle.create(FileName("probe"), permissions: 0o600))
      return true
    } catch {
      return false
    }
  }
}
