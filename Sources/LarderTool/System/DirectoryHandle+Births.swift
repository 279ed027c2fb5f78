import Larder
import LarderLibc
import LarderSystem

extension DirectoryHandle {
  // Of linux/stat.h.
  private static let lastAccess: UInt32 = 0x20
  private static let birth: UInt32 = 0x800

  /// Whether a file was not used since it was made, by its last access and its birth; nil if there
  /// is no such file or the file system keeps no births. Corresponds to `statx`.
  ///
  /// A store makes a new file and dates its last access, and a use moves the last access alone. A
  /// second apart they count as one, for the time that a store takes and for a clock that is not
  /// the file system's.
  func isUnused(_ name: EntryName) -> Bool? {
    let wanted = Self.lastAccess | Self.birth
    // `struct statx`: the mask, and at 64 and 80 the times, each as 64-bit seconds and 32-bit
    // nanoseconds.
    var status = [UInt64](repeating: 0, count: 32)
    let result = unsafe name.fileName.withCString { name in
      unsafe status.withUnsafeMutableBytes { buffer in
        // The array is not empty, so the base address exists.
        unsafe c_statx(
          descriptor.rawValue, name, AT_SYMLINK_NOFOLLOW, wanted,
          buffer.baseAddress.unsafelyUnwrapped)
      }
    }
    guard result == 0, UInt32(truncatingIfNeeded: status[0]) & wanted == wanted else { return nil }
    func time(_ index: Int) -> Timestamp {
      Timestamp(
        seconds: Int64(bitPattern: status[index]),
        nanoseconds: Int64(UInt32(truncatingIfNeeded: status[index + 1])))
    }
    return time(8) <= time(10).adding(seconds: 1)
  }
}
