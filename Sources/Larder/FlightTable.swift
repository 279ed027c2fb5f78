import LarderBasics
import LarderSystem
import Synchronization

/// Which loads are going on and who waits for them: the decisions of single flight as a value.
///
/// Each function returns what the caller must do outside of the lock.
struct FlightTable<Waiter: Sendable>: Sendable {
  private struct Waiting: Sendable {
    let waiter: Waiter
    /// Whether it came after the key was changed, for which the load may have begun too early.
    var isLate: Bool
  }

  private struct Flight: Sendable {
    let key: CacheKey
    var waiters: [WaiterID: Waiting] = [:]
    var isSuperseded = false
    /// Whether the load goes on although nobody waits: it refreshes what was served expired. Once a
    /// caller has waited for it, it is a load like any other.
    var isRefresh = false
    /// When the next caller gives up what began as a refresh, which may hang without anybody to
    /// cancel it.
    var refreshEnd: Timestamp?
  }

  private var flights: [FlightID: Flight] = [:]
  // Only the load that new callers join; one that was abandoned is in neither table any more.
  private var byKey: [CacheKey: FlightID] = [:]
  private var flightOfWaiter: [WaiterID: FlightID] = [:]
  /// Callers that were cancelled between being numbered and waiting.
  private var cancelledEarly: Set<WaiterID> = []

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

  /// Who waited for a load that has ended.
  struct Audience: Sendable {
    /// Those whom its outcome answers.
    var answered: [Waiter] = []
    /// Those who came after the key was changed; they must ask again.
    var late: [Waiter] = []
  }

  /// Lets a caller wait for a key's value.
  ///
  /// - Parameter mayWait: Whether the caller, itself perhaps inside a load, may wait for one.
  mutating func join(
    _ key: CacheKey, _ id: WaiterID, _ waiter: Waiter, mayWait: (FlightID) -> Bool
  ) -> Joining {
    if cancelledEarly.remove(id) != nil { return .cancelled }
    let known = byKey[key]
    let flight = known ?? FlightID()
    guard mayWait(flight) else { return .cycle }
    if known == nil { add(flight, key) }
    let isLate = flights[flight]?.isSuperseded == true
    flights[flight]?.isRefresh = false
    flights[flight]?.waiters[id] = Waiting(waiter: waiter, isLate: isLate)
    flightOfWaiter[id] = flight
    return known == nil ? .start(flight) : .wait
  }

  /// Starts a load that nobody waits for, unless one of the key is going on.
  ///
  /// - Parameter end: When a caller that finds it still going on gives it up.
  mutating func refresh(_ key: CacheKey, until end: Timestamp) -> FlightID? {
    guard byKey[key] == nil else { return nil }
    let flight = FlightID()
    add(flight, key)
    flights[flight]?.isRefresh = true
    flights[flight]?.refreshEnd = end
    return flight
  }

  /// Gives up the load of a key if it began as a refresh that should have ended by now.
  ///
  /// - Returns: The load, to be cancelled, and those who wait for it, who must ask again.
  mutating func giveUpRefresh(
    of key: CacheKey, at now: Timestamp
  ) -> (flight: FlightID, waiters: [Waiter])? {
    guard let flight = byKey[key], let end = flights[flight]?.refreshEnd, end <= now else {
      return nil
    }
    let audience = finish(flight)
    return (flight, audience.answered + audience.late)
  }

  private mutating func add(_ flight: FlightID, _ key: CacheKey) {
    flights[flight] = Flight(key: key)
    byKey[key] = flight
  }

  /// Ends a caller's wait before the load's end.
  mutating func cancel(_ id: WaiterID) -> Cancellation {
    guard let flight = flightOfWaiter.removeValue(forKey: id) else {
      cancelledEarly.insert(id)
      return Cancellation()
    }
    let waiter = flights[flight]?.waiters.removeValue(forKey: id)?.waiter
    // A refresh that nobody has waited for goes on: it was started for those who ask later.
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
  mutating func finish(_ flight: FlightID) -> Audience {
    guard let ended = remove(flight) else { return Audience() }
    for id in ended.waiters.keys { flightOfWaiter[id] = nil }
    let (late, answered) = ended.waiters.values.reduce(into: ([Waiter](), [Waiter]())) {
      if $1.isLate { $0.0.append($1.waiter) } else { $0.1.append($1.waiter) }
    }
    return Audience(answered: answered, late: late)
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

  /// Takes note that what changed the key was the storing of the load's own value, which is good
  /// for all who wait.
  mutating func noteStored(_ flight: FlightID) {
    guard var own = flights[flight] else { return }
    own.isSuperseded = false
    for id in own.waiters.keys { own.waiters[id]?.isLate = false }
    flights[flight] = own
  }

  /// Whether what a load brings is still to be stored.
  func isWanted(_ flight: FlightID) -> Bool {
    flights[flight].map { !$0.isSuperseded } ?? false
  }

  /// Whether a load has not ended and somebody waits for it.
  func isGoingOn(_ flight: FlightID) -> Bool { flights[flight] != nil }

  /// The number of callers that wait.
  var waiterCount: Int { flightOfWaiter.count }
}

/// Which loads wait for which.
///
/// One for all caches of a process: two loads can wait for each other across two caches, and
/// neither cache by itself would see the circle.
struct FlightGraph: Sendable {
  private struct Wait: Sendable {
    let waiting: FlightID
    let awaited: FlightID
  }

  private var waits: [WaiterID: Wait] = [:]
  private var waitsOfFlight: [FlightID: Set<WaiterID>] = [:]

  /// Notes that one load, in a call of its own, waits for another.
  ///
  /// - Returns: False, with nothing noted, when it would then wait for itself.
  /// - Complexity: O(w) for w waits between loads.
  mutating func add(_ id: WaiterID, _ waiting: FlightID, waitsFor awaited: FlightID) -> Bool {
    if reaches(waiting, from: awaited) { return false }
    waits[id] = Wait(waiting: waiting, awaited: awaited)
    waitsOfFlight[waiting, default: []].insert(id)
    return true
  }

  /// Notes that a call waits no more.
  ///
  /// - Complexity: O(1).
  mutating func remove(_ id: WaiterID) {
    guard let wait = waits.removeValue(forKey: id) else { return }
    waitsOfFlight[wait.waiting]?.remove(id)
    if waitsOfFlight[wait.waiting]?.isEmpty == true { waitsOfFlight[wait.waiting] = nil }
  }

  /// Whether a load is, or waits directly or through others for, another.
  private func reaches(_ goal: FlightID, from start: FlightID) -> Bool {
    var open = [start]
    var seen: Set<FlightID> = []
    while let next = open.popLast() {
      if next == goal { return true }
      guard seen.insert(next).inserted else { continue }
      open += waitsOfFlight[next, default: []].compactMap { waits[$0]?.awaited }
    }
    return false
  }
}

/// One load, unlike any other of the process.
struct FlightID: Hashable, Sendable {
  private let number: UInt64
  private static let last = Atomic<UInt64>(0)

  init() {
    number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
  }
}

/// One caller that waits for a load, unlike any other of the process.
struct WaiterID: Hashable, Sendable {
  private let number: UInt64
  private static let last = Atomic<UInt64>(0)

  init() {
    number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
  }
}
