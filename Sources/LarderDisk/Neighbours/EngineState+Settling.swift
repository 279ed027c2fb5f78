import LarderBasics
import LarderSystem

/// The file of a name, or that it has none, as a look, an event, a scan or a read has shown it.
struct Finding: Sendable {
  let name: EntryName
  /// Nil if the name is free or not an entry's.
  var met: IndexedEntry?
  let evidence: Evidence
  /// Whether an event tells of a file that had the name, which is free now. Memory may then hold
  /// the value of an older entry that a limit has evicted.
  var hadFile = false
  /// Taken before the look; nil if this process was changing the name. If it is still current, this
  /// process has not changed the name since.
  var generation: EntryGenerations.Snapshot?
}

/// The way in which something was found of a name.
enum Evidence: Sendable {
  /// The status of the name was read, after an event or with the name held.
  case look
  /// The status could not be read.
  case failure(Errno)
  /// A scan met the file.
  case scan(Int)
  /// A read found no file, or one that has expired.
  case miss
  /// A read has served the file. It was opened before, and may have lost its name since.
  case hit(isUnlinked: Bool, hasEvents: Bool)
}

/// What follows outside of the state when it has settled a finding.
struct Effects: OptionSet, Sendable {
  let rawValue: UInt8

  /// A read that has opened the name's file leaves nothing in memory or in the index. Done in the
  /// hold of the lock that settles, because afterwards such a read could index the older file.
  static let outdatesReaders = Effects(rawValue: 1)
  /// The memory tiers forget the name.
  static let forgets = Effects(rawValue: 2)
  /// Another process has changed the name.
  static let isLearned: Effects = [.outdatesReaders, .forgets]
  /// The name is looked at while no other thread of this process changes it.
  static let looks = Effects(rawValue: 4)
  /// The directory is scanned again.
  static let rescans = Effects(rawValue: 8)
  /// The index has a newer file than the one that was read.
  static let isOlder = Effects(rawValue: 16)
  /// The file that was read stays out of the index.
  static let isStray = Effects(rawValue: 32)
}

extension EngineState {
  /// Takes over what was found of a name, and returns what follows. The one place that decides what
  /// a change by another process means.
  ///
  /// - Parameter isCurrent: Whether this process holds the name, or has not changed it since.
  mutating func settle(_ finding: Finding, isCurrent: Bool, at now: Timestamp) -> Effects {
    let name = finding.name
    switch finding.evidence {
    case .look: return compare(finding, isCurrent: isCurrent, at: now)
    case .failure(let errno):
      counters.upkeepFailures[errno, default: 0] += 1
      return isCurrent ? [.isLearned, .rescans] : [.isLearned, .rescans, .looks]
    case .scan(let number):
      guard catalog.scans.isOngoing(number), !phase.isShutDown else { return [] }
      catalog.scans.meet(catalog.index.slot(of: name))
      return compare(finding, isCurrent: isCurrent, isOfScan: true, at: now)
    case .miss:
      guard isCurrent, let known = catalog.index.entry(named: name) else { return [] }
      // If there was no file, another process has removed it, or has stored it since. One that has
      // expired may be older than the file that another read has met.
      guard let met = finding.met, known.changeTime <= met.changeTime else { return .looks }
      return compare(finding, isCurrent: true, at: now)
    case .hit(let isUnlinked, let hasEvents):
      guard let met = finding.met else { return .isStray }
      return compare(hit: met, isCurrent, isUnlinked: isUnlinked, hasEvents: hasEvents)
    }
  }

