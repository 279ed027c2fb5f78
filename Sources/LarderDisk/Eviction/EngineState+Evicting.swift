import LarderBasics
import LarderSystem

// Victims.
extension EngineState {
  /// Takes the next of a plan's victims out of the index. Expired ones are counted as expired, and
  /// the rest with the cause of the plan.
  mutating func evictSlice(_ course: inout TrimCourse, _ eviction: Eviction) {
    let (expired, others) = course.takeSlice(of: &catalog.index)
    hand(expired, to: eviction, .expired)
    hand(others, to: eviction, course.plan.cause)
    if course.isDone { evictions.endChoosing(eviction) }
  }

  /// Makes an entry a victim by itself.
  mutating func evict(_ victim: Victim, _ cause: RemovalCause) {
    catalog.index.remove(victim.name)
    let eviction = evictions.begin()
    hand([victim], to: eviction, cause)
    evictions.endChoosing(eviction)
  }

  private mutating func hand(_ victims: [Victim], to eviction: Eviction, _ cause: RemovalCause) {
    guard !victims.isEmpty else { return }
    let counted = victims.map { $0.counted(as: cause) }
    counters.countRemoval(cause, counted.count)
    for victim in counted { catalog.doom(victim) }
    eviction.add(counted)
  }

  /// The outcome of an attempt to take a victim's name.
  enum VictimLock: Sendable {
    case taken(DoomedFiles.Mark)
    /// Another thread holds the name.
    case busy
    /// A store has replaced the file since, and the new one stays.
    case cancelled
  }

  /// Takes the name of a victim.
  mutating func takeDoomed(_ name: EntryName) -> VictimLock {
    guard let mark = catalog.doomed[name] else { return .cancelled }
    return locks.take(name) ? .taken(mark) : .busy
  }

  /// Notes the outcome for a victim, and gives its name back. A file that stays becomes an entry
  /// again, and its removal is no longer counted.
  ///
  /// - Returns: False if the name is still held, because there is late news of it to follow.
  mutating func noteEvicted(_ outcome: RemovalOutcome, givingBack: Bool = true) -> Bool {
    let name = outcome.victim.name
    catalog.endRemoval(of: name)
    if !outcome.isRemoved {
      counters.takeBackRemoval(outcome.victim.cause)
      // The file is still on disk, and the totals must include it.
      if !clearing.hidesFiles, let entry = outcome.entry {
        catalog.index.upsert(entry, order: .byLastAccess)
      }
    }
    return !givingBack || locks.giveBack(name)
  }
}

/// The outcome of the removal of a victim's file.
struct RemovalOutcome: Sendable {
  let victim: Victim
  var isRemoved = false
  var hasFailed = false
  /// The entry of the name's file, if the file stays.
  var entry: IndexedEntry?

  var result: BulkRemoval {
    var result = BulkRemoval()
    if isRemoved {
      result.removed = 1
      result.byteCount = Int(victim.byteCount)
    }
    if hasFailed { result.failed = 1 }
    return result
  }
}

// Room on the disk.
extension EngineState {
  /// Returns the bytes of the entries, and of the files that are still to be removed: those of
  /// victims and those of a removal of everything.
  func measuredOnDisk(_ measure: DiskCache.SizeMeasure) -> UInt64 {
    var sum = measure.of(catalog.index.totals)
    sum.addSaturating(measure.of(catalog.doomed.totals))
    sum.addSaturating(measure.of(clearing.remaining))
    return sum
  }

  /// Whether a limit is so near that the latest changes of neighbours count. A thread that stores
  /// then follows them itself, so that no writer stores faster than it learns of its neighbours.
  func mustLookAround(_ limit: Int, _ measure: DiskCache.SizeMeasure) -> Bool {
    isScanned && limits.hasRecentNews(at: .now)
      && measuredOnDisk(measure) > UInt64(limit) / 10 * 9
  }

  /// Reserves room, unless there is none and the store can wait: for files that are being removed,
  /// or for stores under way, after which files are removed.
  ///
  /// - Returns: Whether a neighbour may be evicting in this process's place; nil if the store must
  ///   wait.
  mutating func reserve(
    _ room: UInt64, within most: UInt64, _ measure: DiskCache.SizeMeasure
  ) -> Bool? {
    let mayWait = isScanned && (isMakingRoom || limits.reservedByteCount > 0)
    if mayWait && !hasRoom(for: room, within: most, measure) { return nil }
    limits.reserve(room)
    return limits.hasLostElection
  }

  /// Whether the files on disk, the room reserved by stores under way, and so many bytes more stay
  /// within a total.
  func hasRoom(
    for room: UInt64, within most: UInt64, _ measure: DiskCache.SizeMeasure
  ) -> Bool {
    var sum = measuredOnDisk(measure)
    sum.addSaturating(limits.reservedByteCount)
    sum.addSaturating(room)
    return sum <= most
  }

  /// Whether files are being removed for which a store can wait.
  var isMakingRoom: Bool {
    if clearing.remaining.count > 0 { return true }
    // The thread that is still choosing victims starts the evictor next.
    return !evictions.isAtRest && !catalog.doomed.isEmpty
  }
}
