import Foundation

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// The features of the temporary folder's file system, for tests that need them.
enum FileSystemFeatures {
  /// Whether files have `user.*` attributes.
  static let hasAttributes = succeeds { (file) throws(Errno) in
    try file.setAttribute(.entry, to: [49])
  }

  /// Whether the file system keeps a stamp of 2242 exactly.
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
