import LarderBasics
import LarderSystem

/// The meaning of a file that a scan or an event has shown, for what is known of its name.
///
/// Of one and the same file, what is in memory is at least as new as what is on the disk: a use
/// counts here at once and there only when it is stamped. So a file that is still the one known
/// keeps its place in the order, however old its stamp looks.
enum Sighting: Sendable, Equatable {
  /// The file is in the state that is known, or the name is known to be free.
  case known
  /// The file is in the state that is known, but for a later last access: it was read where
  /// outside reads count as uses.
  case used(Timestamp)
  /// Another file, or another state of the file. This is what is known from now on.
  case news(IndexedEntry)
  /// The file that was known is gone.
  case gone

  /// Compares what was met, nil for a name that is free or no entry's, with what is known.
  ///
  /// - Parameter pending: the use of the known file that is not yet on the disk, if any.
  init(of met: IndexedEntry?, known: IndexedEntry?, pending: PendingStamp?, now: Timestamp) {
    guard var met else {
      self = known == nil ? .known : .gone
      return
    }
    // An access in the future counts as one now, or it would be the last ever to go. Uses within
    // one instant are told apart by nanoseconds beyond it, which is not yet the future.
    let isAhead = met.lastAccess >= now.adding(seconds: 1)
    if isAhead { met.lastAccess = now }
    guard let known, known.inode == met.inode else {
      self = .news(met)
      return
    }
    // Two changes within one tick of the clock leave one change time. What a use here promises is in
    // the index before it is on the disk.
    let isPromised = pending?.inode == met.inode && pending?.expirySeen.asExpiry == met.expiry
    let isSame = PackedStamp(known.expiry) == PackedStamp(met.expiry)
    if known.changeTime == met.changeTime && (isSame || isPromised) {
      // A stamp in the future was taken for the present once, when the file was first met; taken so
      // again by every scan, it would stay the latest after all.
      self = met.lastAccess > known.lastAccess && !isAhead ? .used(met.lastAccess) : .known
      return
    }
    // The same file, stamped or written by a person or another process since.
    met.lastAccess = max(met.lastAccess, known.lastAccess)
    // A neighbour that only stamped its use leaves the expiry as it was seen, and with it what a
    // use here has promised.
    if let pending, pending.inode == met.inode, pending.expirySeen.asExpiry == met.expiry {
      met.expiry = max(met.expiry, pending.expiry ?? met.expiry)
    }
    self = .news(met)
  }
}

extension EngineState {
  /// Takes over what a scan or an event has shown of a name. Not called for names that this process
  /// has changed since the look.
  ///
  /// - Returns: Whether the name's file is another than was known, or in another state.
  mutating func takeOver(_ met: IndexedEntry?, of name: EntryName, at now: Timestamp) -> Bool {
    let sighting = Sighting(
      of: met, known: index.entry(named: name), pending: uses[name], now: now)
    switch sighting {
    case .known: return false
    case .used(let time):
      index.moveAccess(of: name, to: time)
      uses.noteAccess(at: time)
      return false
    case .news(let entry):
      index.upsert(entry, order: .byLastAccess)
      // What is used here next was used later, also by a clock that stands still.
      uses.noteAccess(at: entry.lastAccess)
    case .gone:
      uses.forget(name)
      index.remove(name)
    }
    return true
  }
}
