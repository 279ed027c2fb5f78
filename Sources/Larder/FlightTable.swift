import LarderBasics
import LarderSystem
import Synchronization

/// The running loads and their waiting callers: the decisions of single flight, as a value.
///
/// Each function returns what the caller must do outside of the lock.
struct FlightTable<Waiter: Sendable>: Sendable {
  private struct Waiting: Sendable {
    let waiter: Waiter
    /// Whether the caller came after a change of the key: the load may have begun too early for it.
    var isLate: Bool
    /// With `.reload` the caller wants a value that is loaded, and none that the load has found.
    let options: LoadOptions
  }

  private struct Flight: Sendable {
    let key: CacheKey
    var waiters: [WaiterID: Waiting] = [:]
    var isSuperseded = false
    /// Whether its look before the load has found a value.
    var hasFound = false
    /// Whether the load refreshes a value that was served expired, and goes on without a waiting
    /// caller. False as soon as a caller waits for it.
    var isRefresh = false
    /// The time of a load that began as a refresh. At any other time, also after the clock was set
    /// back, the next caller gives it up: it may hang, and no caller's cancellation ends it.
    var refreshTime: Range<Timestamp>?
  }

  private var flights: [FlightID: Flight] = [:]
  // Only the load that new callers join.
  private var byKey: [CacheKey: FlightID] = [:]
  /// The loads that no caller waits for any more and that have not ended: they may be storing.
  private var abandoned: [FlightID: CacheKey] = [:]
  private var flightOfWaiter: [WaiterID: FlightID] = [:]
  /// Callers that were cancelled after they got an ID and before they waited.
  private var cancelledEarly: Set<WaiterID> = []

  /// The next step for a caller that asks for a key's value.
  enum Joining: Sendable {
    /// Start the load; the caller is registered as a waiter already.
    case start(FlightID)
    /// Do nothing; the caller waits for a running load.
    case wait
    /// Fail: the load would wait for itself.
    case cycle
    /// Fail: the caller was cancelled.
    case cancelled
  }

  /// The effects of a caller's cancellation.
  struct Cancellation: Sendable {
    /// The caller to resume with a `CancellationError`.
    var waiter: Waiter?
    /// The load to cancel, because no caller waits for its outcome any more.
    var abandoned: FlightID?
    /// The callers that came too late for that load; they must ask again.
    var late: [Waiter] = []
  }

  /// The callers that waited for a load that has ended.
  struct Audience: Sendable {
    /// The key of the load, unless the load was abandoned before.
    var key: CacheKey?
    /// The callers that get its outcome.
    var answered: [Waiter] = []
    /// The callers that came after the key was changed; they must ask again.
    var late: [Waiter] = []
  }

  /// Lets a caller wait for a key's value.
  ///
  /// - Parameter mayWait: Whether the caller, which may be a part of a load, may wait for one.
  mutating func join(
    _ key: CacheKey, _ id: WaiterID, _ waiter: Waiter, options: LoadOptions = LoadOptions(),
    mayWait: (FlightID) -> Bool
  ) -> Joining {
    if cancelledEarly.remove(id) != nil { return .cancelled }
    let known = byKey[key]
    let flight = known ?? FlightID()
    guard mayWait(flight) else { return .cycle }
    if known == nil { add(flight, key) }
    let isLate = flights[flight]?.isSuperseded == true
    flights[flight]?.isRefresh = false
    flights[flight]?.waiters[id] = Waiting(waiter: waiter, isLate: isLate, options: options)
    flightOfWaiter[id] = flight
    return known == nil ? .start(flight) : .wait
  }

  /// Starts a load without a waiting caller, unless a load of the key is running.
  ///
  /// - Parameter time: The only time at which a caller who finds the load running lets it go on.
  mutating func refresh(_ key: CacheKey, during time: Range<Timestamp>) -> FlightID? {
    guard byKey[key] == nil else { return nil }
    let flight = FlightID()
    add(flight, key)
    flights[flight]?.isRefresh = true
    flights[flight]?.refreshTime = time
    return flight
  }

  /// Gives up the load of a key if it began as a refresh that should have ended by now, or that was
  /// superseded before its waiting callers came: its value is of no use then.
  ///
  /// - Returns: The load to cancel, and its waiting callers, which must ask again.
  mutating func giveUpRefresh(
    of key: CacheKey, at now: Timestamp
  ) -> (flight: FlightID, waiters: [Waiter])? {
    guard let flight = byKey[key], let known = flights[flight], let time = known.refreshTime,
      !time.contains(now) || known.isSuperseded && known.waiters.values.allSatisfy(\.isLate)
    else { return nil }
    let audience = abandon(flight)
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
    // A refresh goes on without waiting callers, because it was started for later ones. Callers
    // that came too late want the next load, so they do not keep this one, which may hang.
    guard let rest = flights[flight], rest.waiters.values.allSatisfy(\.isLate), !rest.isRefresh
    else { return Cancellation(waiter: waiter) }
    return Cancellation(waiter: waiter, abandoned: flight, late: abandon(flight).late)
  }

  /// Forgets a caller whose wait is over.
  mutating func forget(_ id: WaiterID) { cancelledEarly.remove(id) }

  /// Takes a load out of the way of new callers, before it has ended.
  private mutating func abandon(_ flight: FlightID) -> Audience {
    let key = flights[flight]?.key
    let audience = finish(flight)
    abandoned[flight] = key
    return audience
  }

