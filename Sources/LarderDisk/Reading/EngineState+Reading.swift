import LarderBasics
import LarderSystem

/// What is known of a file that was opened.
struct KnownFile: Sendable {
  /// The proof, if attributes and content were checked for this very file and key.
  var proof: FileProof?
  /// The expiry that the file will have when its pending use is written.
  var pendingExpiry: Timestamp?
  /// The expiry that a hit, which is counted, leaves to the file. Nil if nothing was counted,
  /// because the file is not known, or is to be stamped at once.
  var countedExpiry: Timestamp?
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

  /// Returns what is known of a file that was opened, and counts a hit on it if it is verified.
  ///
  /// - Parameter mayCount: Whether the file was read already, so that a hit is one.
  // Inlined, because nearly every read calls it.
  @inline(__always)
  mutating func countIfKnown(
    _ name: EntryName, _ keyTag: UInt64, _ status: FileStatus, _ context: ReadContext,
    mayCount: Bool, _ recency: Recency
  ) -> KnownFile {
    let known = catalog.index.verified(
      name, inode: status.inode, changeTime: status.change, keyTag: keyTag)
    var file = KnownFile(proof: known?.proof)
    if mayCount, let known {
      file.lag = recency.dueLag(
        stored: status.lastAccess, now: context.now, lifetime: known.proof.lifetime,
        context.extending)
    }
    guard mayCount, let known, file.lag != 0 else {
      file.lag = nil
      file.pendingExpiry = catalog.uses.expiry(of: name, status)
      return file
    }
    counters.countHit(of: status.byteCount)
    let access = catalog.uses.issueAccess(at: context.now)
    file.countedExpiry = catalog.use(
      known.slot, of: name, status, at: access, isDue: file.lag != nil,
      extended: context.extending.extendedExpiry(
        of: status.modification.asExpiry, lifetime: known.proof.lifetime, at: context.now))
    return file
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

  /// Notes a use of a value that was still waiting to be written when its file was sealed.
  mutating func use(
    _ name: EntryName, _ status: FileStatus, at access: Timestamp, isDue: Bool, extended: Timestamp?
  ) {
    guard let slot = catalog.index.slot(of: name) else { return }
    _ = catalog.use(slot, of: name, status, at: access, isDue: isDue, extended: extended)
  }
}
