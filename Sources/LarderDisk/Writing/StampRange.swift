import LarderBasics
import LarderSystem
import Synchronization

/// The range of the expiries that a network file system can hold.
///
/// CephFS and SFTP keep seconds in 32 bits without an error for more: never, 2³³ seconds, becomes
/// 1970. A reader on another machine that meets such a stamp misses the entry, and a sweep there
/// removes it. So the range is tried out on files that are no entries yet, and a published file
/// never gets a stamp outside of it.
final class StampRange: Sendable {
  /// 2³¹ − 1 s: every file system can hold it, and readers take it for never.
  private static let everywhere = Timestamp(seconds: 1 << 31 - 1)
  /// The ends of the ranges with more bits. The last one is read as never too.
  private static let ends = [Timestamp.never, Timestamp(seconds: 1 << 32 - 1)]

  /// The seconds of the latest expiry that can be held; 0 while that is unknown.
  private let end = Atomic<Int64>(0)

  /// Forgets the range, because another file system is mounted over the path.
  func forget() { end.store(0, ordering: .relaxed) }

  /// Returns an expiry, or the latest that can be held, which is read as never.
  ///
  /// - Parameter file: A file that no reader can find, which is given stamps to learn the range.
  func holdable(
    _ expiry: Timestamp, tryingOn file: borrowing FileDescriptor
  ) throws(Errno) -> Timestamp {
    if let holdable = holdable(expiry) { return holdable }
    return min(expiry, try learn(on: file))
  }

  /// Returns an expiry, or the latest that can be held, from what was learned before; nil if that
  /// does not tell.
  func holdable(_ expiry: Timestamp) -> Timestamp? {
    expiry <= Self.everywhere ? expiry : known.map { min(expiry, $0) }
  }

  /// Returns an expiry, or the latest that can be held, for a published file. If the range is
  /// unknown, tries it out on a temporary.
  func holdable(
    _ expiry: Timestamp, in handle: DirectoryHandle, permissions: UInt32
  ) -> Timestamp {
    if let holdable = holdable(expiry) { return holdable }
    do throws(Errno) {
      let file = try StagedFile.named(in: handle, permissions: permissions)
      return try holdable(expiry, tryingOn: file.descriptor)
    } catch {
      // No file could be made or stamped. The value is kept for good rather than lost.
      return Self.everywhere
    }
  }

  private var known: Timestamp? {
    let seconds = end.load(ordering: .relaxed)
    return seconds == 0 ? nil : Timestamp(seconds: seconds)
  }

  private func learn(on file: borrowing FileDescriptor) throws(Errno) -> Timestamp {
    var latest = Self.everywhere
    for candidate in Self.ends {
      try file.setTimes(access: nil, modification: candidate)
      // Some file systems clamp a stamp to one that is read as never.
      guard try file.status().modification.asExpiry == .never else { continue }
      latest = candidate
      break
    }
    end.store(latest.seconds, ordering: .relaxed)
    return latest
  }
}
