import LarderBasics
import LarderSystem

/// A point in time in 64 bits: 34 of seconds and 30 of nanoseconds, from 1970 to 2514.
///
/// What is earlier counts as the first of them and what is later as the last.
struct PackedStamp: Sendable, Hashable {
  /// The seconds, and below them 30 bits of nanoseconds.
  let bits: UInt64

  /// The expiry that means never.
  static let never = PackedStamp(.never)

  private static let latest: UInt64 = (1 << 34 - 1) << 30 | 999_999_999

  /// Takes bits that came from another stamp.
  init(bits: UInt64) {
    self.bits = bits
  }

  /// Packs a point in time, or the nearest that fits.
  init(_ time: Timestamp) {
    if time.seconds < 0 {
      bits = 0
    } else if time.seconds >= 1 << 34 {
      bits = Self.latest
    } else {
      bits = UInt64(time.seconds) << 30 | UInt64(time.nanoseconds)
    }
  }

  /// The point in time.
  ///
  /// Exact for every stamp from 1970 to 2514; the nearest of these for the rest.
  var timestamp: Timestamp {
    Timestamp(seconds: Int64(bits >> 30), nanoseconds: Int64(bits & (1 << 30 - 1)))
  }
}

extension PackedStamp: Comparable {
  /// Orders by time, in one comparison of integers.
  static func < (a: PackedStamp, b: PackedStamp) -> Bool { a.bits < b.bits }
}

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
