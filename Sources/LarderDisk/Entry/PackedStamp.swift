import LarderBasics
import LarderSystem

/// A point in time in 64 bits: 34 of seconds and 30 of nanoseconds, from 1970 to 2514.
///
/// An earlier time counts as the first of these, and a later one as the last.
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
  /// It is exact for every stamp from 1970 to 2514, and the nearest of these for any other.
  var timestamp: Timestamp {
    Timestamp(seconds: Int64(bits >> 30), nanoseconds: Int64(bits & (1 << 30 - 1)))
  }
}

extension PackedStamp: Comparable {
  /// Orders by time, in one comparison of integers.
  static func < (a: PackedStamp, b: PackedStamp) -> Bool { a.bits < b.bits }
}

extension FileDescriptor {
  /// The latest times that a file system with times of 32 bits can hold, unsigned and signed. Both
  /// are read as never.
  private static let latest = [Timestamp(seconds: 1 << 32 - 1), Timestamp(seconds: 1 << 31 - 1)]

  /// Sets an entry's stamps on a file system that may store other times without an error.
  ///
  /// SFTP's times have 32 bits, and a later expiry wraps around: never becomes 1970. An expiry that
  /// cannot be held is set to the latest time that can, which means never.
  func setStamps(lastAccess: Timestamp, expiry: Timestamp) throws(Errno) {
    for candidate in [expiry] + Self.latest {
      try setTimes(access: lastAccess, modification: candidate)
      // Some file systems count in whole seconds, or in steps of two seconds.
      let kept = try status().modification.asExpiry
      if kept >= candidate.asExpiry.adding(seconds: -2) { return }
    }
  }
}
