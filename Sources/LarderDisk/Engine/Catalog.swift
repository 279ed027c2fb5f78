package import LarderBasics
import LarderSystem

/// What this process knows of the files in the directory, by the names of entries.
///
/// 1. `index`: the entries.
/// 2. `uses`: the uses of entries that are still to be stamped on the disk.
/// 3. `scans`: the scans that compare all this with the directory.
/// 4. `larger`: what a cache with larger limits would have as well.
///
/// The functions here keep the parts in step: a use is pending only of an entry.
struct Catalog: Sendable {
  var index = EntryIndex()
  var uses = UseLog()
  var scans = ScanLog()
  var larger = LargerLimits()

  /// Makes a file that was just put under its name, or stamped to become one, the name's entry.
  ///
  /// - Returns: Whether there was an entry of another file. A scan may have met this one already.
  mutating func adopt(_ entry: IndexedEntry, order: EntryIndex.Placement) -> Bool {
    uses.take(entry.name)
    larger.forget(entry.name.shortHash)
    return index.upsert(entry, order: order)
  }

  /// Takes over the file of a neighbour's change. The next use here counts as later in any case.
  mutating func learn(_ entry: IndexedEntry) {
    index.upsert(entry, order: .byLastAccess)
    larger.forget(entry.name.shortHash)
    uses.advance(to: entry.lastAccess)
  }

  /// Forgets everything of a name whose file is gone.
  mutating func remove(_ name: EntryName) {
    uses.take(name)
    larger.forget(name.shortHash)
    index.remove(name)
  }

  /// Notes that this process has stamped a name's file, if it is still the file that is known.
  ///
  /// The file may have been edited between the look at it and the stamp, which moved the change
  /// time. So it stays verified only if the stamp left the modification, which an edit moves.
  ///
  /// - Parameters:
  ///   - isOwn: Whether the file has the expiry that this process gave or left it.
  ///   - isForAccess: Whether the stamp was for the last access alone.
  /// - Returns: Whether the file had changed since the index learned of it.
  @discardableResult
  mutating func restamp(
    _ name: EntryName, from status: FileStatus, to fresh: FileStatus, isOwn: Bool = true,
    isForAccess: Bool = false
  ) -> Bool {
    // A different inode: the file was replaced, and the stamp was for the one before.
    guard let known = index.entry(named: name), known.inode == fresh.inodeMark else { return false }
    let isChanged = PackedTime(known.changeTime) != PackedTime(status.change)
    // A read may have met the stamped file already, and counted a use.
    let used = max(known.lastAccess, fresh.lastAccess)
    var entry = IndexedEntry(name: name, status: fresh, lastAccess: used)
    let isUnedited = fresh.modification == status.modification && !isChanged
    if isForAccess && isUnedited { entry.check = known.check }
    // A use that waits is one of this state of the file as well.
    if isOwn, var use = uses[name], use.expirySeen == status.modification {
      use.expirySeen = fresh.modification
      uses.pending[name] = use
      entry.expiry = max(entry.expiry, use.expiry ?? entry.expiry)
    }
    index.upsert(entry, order: .byLastAccess)
    return isChanged
  }

  /// Returns the time of a use or store, with the number of the entry's uses if that counts; see
  /// `PackedTime.useCount`. A store over an entry keeps the number.
  ///
  /// - Parameter stored: The last access that the file has.
  @inline(__always)
  mutating func issueAccess(
    of name: EntryName, stored: Timestamp? = nil, isUse: Bool = true, at now: Timestamp
  ) -> Timestamp {
    guard index.measure != nil else { return uses.issueAccess(at: now) }
    let known = index.slot(of: name).map { index.table.records[$0].lastAccess.useCount } ?? 0
    let count = max(known, stored.map { PackedTime($0).useCount } ?? 0)
    return uses.issueAccess(at: now, useCount: min(3, isUse ? count + 1 : count))
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
    if isDue { uses.note(name, status, expiry: extended()) }
    // Never an earlier one: a touch in the same tick of the clock may have set a later expiry.
    guard let expiry = uses.expiry(of: name, status), expiry > stored else { return stored }
    index.setExpiry(expiry, of: slot)
    return expiry
  }

  /// Takes the pending use of a name to be written, with the time of the latest use.
  mutating func takeUse(of name: EntryName) -> (use: PendingStamp, access: Timestamp)? {
    guard let use = uses.take(name), let slot = index.slot(of: name) else { return nil }
    return (use, index.table.records[slot].lastAccess.timestamp)
  }

  /// Has a use that could not be written wait again, unless a later one waits or the entry is gone.
  mutating func keep(_ use: PendingStamp, of name: EntryName) {
    if index.contains(name), uses[name] == nil { uses.pending[name] = use }
  }

