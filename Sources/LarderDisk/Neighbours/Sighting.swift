import LarderBasics
import LarderSystem

/// The difference between a file that a scan or an event has shown and the entry that is known.
///
/// If the file is still the known one, the index is at least as new as the disk, because a use
/// counts in the index at once and on the disk only when it is stamped. So the entry keeps its
/// place in the order, however old its stamp looks.
enum Sighting: Sendable, Equatable {
  /// The file is in the known state, or the name is known to be free.
  case known
  /// The file is in the known state except for a later last access: another process read it on a
  /// file system where reads update atime.
  case used(Timestamp)
  /// Another file, or another state of the file, which replaces the known entry.
  case changed(IndexedEntry)
  /// The known file is gone.
  case gone

  /// Compares the file that was met with the known entry; `met` is nil if the name is free or not
  /// an entry's.
  ///
  /// - Parameter pending: The use of the known file that is not yet on the disk, if any.
  init(of met: IndexedEntry?, known: IndexedEntry?, pending: PendingStamp?, now: Timestamp) {
    guard var met else {
      self = known == nil ? .known : .gone
      return
    }
    // An access in the future counts as one now, because the entry would otherwise be evicted last
    // of all. Uses within one tick of the clock get stamps one nanosecond apart, so less than a
    // second ahead does not count as the future.
    let isAhead = met.lastAccess >= now.adding(seconds: 1)
    if isAhead { met.lastAccess = now }
    guard let known, known.inode == met.inode else {
      self = .changed(met)
      return
    }
    // Two changes within one tick of the clock leave the same change time, so the expiry is
    // compared as well. An extension by a use here is in the index before it is on the disk.
    let isPromised = pending?.inode == met.inode && pending?.expirySeen.asExpiry == met.expiry
    let isSame = PackedStamp(known.expiry) == PackedStamp(met.expiry)
    if known.changeTime == met.changeTime && (isSame || isPromised) {
      // A last access in the future was set to `now` when the file was first indexed. It is not set
      // again, because each scan would make the entry the most recent one.
      self = met.lastAccess > known.lastAccess && !isAhead ? .used(met.lastAccess) : .known
      return
    }
    // The same file, stamped or written by a person or another process since.
    met.lastAccess = max(met.lastAccess, known.lastAccess)
    // A neighbour that only stamped its use leaves the expiry as it was, so an extension by a use
    // here still holds.
    if let pending, pending.inode == met.inode, pending.expirySeen.asExpiry == met.expiry {
      met.expiry = max(met.expiry, pending.expiry ?? met.expiry)
    }
    self = .changed(met)
  }
}
