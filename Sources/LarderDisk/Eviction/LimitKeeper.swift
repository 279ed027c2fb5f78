import LarderSystem

/// The state of limit enforcement, without the victims: planned looks and sweeps, what is known of
/// other processes, and the room that stores have reserved.
struct LimitKeeper: Sendable {
  /// The room under the size limit that is reserved by stores with files not published yet, oldest
  /// first.
  private var reservations: [Reservation] = []
  /// The sum of the reservations, in bytes.
  private(set) var reservedByteCount: UInt64 = 0
  /// The number of the latest reservation.
  private(set) var lastReservation: UInt64 = 0
  /// The bytes that may be stored before this process looks for stores of its neighbours.
  private var allowance: UInt64 = 0
  /// The trims that wait for the scan, to remove the expired entries themselves.
  private var waitingTrimCount = 0
  /// The patience with the process that was found to be evicting when a limit was first exceeded.
  private var patience: Patience?
  private var lastLost: MonotonicTime?
  /// The last time at which events told of a change by another process.
  private var lastNeighbourChange: MonotonicTime?
  /// The number of files that other processes have removed, as far as events told.
  private(set) var goneCount: UInt64 = 0
  private var lastFreeSpaceCheck: MonotonicTime?
  /// Whether a look at the limits is planned.
  private(set) var isCheckPlanned = false
  /// Whether the first sweep is planned. Each sweep plans the next.
  private var areSweepsPlanned = false
}

// Room.
extension LimitKeeper {
  private struct Reservation {
    let number: UInt64
    let thread: ThreadIdentity
    let byteCount: UInt64
  }

  /// Reserves room for the file of a store on a thread.
  mutating func reserve(_ byteCount: UInt64, for thread: ThreadIdentity) {
    guard byteCount > 0 else { return }
    lastReservation += 1
    reservations.append(
      Reservation(number: lastReservation, thread: thread, byteCount: byteCount))
    reservedByteCount += byteCount
    allowance -= min(allowance, byteCount)
  }

  /// Gives back the latest room that a thread has reserved, because its file is counted or it has
  /// none.
  ///
  /// - Complexity: O(n), where n is the number of stores under way.
  mutating func giveBack(for thread: ThreadIdentity) {
    guard let place = reservations.lastIndex(where: { $0.thread == thread }) else { return }
    reservedByteCount -= reservations.remove(at: place).byteCount
  }

  /// Whether a thread has reserved room. It must not wait for more then: it may be the one that
  /// the others wait for.
  func hasReservation(for thread: ThreadIdentity) -> Bool {
    reservations.contains { $0.thread == thread }
  }

  /// Whether a reservation is still there with this number or an earlier one.
  func hasReservation(upTo number: UInt64) -> Bool {
    reservations.first.map { $0.number <= number } ?? false
  }
}

// Looks for neighbours' stores.
extension LimitKeeper {
  /// The share of the room left that is stored between two looks, if neighbours have stored a short
  /// while ago, and if not.
  ///
  /// With neighbours that all store as much, the stores of 32 that have looked at the same time
  /// take half of the room before the next look of each.
  static let allowanceShare: (amongNeighbours: UInt64, alone: UInt64) = (64, 16)

  /// Whether a store has to look for stores of neighbours first.
  func mustLookAround(for byteCount: UInt64) -> Bool { byteCount >= allowance }

  /// Notes a look.
  ///
  /// - Parameter room: The bytes that all processes may still store.
  mutating func noteLook(room: UInt64, at now: @autoclosure () -> MonotonicTime) {
    let shares = Self.allowanceShare
    allowance = room / (hasRecentNeighbourChange(at: now()) ? shares.amongNeighbours : shares.alone)
  }
}

// Trims that callers ask for.
extension LimitKeeper {
  /// Whether a trim waits, so that no sweep takes what it is asked to remove and report.
  var hasWaitingTrim: Bool { waitingTrimCount > 0 }

  /// Notes that a trim waits.
  mutating func beginTrim() { waitingTrimCount += 1 }

  /// Notes that a trim is over.
  mutating func endTrim() { waitingTrimCount -= 1 }
}