  /// Forgets all entries and their uses, and gives up a scan that is going on.
  mutating func removeAll() {
    (index, larger) = (EntryIndex(inClassesBy: index.measure), LargerLimits())
    scans.giveUp()
    uses.pending = NameMap()
  }
}

/// A use that has not reached the disk yet.
struct PendingStamp: Sendable, Equatable {
  /// The file that was used. Another file of the name is not stamped.
  var inode: UInt32
  /// The expiry that the file had. If it has another one when the stamp is written, the extension
  /// is dropped, because a person or another process has set that.
  var expirySeen: Timestamp
  /// The extended expiry, if the use extends.
  var expiry: Timestamp?
}

/// The uses that have not reached the disk, and the order of all uses.
///
/// 1. `issueAccess` gives each use a time later than that of the use before.
/// 2. `note` remembers a use that is due on the disk, and `planDrain` sets the time by which it has
///    to be there.
/// 3. A drain goes through the names, takes each use and writes it. Uses that are noted meanwhile
///    wait for the next drain.
struct UseLog: Sendable {
  /// The time of the latest use.
  private(set) var lastAccess = Timestamp(seconds: .min)
  /// The time of the latest use before the clock was last set back, and to what it was set.
  private var (lastBeforeStep, lastStep) = (Timestamp(seconds: .min), Timestamp(seconds: .max))
  var pending = NameMap<PendingStamp>()
  /// The drains that are going on. A use that one of them has taken is no longer pending.
  private var drainCount = 0
  /// The time at which the planned drain is due, or was when it began; nil if none is planned.
  private var nextDrain: MonotonicTime?
  /// The earliest deadline that was asked for since the latest drain began.
  private var laterDrain: MonotonicTime?

  /// Returns the time of a use at `now`: later than the use before, unless the clock was set back.
  ///
  /// If the clock has not moved, the time is one nanosecond after the last use. If the last use is
  /// a second or more ahead, the clock was set back, and `now` is used.
  mutating func issueAccess(at now: Timestamp) -> Timestamp {
    let isJustBehind = now <= lastAccess && lastAccess < now.adding(seconds: 1)
    if now < lastAccess && !isJustBehind { (lastBeforeStep, lastStep) = (latest, now) }
    lastAccess =
      isJustBehind
      ? Timestamp(seconds: lastAccess.seconds, nanoseconds: Int64(lastAccess.nanoseconds) + 1) : now
    return lastAccess
  }

  /// Returns the time of a use with the number of uses, 0 to 3: such a time in whole microseconds,
  /// rounded up, and as many nanoseconds.
  mutating func issueAccess(at now: Timestamp, useCount: Int) -> Timestamp {
    let nanoseconds = (Int64(issueAccess(at: now).nanoseconds) + 999) / 1_000 * 1_000
    lastAccess = Timestamp(seconds: lastAccess.seconds, nanoseconds: nanoseconds + Int64(useCount))
    return lastAccess
  }

  /// The latest time that any use has had.
  var latest: Timestamp { max(lastAccess, lastBeforeStep) }

  /// Returns the times of uses that were made before the clock was set back, if that was at a time
  /// or earlier: those ahead of all uses since.
  func usesBeforeStep(by time: Timestamp?) -> ClosedRange<Timestamp>? {
    guard let time, lastStep <= time, lastAccess < lastBeforeStep else { return nil }
    return lastAccess.adding(.nanoseconds(1))...lastBeforeStep
  }

  /// Returns these uses, and what that clock would show at a time.
  func clockBeforeStep(at now: Timestamp) -> (uses: ClosedRange<Timestamp>, now: Timestamp)? {
    usesBeforeStep(by: now).map {
      ($0, now.adding(.nanoseconds(lastBeforeStep.nanoseconds(since: lastStep))))
    }
  }

  /// Notes a use by another process, or by an engine that had the directory before, so that later
  /// uses here count as later even if the clock stands still.
  mutating func advance(to time: Timestamp) { lastAccess = max(lastAccess, time) }

  var isEmpty: Bool { pending.isEmpty }
  subscript(name: EntryName) -> PendingStamp? { pending[name] }

  /// Returns the expiry that a pending use will give a file, unless another expiry was set since.
  func expiry(of name: EntryName, _ status: FileStatus) -> Timestamp? {
    guard let use = pending[name], use.inode == status.inodeMark,
      use.expirySeen == status.modification
    else { return nil }
    return use.expiry
  }

  /// Notes a use that is due on the disk. An extension by an earlier use of the same file stands.
  mutating func note(_ name: EntryName, _ status: FileStatus, expiry: Timestamp?) {
    let promised = [self.expiry(of: name, status), expiry].compactMap(\.self).max()
    pending[name] = PendingStamp(
      inode: status.inodeMark, expirySeen: status.modification, expiry: promised)
  }

