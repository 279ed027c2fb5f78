import LarderBasics
import LarderSystem

/// What this process knows of the files in the directory, by the names of entries.
///
/// 1. `index`: the entries.
/// 2. `uses`: the uses of entries that are still to be stamped on the disk.
/// 3. `scans`: the scans that compare all this with the directory.
///
/// The functions here keep the parts in step: a use is pending only of an entry.
struct Catalog: Sendable {
  var index = EntryIndex()
  var uses = UseLog()
  var scans = ScanLog()

  /// Makes a file that was just put under its name, or stamped to become one, the entry of the
  /// name.
  ///
  /// - Returns: Whether there was an entry.
  mutating func adopt(_ entry: IndexedEntry, order: EntryIndex.Placement) -> Bool {
    uses.take(entry.name)
    return index.upsert(entry, order: order)
  }

  /// Forgets everything of a name whose file is gone.
  mutating func remove(_ name: EntryName) {
    uses.take(name)
    index.remove(name)
  }

  /// Notes that this process has stamped a name's file, if it is still the file that is known.
  ///
  /// The file is no longer verified, even if nothing seems to have changed: it may have been edited
  /// between the look at it and the stamp, which moved the change time again.
  ///
  /// - Returns: Whether the file had changed since the index learned of it.
  @discardableResult
  mutating func restamp(_ name: EntryName, from status: FileStatus, to fresh: FileStatus) -> Bool {
    // A different inode: the file was replaced, and the stamp was for the one before.
    guard let known = index.entry(named: name), known.inode == fresh.inode else { return false }
    let isChanged = PackedTime(known.changeTime) != PackedTime(status.change)
    index.upsert(
      IndexedEntry(name: name, status: fresh, lastAccess: isChanged ? nil : known.lastAccess),
      order: .byLastAccess)
    return isChanged
  }

  /// Notes a use of a file in the state that the index has.
  ///
  /// - Parameters:
  ///   - isDue: Whether the use has to reach the disk and waits for a drain.
  ///   - extended: The expiry to which the use extends, if it is due.
  /// - Returns: The expiry that the disk has, or will have when the pending stamp is written.
  mutating func use(
    _ slot: EntrySlot, of name: EntryName, _ status: FileStatus, at access: Timestamp,
    isDue: Bool, extended: @autoclosure () -> Timestamp?
  ) -> Timestamp {
    let stored = status.modification.asExpiry
    index.use(slot, at: access)
    // Most uses extend nothing, and extensions by earlier uses are in the index already.
    guard isDue || !uses.isEmpty else { return stored }
    if isDue { uses.note(name, status, access: access, expiry: extended()) }
    let expiry = max(stored, uses.expiry(of: name, status) ?? stored)
    index.setExpiry(expiry, of: slot)
    return expiry
  }

  /// Forgets all entries and their uses, and gives up a scan that is going on.
  mutating func removeAll() {
    index = EntryIndex()
    scans.giveUp()
    uses.forgetAll()
  }
}

/// What is known of a file that was opened.
struct Recall: Sendable {
  /// The proof, if attributes and content were checked for this very file and key.
  var proof: FileProof?
  /// The expiry that the file will have when its pending use is written.
  var pendingExpiry: Timestamp?
  /// The expiry that a hit, which is counted, leaves to the file. Nil if nothing was counted,
  /// because the file is not known, or is to be stamped at once.
  var kept: Timestamp?
  /// The lag with which a counted use has to reach the disk; nil if it need not.
  var lag: Int64?
}

// What a read asks of the state, and what it leaves there.
extension EngineState {
  /// Counts a miss and returns true if the index alone shows that there is no such entry.
  mutating func missesKnownAbsent(_ name: EntryName, isCurrent: Bool) -> Bool {
    guard isScanned, isCurrent, !catalog.index.contains(name) else { return false }
    counters.countMiss(.absent)
    return true
  }

  /// Recalls what is known of a file that was opened.
  ///
  /// - Parameter counts: Whether a hit on a verified file is counted in the same hold of the lock.
  // Inlined, because nearly every read calls it.
  @inline(__always)
  mutating func recall(
    _ name: EntryName, _ keyTag: UInt64, _ status: FileStatus, _ context: ReadContext, counts: Bool,
    _ recency: Recency
  ) -> Recall {
    let known = catalog.index.verified(
      name, inode: status.inode, changeTime: status.change, keyTag: keyTag)
    var recall = Recall(proof: known?.proof)
    if counts, let known {
      recall.lag = recency.dueLag(
        stored: status.lastAccess, now: context.now, lifetime: known.proof.lifetime,
        context.extending)
    }
    guard counts, let known, recall.lag != 0 else {
      recall.lag = nil
      recall.pendingExpiry = catalog.uses.expiry(of: name, status)
      return recall
    }
    counters.countHit(of: status.byteCount)
    let access = catalog.uses.issueAccess(at: context.now)
    recall.kept = catalog.use(
      known.slot, of: name, status, at: access, isDue: recall.lag != nil,
      extended: context.extending.extendedExpiry(
        of: status.modification.asExpiry, lifetime: known.proof.lifetime, at: context.now))
    return recall
  }

  /// Counts a hit and notes the use, as `Catalog.use` does. Makes the file the entry of its name if
  /// it is still that.
  ///
  /// - Returns: What follows, the time of the use, and the expiry that `Catalog.use` returns.
  mutating func use(
    _ name: EntryName, _ status: FileStatus, _ proof: FileProof, at now: Timestamp, isDue: Bool,
    extended: Timestamp?, isCurrent: @autoclosure () -> Bool, hasEvents: @autoclosure () -> Bool
  ) -> (Effects, (Timestamp, Timestamp)) {
    counters.countHit(of: status.byteCount)
    let access = catalog.uses.issueAccess(at: now)
    let entry = IndexedEntry(name: name, status: status, lastAccess: access, proof: proof)
    var (slot, effects) = (EntrySlot?.none, Effects())
    if status.linkCount > 0 { slot = catalog.index.verify(entry) }
    if slot == nil {
      let hit = Evidence.hit(isUnlinked: status.linkCount == 0, hasEvents: hasEvents())
      effects = settle(
        Finding(name: name, met: entry, evidence: hit), isCurrent: isCurrent(), at: access)
      if effects.contains(.isOlder), let newer = catalog.index.slot(of: name) {
        catalog.index.use(newer, at: access)
      }
      if effects.isDisjoint(with: [.isOlder, .isStray]) {
        catalog.index.upsert(entry, order: .mostRecent)
        slot = catalog.index.slot(of: name)
      }
    }
    guard let slot else { return (effects, (access, status.modification.asExpiry)) }
    let kept = catalog.use(slot, of: name, status, at: access, isDue: isDue, extended: extended)
    return (effects, (access, kept))
  }
}