// Elections among the processes on a directory.
extension LimitKeeper {
  /// The next step of a process that has found a limit exceeded.
  enum Candidacy: Sendable, Equatable {
    /// Ask to be elected. If the election is lost, wait; but if `isImpatient` is true, evict all
    /// the same.
    case ask(isImpatient: Bool)
    /// Wait for a moment, because an election was just lost.
    case wait
    /// Evict without an election, because the other process was given time enough.
    case goOn
  }

  /// Decides the next step of this process, which has found a limit exceeded.
  ///
  /// - Parameters:
  ///   - pause: The shortest time between two elections.
  ///   - patience: The longest time for which another process is waited for without progress.
  mutating func candidacy(
    at now: MonotonicTime, pause: Duration, patience limit: Duration
  ) -> Candidacy {
    let isImpatient = patience?.isOver(at: now, goneCount: goneCount, limit: limit) ?? false
    let isPause = lastLost.map { now.duration(since: $0) < pause } ?? false
    if !isPause { return .ask(isImpatient: isImpatient) }
    return isImpatient ? .goOn : .wait
  }

  /// Whether another process is evicting, as far as the last election told.
  var hasLostElection: Bool { patience != nil }

  /// Notes that an election was lost.
  mutating func noteLostElection(at now: MonotonicTime) {
    lastLost = now
    patience = patience ?? Patience(at: now, goneCount: goneCount)
  }

  /// Forgets lost elections, because one was won or the limits are kept.
  mutating func forgetLostElections() { patience = nil }
}

// Other processes.
extension LimitKeeper {
  /// The time for which a change by another process counts as recent.
  static let recentAge = Duration.seconds(10)

  /// Notes that events told of a change by another process. The first one for a while makes the
  /// next store look around.
  mutating func noteNeighbourChange(at now: MonotonicTime) {
    if !hasRecentNeighbourChange(at: now) { allowance = 0 }
    lastNeighbourChange = now
  }

  /// Notes that another process has removed a file.
  mutating func noteGone() { goneCount &+= 1 }

  /// Whether another process has changed something a short while ago.
  ///
  /// The clock is read only if there was any change, because every store asks this.
  func hasRecentNeighbourChange(at now: @autoclosure () -> MonotonicTime) -> Bool {
    lastNeighbourChange.map { now().duration(since: $0) < Self.recentAge } ?? false
  }
}

// Plans. Each function returns whether the caller must act, and records that the action is planned.
extension LimitKeeper {
  /// The shortest time between two looks at the free space: evicted bytes show only when the files
  /// are gone.
  static let freeSpaceInterval = Duration.seconds(5)

  /// Begins a look at the free space; returns false if the last one was not long ago.
  mutating func beginFreeSpaceCheck(at now: MonotonicTime) -> Bool {
    if let last = lastFreeSpaceCheck, now.duration(since: last) < Self.freeSpaceInterval {
      return false
    }
    lastFreeSpaceCheck = now
    return true
  }

  /// Lets the next look at the free space be soon, because no purge has followed the last one.
  mutating func forgetFreeSpaceCheck() { lastFreeSpaceCheck = nil }

  /// Plans a look at the limits; returns false if one is planned.
  mutating func planCheck() -> Bool {
    defer { isCheckPlanned = true }
    return !isCheckPlanned
  }

  /// Begins the planned look at the limits, after which another one can be planned.
  mutating func beginCheck() { isCheckPlanned = false }

  /// Plans the sweeps; returns false if they are planned.
  mutating func planSweeps() -> Bool {
    defer { areSweepsPlanned = true }
    return !areSweepsPlanned
  }
}

/// The patience with another process that evicts. It lasts for as long as files go.
///
/// An evictor that is stopped removes nothing, but other processes may go on removing. So patience
/// also ends after 15 times its length.
struct Patience: Sendable {
  private let start: MonotonicTime
  private var lastProgress: MonotonicTime
  private var goneCount: UInt64

  private static let mostTimes = 15

  /// - Parameter goneCount: `LimitKeeper.goneCount`.
  init(at now: MonotonicTime, goneCount: UInt64) {
    (start, lastProgress) = (now, now)
    self.goneCount = goneCount
  }

  /// Whether no file has gone for longer than a limit.
  mutating func isOver(at now: MonotonicTime, goneCount: UInt64, limit: Duration) -> Bool {
    if goneCount != self.goneCount { (lastProgress, self.goneCount) = (now, goneCount) }
    return now.duration(since: lastProgress) > limit
      || now.duration(since: start) > limit * Self.mostTimes
  }
}