  /// Takes the pending use of a name, which the caller writes unless the file is another or gone.
  @discardableResult
  mutating func take(_ name: EntryName) -> PendingStamp? { pending.removeValue(forKey: name) }

  var isDraining: Bool { drainCount > 0 }

  /// Plans a drain for a deadline; returns false if one is planned that is no later, or is going
  /// on. On a disk that hangs, a drain that is planned beside it would hang as well.
  mutating func planDrain(by deadline: MonotonicTime) -> Bool {
    if let nextDrain, nextDrain <= deadline {
      laterDrain = min(laterDrain ?? deadline, deadline)
      return false
    }
    nextDrain = deadline
    return true
  }

  /// Notes the end of a planned drain; returns when the next one is due, which must be planned. An
  /// earlier one that was planned beside it may have ended before, and a later one be planned.
  mutating func endPlannedDrain(by deadline: MonotonicTime) -> MonotonicTime? {
    guard nextDrain == deadline else { return nil }
    nextDrain = nil
    return pending.isEmpty ? nil : laterDrain
  }

  /// Begins a drain.
  ///
  /// - Returns: The number of slots to go through. A use that is pending now keeps its slot until
  ///   it is taken, so going through the slots finds it even if other uses come and go.
  mutating func beginDrain() -> Int {
    (drainCount, laterDrain) = (drainCount + 1, nil)
    return pending.slotCount
  }

  /// Ends a drain.
  ///
  /// - Returns: The memory of many written uses, to be released outside of the engine's lock.
  mutating func endDrain() -> NameMap<PendingStamp>? {
    drainCount -= 1
    return pending.takeExcess()
  }
}

/// The rules that decide when a use of an entry is stamped on the disk, and with which time.
package struct Recency: Sendable {
  /// The most by which the stored last access may lag behind, in nanoseconds, of which 64 bits hold
  /// 292 years; zero for no lag.
  private let nanoseconds: Int64
  /// Whether the cache only reads, so that no use is stamped.
  private let isReadOnly: Bool
  /// The user, whose files alone can be stamped unless it is root. See: man 2 utimensat, EPERM.
  let user = ProcessIdentity.user

  /// Converts the granularity once, so that no read calculates with durations.
  init(granularity: Duration, isReadOnly: Bool = false) {
    self.isReadOnly = isReadOnly
    let start = Timestamp(seconds: 0)
    let count = start.adding(granularity).nanoseconds(since: start)
    // The shortest lag must not become none.
    nanoseconds = granularity > .zero ? max(count, 1) : 0
  }

  /// Returns the lag allowed for an entry, in nanoseconds, if the stored last access is so old that
  /// a use now is stamped, or the expiry is moved by more; else nil. Zero asks for a stamp at once.
  ///
  /// A stored access in the future counts as now, so it is not due. The next due stamp corrects it.
  ///
  /// - Parameters:
  ///   - stored: The last access as the file has it.
  ///   - expiry: The expiry as the file has it, and `extended` that to which the use moves it.
  ///   - owner: The file's owner; this process for a value that waits to be written.
  func dueLag(
    stored: Timestamp, now: Timestamp, lifetime: Lifetime, _ extending: ExpirationExtending,
    expiry: Timestamp, extended: Timestamp?, owner: UInt32
  ) -> Int64? {
    if isReadOnly || !mayStamp(filesOf: owner) { return nil }
    let lag = self.lag(for: lifetime, extending)
    let isDue = lag == 0 || now.nanoseconds(since: stored) > lag
    return isDue || extended?.nanoseconds(since: expiry) ?? 0 > lag ? lag : nil
  }

  /// Whether the process may set the times of files of an owner.
  func mayStamp(filesOf owner: UInt32) -> Bool { user == 0 || owner == user }

  /// Returns the lag allowed for an entry, in nanoseconds: the granularity, or 1/16 of its lifetime
  /// if that is shorter and a use extends the expiry.
  package func lag(for lifetime: Lifetime, _ extending: ExpirationExtending) -> Int64 {
    // An entry that lives for a minute and lags by a minute would expire while it is being used.
    guard extending != .off, case .seconds(let count) = lifetime else { return nanoseconds }
    // A sixteenth of a second.
    return min(nanoseconds, Int64(count) * 62_500_000)
  }

  /// Returns the last access to write: not before the stored one, unless that is in the future.
  static func access(used: Timestamp, stored: Timestamp, now: Timestamp) -> Timestamp {
    stored > now ? used : max(used, stored)
  }
}
