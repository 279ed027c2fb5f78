import LarderBasics
import LarderSystem

extension FileDescriptor {
  /// What a file system with times of 32 bits holds at most, unsigned and signed. Both are read as
  /// never.
  private static let latest = [Timestamp(seconds: 1 << 32 - 1), Timestamp(seconds: 1 << 31 - 1)]

  /// Sets an entry's stamps on a file system that may hold less than it is given and not say so.
  ///
  /// SFTP's times have 32 bits, and an expiry beyond wraps around: never becomes 1970. What cannot
  /// be held becomes never, as the latest time that can.
  func setStamps(lastAccess: Timestamp, expiry: Timestamp) throws(Errno) {
    for candidate in [expiry] + Self.latest {
      try setTimes(access: lastAccess, modification: candidate)
      // Whole seconds, or every second one, are what some file systems count in.
      let kept = try status().modification.asExpiry
      if kept >= candidate.asExpiry.adding(seconds: -2) { return }
    }
  }
}
