import LarderSystem

/// Stores that wait for room. Victims take space until their files are gone, so a store that would
/// take the files above 1.1 × the limit waits until an evictor, here or in another process, has
/// removed some of them.
///
/// Among neighbours, whose stores that are under way are not seen here, three rules keep the sum of
/// all below that:
///
/// 1. A process looks for their stores before it has stored 1/64 of the room that is left
///    (`LimitKeeper.mustLookAround`).
/// 2. Its stores wait from 1.05 × the limit on, and the rest is left to stores under way.
/// 3. They wait for as long as files go (`Patience`).
extension DiskEngine {
  /// Reserves room for a value. Waits first if the value would take the files above 1.1 × the
  /// limit, and either an evictor, here or in another process, is removing files, or stores are
  /// under way that were there before. A store made by another store, such as that of a pending
  /// value or one by the program's clock, waits for nothing.
  ///
  /// - Returns: The reserved bytes, which the caller gives back when the value is published or is
  ///   not stored. Of several stores that wait, no more go on than there is room for.
  func waitForRoom(_ byteCount: Int) -> UInt64 {
    guard let limit = configuration.sizeLimit else { return 0 }
    let measure = configuration.sizeMeasure
    let room = measure.footprint(of: byteCount)
    let followsEvents = hasEvents
    // Nearly every store needs only this one hold of the lock.
    var reservation = withState { state -> EngineState.Reservation in
      if followsEvents && state.mustLookAround(for: room) { return .mustWait }
      return state.reserve(room, limit, measure)
    }
    if reservation == .mustWait { reservation = waitLonger(room, limit) }
    if reservation == .reservedWhileNeighbourEvicts && followsEvents { waitForNeighbour(limit) }
    return room
  }

  /// Follows the events of neighbours if that is due, and waits for room.
  @inline(never)
  private func waitLonger(_ room: UInt64, _ limit: Int) -> EngineState.Reservation {
    let measure = configuration.sizeMeasure
    if hasEvents && withState({ $0.mustLookAround(for: room) }) {
      _ = catchUp()
      withState { $0.noteLook(limit, measure) }
      enforceLimits()
    }
    // Stores that begin later are not waited for. Otherwise small values that come all the time
    // would keep a large one waiting for ever.
    var last: UInt64?
    return wait { state in
      let number = last ?? state.limits.lastReservation
      last = number
      let reservation = state.reserve(room, limit, measure, after: number)
      return reservation == .mustWait ? nil : reservation
    }
  }

  /// Gives back the room of a value that is not stored.
  func giveBack(_ room: UInt64) {
    guard room > 0 else { return }
    withState { $0.limits.giveBack(for: .current) }
    changed.signal()
  }

  /// The time for which a thread that waits for a neighbour sleeps between two looks.
  private static let neighbourPause = Duration.milliseconds(5)

  /// Waits while a neighbour evicts and the files on disk would exceed a total.
  ///
  /// Waits for as long as files go, and for `electionPatience` when none does. Sleeps between two
  /// looks and is not woken by every change, because many threads that look all the time would
  /// leave the evictor no processor.
  ///
  /// The caller has reserved the room for its value already.
  private func waitForNeighbour(_ limit: Int) {
    var patience = withState { Patience(at: .now, goneCount: $0.limits.goneCount) }
    let alarm = EventCount()
    while true {
      let now = MonotonicTime.now
      let (mayGo, left) = withState { [patience] state in
        var left = patience
        let isOver = left.isOver(
          at: now, goneCount: state.limits.goneCount, limit: configuration.electionPatience)
        return (isOver || state.mayPassNeighbour(limit, configuration.sizeMeasure), left)
      }
      if mayGo { return }
      patience = left
      checkLimitsLater(isUrgent: true)
      alarm.wait(alarm.ticket(), timeout: Self.neighbourPause)
      _ = catchUp()
    }
  }
}