  /// Ends a load and returns its waiting callers.
  mutating func finish(_ flight: FlightID) -> Audience {
    abandoned[flight] = nil
    guard let ended = flights.removeValue(forKey: flight) else { return Audience() }
    // A newer load of the key may be registered already.
    if byKey[ended.key] == flight { byKey[ended.key] = nil }
    for id in ended.waiters.keys { flightOfWaiter[id] = nil }
    let (late, answered) = ended.waiters.values.reduce(into: ([Waiter](), [Waiter]())) {
      let isLate = $1.isLate || $1.options.reloads && ended.hasFound
      if isLate { $0.0.append($1.waiter) } else { $0.1.append($1.waiter) }
    }
    return Audience(key: ended.key, answered: answered, late: late)
  }

  /// Records that a load has found a value, and does not run its closure.
  mutating func find(_ flight: FlightID) { flights[flight]?.hasFound = true }

  /// The options of the callers that wait for a load.
  func options(of flight: FlightID) -> [LoadOptions] {
    flights[flight]?.waiters.values.map(\.options) ?? []
  }

  /// Records that a key's value was stored or removed: the running load does not store over it.
  mutating func supersede(_ key: CacheKey) {
    if let flight = byKey[key] { flights[flight]?.isSuperseded = true }
  }

  /// Records that everything was removed.
  ///
  /// Also of a load whose value has just been stored: that value is gone as well, and callers from
  /// here on must not get it.
  mutating func supersedeAll() {
    for flight in flights.keys { flights[flight]?.isSuperseded = true }
  }

  /// Whether the value of a load is still to be stored.
  func isWanted(_ flight: FlightID) -> Bool {
    flights[flight].map { !$0.isSuperseded } ?? false
  }

  /// The keys of the loads that have not ended.
  var keys: [CacheKey] { Array(byKey.keys) + abandoned.values }

  /// Whether a load has neither ended nor been abandoned.
  func isGoingOn(_ flight: FlightID) -> Bool { flights[flight] != nil }

  /// The number of waiting callers.
  var waiterCount: Int { flightOfWaiter.count }
}

/// The graph of loads that wait for other loads.
///
/// One graph serves all caches of a process, because two loads can wait for each other across two
/// caches, and neither cache alone would see the cycle.
struct FlightGraph: Sendable {
  /// The loads that a load waits for, by the calls inside it that wait.
  private(set) var waits: [FlightID: [WaiterID: FlightID]] = [:]

  /// Records that a call inside one load waits for another load.
  ///
  /// - Returns: `false`, with nothing recorded, if the load would then wait for itself.
  /// - Complexity: O(w) for w waits between loads.
  mutating func add(_ id: WaiterID, _ waiting: FlightID, waitsFor awaited: FlightID) -> Bool {
    if reaches(waiting, from: awaited) { return false }
    waits[waiting, default: [:]][id] = awaited
    return true
  }

  /// Records that a call inside a load does not wait any more.
  ///
  /// - Complexity: O(1).
  mutating func remove(_ id: WaiterID, of waiting: FlightID) {
    waits[waiting]?[id] = nil
    if waits[waiting]?.isEmpty == true { waits[waiting] = nil }
  }

  /// Whether a load is another one, or waits for it directly or through other loads.
  private func reaches(_ goal: FlightID, from start: FlightID) -> Bool {
    var open = [start]
    var seen: Set<FlightID> = []
    while let next = open.popLast() {
      if next == goal { return true }
      guard seen.insert(next).inserted else { continue }
      open += waits[next, default: [:]].values
    }
    return false
  }
}

/// The identity of one load, unique in the process.
struct FlightID: Hashable, Sendable {
  private let number = UniqueNumber.next()
}

/// The identity of one waiting caller, unique in the process.
struct WaiterID: Hashable, Sendable {
  private let number = UniqueNumber.next()
}

private enum UniqueNumber {
  private static let last = Atomic<UInt64>(0)

  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// The errors of loads that failed a short time ago.
package struct FailureTable: Sendable {
  private struct Failure: Sendable {
    let error: any Error
    let start: Timestamp
    let expiry: Timestamp
  }

  /// The most errors kept. When the table is full, the error that expires first makes room.
  static let countLimit = 1000

  private var failures: [CacheKey: Failure] = [:]

  /// Forgets all errors, and returns them.
  mutating func removeAll() -> [any Error] {
    exchange(&failures, with: [:]).values.map(\.error)
  }

  /// Returns the error kept for a key, if it has not expired.
  ///
  /// - Complexity: O(1).
  func error(for key: CacheKey, at now: Timestamp) -> (any Error)? {
    // Not for as long as a clock that was set back takes to come to the expiry.
    guard let failure = failures[key], failure.expiry > now,
      failure.start <= now.adding(seconds: 1)
    else { return nil }
    return failure.error
  }

  /// Keeps an error. Returns the one that leaves for it, to be released without a lock.
  ///
  /// - Complexity: O(1), and O(`countLimit`) when the table is full.
  @discardableResult
  mutating func add(
    _ error: any Error, for key: CacheKey, from start: Timestamp, until expiry: Timestamp
  ) -> (any Error)? {
    let failure = Failure(error: error, start: start, expiry: expiry)
    var old = failures.updateValue(failure, forKey: key)
    if failures.count > Self.countLimit {
      let others = failures.lazy.filter { $0.key != key }
      let first = others.min { $0.value.expiry < $1.value.expiry }
      if let first { old = failures.removeValue(forKey: first.key) }
    }
    return old?.error
  }

  /// Forgets a key's error, because the key was stored or removed, and returns it.
  mutating func remove(_ key: CacheKey) -> (any Error)? {
    failures.removeValue(forKey: key)?.error
  }
}