  /// Compares a file, or that there is none, with the entry, which takes over the difference.
  ///
  /// The file may be older or newer than the index. Where no events come, a read may have indexed a
  /// newer file than a scan has met, and a use that was stamped at once a newer state of it.
  ///
  /// The first scan counts a file also if its name is held, by a thread that looks again before it
  /// gives the name back. Later, a limit may be taking the file: it would take another, too.
  private mutating func compare(
    _ finding: Finding, isCurrent: Bool, isOfScan: Bool = false, at now: Timestamp
  ) -> Effects {
    let (name, known) = (finding.name, catalog.index.entry(named: finding.name))
    let sighting = Sighting(of: finding.met, known: known, pending: catalog.uses[name], now: now)
    // A process that is alone causes nearly all events itself, and they end here.
    if case .known = sighting, var known, let met = finding.met {
      // XFS and btrfs change a file's blocks without its change time.
      let old = exchange(&known.allocatedByteCount, with: met.allocatedByteCount)
      if isCurrent, known.allocatedByteCount != old {
        catalog.index.upsert(known, order: .byLastAccess)
      }
      return []
    }
    let isYounger = known.map { $0.changeTime >= finding.met?.changeTime ?? .never } ?? false
    if !isCurrent || isOfScan && isYounger {
      guard isOfScan, !isScanned, known == nil, locks.held.contains(name) else { return .looks }
      locks.mark(name)
    }
    switch sighting {
    case .known: return finding.hadFile ? .isLearned : .outdatesReaders
    case .changed where known == nil && clearing.hidesFiles:
      // The file may be new and stay, or go with all others: a scan after the removal finds out.
      catalog.scans.hasMissedChanges = true
      return isOfScan ? [] : .isLearned
    case .changed(let entry):
      catalog.learn(entry)
      // Memory alone may have a value, and after the first scan that of an evicted entry.
      return known == nil && isOfScan && !isScanned ? .forgets : .isLearned
    case .gone:
      if catalog.uses.take(name) != nil { counters.stampsDropped += 1 }
      catalog.index.remove(name)
      return .isLearned
    }
  }

  /// Compares a file that a read has served with the entry. The caller counts the use.
  private func compare(
    hit met: IndexedEntry, _ isCurrent: Bool, isUnlinked: Bool, hasEvents: Bool
  ) -> Effects {
    let known = catalog.index.entry(named: met.name)
    // A file that was removed together with everything since it was opened stays out of the index.
    if known == nil, clearing.hidesFiles { return .isStray }
    // Names share counters. If a change of another name moved this one's counter, the index tells
    // whether the file is still the entry's.
    guard isCurrent || known?.inode == met.inode else { return .isStray }
    // A file without a name was removed or replaced after it was opened. One `rename` gives it and
    // the file that takes its name the same change time. If there are events, another read may have
    // indexed a newer file before the event of it came. If the name was changed since, an equal
    // change time is that of two changes within a tick.
    let latest = known?.changeTime ?? Timestamp(seconds: .min)
    let isOlder = latest > met.changeTime || !isCurrent && latest == met.changeTime
    if isUnlinked || (!isCurrent || hasEvents) && isOlder {
      return [isCurrent ? .outdatesReaders : [], known == nil ? .isStray : .isOlder]
    }
    // Two files can have one change time, because it is rounded to the clock's tick.
    let isKnown = known?.changeTime == met.changeTime && known?.inode == met.inode
    guard hasEvents, !isKnown else { return [] }
    return known == nil ? .forgets : .isLearned
  }
}

/// The difference between a file that a scan or an event has shown and the entry that is known.
///
/// If the file is still the known one, the index is at least as new as the disk, because a use
/// counts in the index at once and on the disk only when it is stamped. So the entry keeps its
/// place in the order, however old its stamp looks.
enum Sighting: Sendable, Equatable {
  /// The file is in the known state, or the name is known to be free.
  case known
  /// Another file, or another state of the file, which replaces the known entry. One that differs
  /// by a later use alone may be another: ext4 gives a free inode to the next file, and two changes
  /// within a tick of the clock have one change time.
  case changed(IndexedEntry)
  /// The known file is gone.
  case gone

  /// Compares the file that was met, nil if the name is free or not an entry's, with the known one.
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
    // Two changes within one tick of the clock leave the same change time, so expiry and length
    // are compared as well. An extension by a use here is in the index before it is on the disk.
    let isSeen = pending?.inode == met.inode && pending?.expirySeen.asExpiry == met.expiry
    let isPromised = isSeen && pending?.expiry.map(PackedTime.init) == PackedTime(known.expiry)
    let isSame = known.changeTime == met.changeTime && known.byteCount == met.byteCount
    // A last access in the future was set to `now` when the file was first indexed. It is not set
    // again, because each scan would make the entry the most recent one.
    let isUnused = met.lastAccess <= known.lastAccess || isAhead
    if isSame, isUnused, PackedTime(known.expiry) == PackedTime(met.expiry) || isPromised {
      self = .known
      return
    }
    // The same file, stamped or written by a person or another process since.
    met.lastAccess = max(met.lastAccess, known.lastAccess)
    // A neighbour that only stamped its use leaves the expiry: an extension by a use here holds.
    if isPromised, let expiry = pending?.expiry { met.expiry = max(met.expiry, expiry) }
    self = .changed(met)
  }
}