extension EngineState {
  /// Returns the bytes of the entries, and of the files that are still to be removed: those of
  /// victims and those of a removal of everything.
  func measuredOnDisk(_ measure: DiskCache.SizeMeasure) -> UInt64 {
    var sum = measure.of(catalog.index.totals)
    sum.addSaturating(measure.of(catalog.doomed.totals))
    sum.addSaturating(measure.of(clearing.remaining))
    return sum
  }

  /// Whether a thread that stores has to follow the changes of neighbours itself first, so that no
  /// writer stores faster than it learns of its neighbours.
  func mustLookAround(for room: UInt64) -> Bool {
    isScanned && limits.mustLookAround(for: room)
  }

  /// Notes that everything that neighbours had done was followed.
  mutating func noteLook(_ limit: Int, _ measure: DiskCache.SizeMeasure) {
    let (most, taken) = (most(limit), taken(measure))
    limits.noteLook(room: most > taken ? most - taken : 0, at: .now)
  }

  /// The total on disk from which stores wait: 1.1 × the limit, and 1.05 × among neighbours.
  private func most(_ limit: Int) -> UInt64 {
    let limit = UInt64(limit)
    return limit + limit / (limits.hasRecentNeighbourChange(at: .now) ? 20 : 10)
  }

  /// Whether a store whose room is reserved need not wait for a neighbour that evicts.
  func mayPassNeighbour(_ limit: Int, _ measure: DiskCache.SizeMeasure) -> Bool {
    !limits.hasLostElection || phase.isShutDown
      || hasRoom(for: 0, within: most(limit), measure)
  }

  /// The outcome of an attempt to reserve room.
  enum Reservation: Sendable {
    case reserved
    /// The room is reserved. Another process may be evicting although this one has no victims.
    case reservedWhileNeighbourEvicts
    /// Nothing is reserved.
    case mustWait
  }

  /// Reserves room, unless there is none and the store can wait: for files that are being removed,
  /// or for stores under way, after which files are removed.
  ///
  /// - Parameter number: The latest reservation that the store waits for; nil for any.
  mutating func reserve(
    _ room: UInt64, _ limit: Int, _ measure: DiskCache.SizeMeasure, after number: UInt64? = nil
  ) -> Reservation {
    let thread = ThreadIdentity.current
    let isNested = limits.reservedByteCount > 0 && limits.hasReservation(for: thread)
    if !isNested && isScanned && mayWait(after: number)
      && !hasRoom(for: room, within: most(limit), measure)
    {
      return .mustWait
    }
    limits.reserve(room, for: thread)
    return limits.hasLostElection && !isNested ? .reservedWhileNeighbourEvicts : .reserved
  }

  private func mayWait(after number: UInt64?) -> Bool {
    if limits.reservedByteCount > 0
      && limits.hasReservation(upTo: number ?? limits.lastReservation)
    {
      return true
    }
    return isMakingRoom
  }

  /// Whether the files on disk, the room reserved by stores under way, and so many bytes more stay
  /// within a total.
  func hasRoom(
    for room: UInt64, within most: UInt64, _ measure: DiskCache.SizeMeasure
  ) -> Bool {
    var sum = taken(measure)
    sum.addSaturating(room)
    return sum <= most
  }

  /// Returns the bytes on disk, and those that stores under way have reserved.
  private func taken(_ measure: DiskCache.SizeMeasure) -> UInt64 {
    var sum = measuredOnDisk(measure)
    sum.addSaturating(limits.reservedByteCount)
    return sum
  }

  /// Whether files are being removed for which a store can wait.
  var isMakingRoom: Bool {
    if clearing.remaining.count > 0 { return true }
    // The thread that is still choosing victims starts the evictor next.
    return !evictions.isAtRest && !catalog.doomed.isEmpty
  }
}

extension DiskCache.SizeMeasure {
  /// Returns the size that a value will count with once it is written. Most file systems have
  /// blocks of 4 KiB.
  func footprint(of byteCount: Int) -> UInt64 {
    self == .bytes ? UInt64(byteCount) : (UInt64(byteCount) + 4095) / 4096 * 4096
  }
}
