import Larder
import Synchronization

/// The requests that are at the origin, and the requests that wait for one of them.
///
/// A request waits for the head of another one to the same URL, then for its body if that suits it.
/// It waits no longer than a limit, and not for a URL whose last response could not be stored.
actor Flights {
  /// What a request does next.
  enum Turn: Sendable {
    /// It asks the origin, for those that wait for this flight too.
    case asks(UInt64)
    /// It looks for a stored response once more, then waits for a request again or for none.
    case looks(mayWait: Bool)
    /// The origin has failed, without an error by a response that says so.
    case fails((any Error)?)
  }

  /// One request at the origin.
  struct Flight: Sendable {
    /// The URL's key and what its request asks for, as `lone` has them.
    let place: [String]
    /// Whether other requests may wait for it.
    var isShared: Bool
    /// Whether its response may still be stored. Nobody waits for one that is not.
    var isWanted = true { didSet { isShared = false } }
    /// For whom the response is, as far as is known.
    var variant: Variant
    /// Whether its response has come and is being stored.
    var isStoring = false
    var waiters: [UInt64: (request: Request, continuation: CheckedContinuation<Turn, Never>)] = [:]
    /// Ends the wait of all when the limit is reached.
    var timer: Task<Void, any Error>?
    var key: String { place[0] }
  }

  private(set) var flights: [UInt64: Flight] = [:]
  private var ids: [String: [UInt64]] = [:]
  /// The last change of what is stored, by URL.
  private(set) var changes: [String: Task<Result<Stored?, CacheError>, Never>] = [:]
  /// The ends of the times during which requests for a variant of a URL do not wait, for 1,000.
  private var lone: [[String]: ContinuousClock.Instant] = [:]
  private var lastID: UInt64 = 0
  /// The flights that have ended. Read before a look for a stored response.
  nonisolated let endCount = Atomic<UInt64>(0)
  /// The count at the last end of a flight, for URLs by their hash.
  private var lastEnds = [UInt64](repeating: 0, count: 1024)

  /// Starts a flight, or waits for one of another request if it `shares`. The count is of the
  /// flights that had ended when it looked for a stored response, to look again if one of the URL
  /// has since; nil for a refresh, which never waits.
  func join(_ asker: Exchange, _ shares: Bool, after count: UInt64?) async -> Turn {
    let (key, limit) = (asker.key, asker.cache.configuration.collapseLimit)
    let end = lone[[key] + asker.variant.lines]
    let isShared = shares && (count == nil || end.map { $0 <= .now } ?? true)
    if isShared, lastEnds[key.hashValue & 1023] > count ?? .max { return .looks(mayWait: true) }
    let open = ids[key]?.filter { isShared && flights[$0]?.isShared == true } ?? []
    let match = open.first { flights[$0]?.variant.fits(asker.request) == true }
    guard let match else { return .asks(start(asker, isShared: isShared)) }
    // Also if nobody waits: what stands still keeps no refresh and no other response back.
    if flights[match]?.timer == nil {
      flights[match]?.timer = Task {
        try await Task.sleep(for: limit > .zero ? min(limit, .seconds(1 << 31)) : .seconds(5))
        flights[match]?.isShared = false
        release(match, .looks(mayWait: false)) { _ in true }
      }
    }
    if count == nil { return .looks(mayWait: false) }
    guard limit > .zero else { return .asks(start(asker, isShared: true)) }
    let id = UInt64.random(in: .min ... .max)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { return continuation.resume(returning: .fails(CancellationError())) }
        flights[match]?.waiters[id] = (asker.request, continuation)
      }
    } onCancel: {
      Task { await self.leave(match, id) }
    }
  }

  private func leave(_ flight: UInt64, _ id: UInt64) {
    let waiter = flights[flight]?.waiters.removeValue(forKey: id)
    waiter?.continuation.resume(returning: .fails(CancellationError()))
  }

  func start(_ asker: Exchange, isShared: Bool) -> UInt64 {
    lastID += 1
    let place = [asker.key] + asker.variant.lines
    flights[lastID] = Flight(place: place, isShared: isShared, variant: asker.variant)
    ids[asker.key, default: []].append(lastID)
    return lastID
  }

  private func release(_ flight: UInt64, _ turn: Turn, where goes: (Request) -> Bool) {
    for (id, waiter) in flights[flight]?.waiters ?? [:] where goes(waiter.request) {
      flights[flight]?.waiters[id] = nil
      waiter.continuation.resume(returning: turn)
    }
  }

  /// Records that the head of a response has come: for a variant, or for nil one that is not stored
  /// and maybe `tells` that others will not be. Returns whether to store it: not if it was
  /// invalidated, or a later request stores such one, or for one that is shared an earlier one.
  func headCame(_ flight: UInt64, _ variant: Variant?, _ tells: Bool) -> Bool {
    guard var own = flights[flight], variant != nil || tells else { return false }
    lone[own.place] = variant == nil ? .now + .seconds(120) : nil
    if lone.count > 1000 { lone[lone.min { $0.value < $1.value }?.key ?? []] = nil }
    guard let variant else { return false }
    let others = ids[own.key]?.filter { own.isShared || $0 > flight }.compactMap { flights[$0] }
    let isStored = others?.contains { $0.isStoring && $0.isShared && $0.variant == variant }
    let mayStore = own.isWanted && isStored != true
    if mayStore { (own.variant, own.isStoring) = (variant, true) }
    flights[flight] = own
    release(flight, .looks(mayWait: true)) { !mayStore || !variant.fits($0) }
    return mayStore
  }

  func end(_ flight: UInt64, _ turn: Turn) {
    release(flight, turn) { _ in true }
    guard let ended = flights.removeValue(forKey: flight) else { return }
    ended.timer?.cancel()
    lastEnds[ended.key.hashValue & 1023] = endCount.wrappingAdd(1, ordering: .relaxed).newValue
    ids[ended.key]?.removeAll { $0 == flight }
    if ids[ended.key]?.isEmpty ?? true { ids[ended.key] = nil }
  }

  func isWanted(_ flight: UInt64) -> Bool { flights[flight]?.isWanted ?? false }

  /// Changes what is stored for a URL when all earlier changes of it have ended, so that what a
  /// change has read is still so when it writes. It runs to its end also if its caller's task is
  /// cancelled: what has come for many, and what must go, does not depend on one client.
  /// If it `invalidates`, responses that are under way may not be stored afterwards.
  func inTurn(
    _ key: String, _ invalidates: Bool = false,
    _ change: @escaping @Sendable () async throws(CacheError) -> Stored?
  ) async throws(CacheError) -> Stored? {
    if invalidates { ids[key]?.forEach { flights[$0]?.isWanted = false } }
    // Not on this actor, where the requests of all URLs come and go.
    let next = Task { @concurrent [last = changes[key]] () -> Result<Stored?, CacheError> in
      _ = await last?.value
      do throws(CacheError) { return .success(try await change()) } catch { return .failure(error) }
    }
    changes[key] = next
    defer { if changes[key] == next { changes[key] = nil } }
    return try await next.value.get()
  }
}
