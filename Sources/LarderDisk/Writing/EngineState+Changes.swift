import LarderBasics
import LarderSystem

/// A removal of the file of one entry, by which is decided what is counted and reported, and what
/// the memory tiers forget. One by key is `DiskEngine.remove`, an eviction `settle(evicted:)`.
///
/// | removal | counted, reported as | memory |
/// |---|---|---|
/// | `chosen` | explicit | forgets the key and the file, and supersedes loads, before and after |
/// | `damaged` | corrupt | forgets the file, before and after |
/// | `cleared` | explicit | is told as a whole; of a file that stays, now |
enum Removal: Sendable {
  /// The caller chose the entry by its file, which may record its key.
  case chosen(CacheKey?)
  /// The content is not what was stored.
  case damaged
  /// Everything is removed, and the walk has met this file. With the number of the removal.
  case cleared(IndexedEntry, count: Int)

  var cause: RemovalCause { if case .damaged = self { .corrupt } else { .explicit } }

  /// The key, as far as it is known.
  var key: CacheKey? { if case .chosen(let key) = self { key } else { nil } }
}

extension EngineState {
  /// Takes over the outcome of a removal. The caller still holds the name.
  ///
  /// - Returns: Whether the index has learned of a file that memory has not been told of.
  mutating func settle(removal: Removal, _ outcome: RemovalOutcome, of name: EntryName) -> Bool {
    let isRemoved = outcome.isRemoved
    switch removal {
    case .chosen, .damaged: if isRemoved { catalog.remove(name) }
    case .cleared(let met, let count):
      // If another directory is held by now, the name in the index is one of that directory.
      guard clearing.hidesFiles, isRemoved || clearing.count == count else { break }
      clearing.subtract(met)
      var left: IndexedEntry?
      switch outcome {
      case .removed: catalog.remove(name)
      case .changed(let newer): left = newer
      case .failed: left = met
      }
      if let left {
        catalog.index.upsert(left, order: .byLastAccess)
        untoldCount += 1
        return true
      }
    }
    if isRemoved { counters.countRemoval(removal.cause) }
    return false
  }

  /// Takes over a file that was stamped to be an entry, unless it goes with all others or another
  /// directory is held by now. The caller holds the name.
  ///
  /// - Returns: Whether it is the entry of the name now.
  mutating func settle(
    stamped entry: IndexedEntry, order: EntryIndex.Placement, since epoch: NameLocks.Epoch
  ) -> Bool {
    guard self.epoch == epoch, !hidesFile(named: entry.name) else { return false }
    counters.stampsWritten += 1
    // Extensions by earlier uses are void. The next read checks the content again, because the file
    // may have been edited between the look at it and the stamp.
    _ = catalog.adopt(entry, order: order)
    return true
  }

  /// Takes a name to stamp a use of its file. If it is held, or the engine ends, the use waits.
  mutating func take(
    _ name: EntryName, orNote status: FileStatus, expiry: Timestamp?
  ) -> Bool {
    if !phase.isShutDown, locks.take(name) { return true }
    if catalog.index.contains(name) { catalog.uses.note(name, status, expiry: expiry) }
    return false
  }

  /// Takes over the stamp of a use, written through a file that this thread had open.
  ///
  /// - Parameter meant: The expiry that it was to have; nil if the stamp was for the access alone.
  mutating func settle(
    useOf name: EntryName, from status: FileStatus, to fresh: FileStatus, meant: Timestamp?
  ) -> Effects {
    // It was removed or replaced since it was opened.
    if fresh.linkCount == 0 {
      counters.stampsDropped += 1
      return []
    }
    counters.stampsWritten += 1
    // Another process or a person has shortened the expiry while it was stamped. The two seconds
    // allow for file systems that hold less of a stamp.
    let (expiry, most) = (fresh.modification.asExpiry, meant ?? status.modification.asExpiry)
    let isShortened = expiry.adding(seconds: 2) < most
    let isChanged = catalog.restamp(
      name, from: status, to: fresh, isOwn: !isShortened && expiry <= most,
      isForAccess: meant == nil)
    return isChanged || isShortened ? .isLearned : []
  }

  /// What has become of a file that a store has published.
  enum Publication: Sendable {
    /// The index has it.
    case indexed(isReplacing: Bool)
    /// It is hidden, and removed together with everything else.
    case cleared
    /// It is, or may be, in a directory that was moved away.
    case astray
  }

  /// Takes over a file that a store has published, and counts the store. The caller holds the name.
  ///
  /// A store that held the name when a removal of everything began counts as made before it, and
  /// its file goes with all others.
  mutating func settle(
    published entry: IndexedEntry, order: EntryIndex.Placement = .mostRecent,
    isInPlace: Bool = true, since epoch: NameLocks.Epoch, size: UInt64
  ) -> Publication {
    counters.countStore(of: entry.byteCount)
    guard isInPlace, replacements.count == epoch.replacementCount else {
      catalog.uses.take(entry.name)
      return .astray
    }
    if clearing.count != epoch.clearCount {
      catalog.remove(entry.name)
      clearing.late[entry.name] = entry
      return .cleared
    }
    // By its stamp, an entry would go before all that were used before the clock was set back.
    let isAfterStep = catalog.uses.usesBeforeStep(by: entry.lastAccess) != nil
    let isReplacing = catalog.adopt(entry, order: isAfterStep ? .mostRecent : order)
    if isReplacing { counters.countRemoval(.replaced) }
    catalog.scans.rescans.noteStore(of: size)
    return .indexed(isReplacing: isReplacing)
  }

  /// Returns a hidden file that a walk has met, or the one with which a store has replaced it that
  /// held the name when the removal began; nil if the name is not hidden.
  mutating func takeHidden(_ entry: IndexedEntry) -> IndexedEntry? {
    let late = clearing.late.removeValue(forKey: entry.name)
    return hidesFile(named: entry.name) ? late ?? entry : nil
  }
}
