/// Which loads are going on, who waits for them, and which load waits for which: the decisions of
/// single flight as a value.
///
/// Each function returns what the caller must do outside of the lock.
struct FlightTable<Waiter: Sendable>: Sendable {
  /// One load.
  struct FlightID: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  /// One caller that waits for a load.
  struct WaiterID: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  private struct Flight: Sendable {
    let key: CacheKey
    var waiters: [WaiterID: (waiter: Waiter, caller: FlightID?)] = [:]
    var isSuperseded = false
    /// Whether the load goes on although nobody waits: it refreshes what was served expired.
    var isRefresh = false
  }

  private var flights: [FlightID: Flight] = [:]
  // Only the load that new callers join; one that was abandoned is in neither table any more.
  private var byKey: [CacheKey: FlightID] = [:]
  private var flightOfWaiter: [WaiterID: FlightID] = [:]
  /// Callers that were cancelled between being numbered and waiting.
  private var cancelledEarly: Set<WaiterID> = []
  private var nextNumber: UInt64 = 0

  /// What a caller that wants a key's value must do.
  enum Joining: Sendable {
    /// Start the load; the caller waits for it already.
    case start(FlightID)
    /// Nothing: the caller waits for a load that is going on.
    case wait
    /// Fail: the load would wait for itself.
    case cycle
    /// Fail: the caller was cancelled.
    case cancelled
  }

  /// What the cancellation of a caller leads to.
  struct Cancellation: Sendable {
    /// The caller to be told.
    var waiter: Waiter?
    /// The load that nobody waits for any more.
    var abandoned: FlightID?
  }

  /// Numbers a caller before it waits, since its cancellation may come before its wait.
  mutating func makeWaiter() -> WaiterID {
    WaiterID(number: takeNumber())
  }

  private mutating func takeNumber() -> UInt64 {
    nextNumber += 1
    return nextNumber
  }

  /// Lets a caller, itself perhaps inside a load, wait for a key's value.
  mutating func join(
    _ key: CacheKey, _ id: WaiterID, _ waiter: Waiter, caller: FlightID?
  ) -> Joining {
    if cancelledEarly.remove(id) != nil { return .cancelled }
    if let flight = byKey[key] {
      if let caller, waits(flight, for: caller) { return .cycle }
      wait(id, waiter, caller, for: flight)
      return .wait
    }
    let flight = add(key)
    wait(id, waiter, caller, for: flight)
    return .start(flight)
  }

  /// Starts a load that nobody waits for, unless one of the key is going on.
  mutating func refresh(_ key: CacheKey) -> FlightID? {
    guard byKey[key] == nil else { return nil }
    let flight = add(key)
    flights[flight]?.isRefresh = true
    return flight
  }

  private mutating func add(_ key: CacheKey) -> FlightID {
    let flight = FlightID(number: takeNumber())
    flights[flight] = Flight(key: key)
    byKey[key] = flight
    return flight
  }

  private mutating func wait(
    _ id: WaiterID, _ waiter: Waiter, _ caller: FlightID?, for flight: FlightID
  ) {
    flights[flight]?.waiters[id] = (waiter, caller)
    flightOfWaiter[id] = flight
  }

  /// Whether a load is, or waits directly or through others for, another.
  private func waits(_ flight: FlightID, for other: FlightID) -> Bool {
    var open = [other]
    var seen: Set<FlightID> = []
    // Upwards from the other one: its callers, theirs, and so on, never include the flight unless
    // the flight waits for it.
    while let next = open.popLast() {
      if next == flight { return true }
      guard seen.insert(next).inserted else { continue }
      open += flights[next]?.waiters.values.compactMap(\.caller) ?? []
    }
    return false
  }

  /// Ends a caller's wait before the load's end.
  mutating func cancel(_ id: WaiterID) -> Cancellation {
    guard let flight = flightOfWaiter.removeValue(forKey: id) else {
      cancelledEarly.insert(id)
      return Cancellation()
    }
    let waiter = flights[flight]?.waiters.removeValue(forKey: id)?.waiter
    // A refresh goes on: it was started for those who ask later.
    guard let rest = flights[flight], rest.waiters.isEmpty, !rest.isRefresh else {
      return Cancellation(waiter: waiter)
    }
    remove(flight)
    return Cancellation(waiter: waiter, abandoned: flight)
  }

  /// Forgets a caller whose wait is over.
  mutating func forget(_ id: WaiterID) {
    cancelledEarly.remove(id)
  }

  /// Ends a load and returns those who wait for it.
  mutating func finish(_ flight: FlightID) -> [Waiter] {
    guard let ended = remove(flight) else { return [] }
    for id in ended.waiters.keys { flightOfWaiter[id] = nil }
    return ended.waiters.values.map(\.waiter)
  }

  /// Takes a flight out of both tables.
  @discardableResult
  private mutating func remove(_ flight: FlightID) -> Flight? {
    guard let ended = flights.removeValue(forKey: flight) else { return nil }
    // Another load of the key may have taken the place since.
    if byKey[ended.key] == flight { byKey[ended.key] = nil }
    return ended
  }

  /// Takes note that a key's value was stored or removed, so that the load's is not stored over it.
  mutating func supersede(_ key: CacheKey) {
    if let flight = byKey[key] { flights[flight]?.isSuperseded = true }
  }

  /// Takes note that everything was removed.
  mutating func supersedeAll() {
    for flight in flights.keys { flights[flight]?.isSuperseded = true }
  }

  /// Whether what a load brings is still to be stored.
  func isWanted(_ flight: FlightID) -> Bool {
    flights[flight].map { !$0.isSuperseded } ?? false
  }

  /// Whether a load has not ended and somebody waits for it.
  func isGoingOn(_ flight: FlightID) -> Bool { flights[flight] != nil }

  /// The number of callers that wait.
  var waiterCount: Int { flightOfWaiter.count }

  /// Whether no load is going on and nobody waits.
  var isIdle: Bool { flights.isEmpty && flightOfWaiter.isEmpty && cancelledEarly.isEmpty }
}
