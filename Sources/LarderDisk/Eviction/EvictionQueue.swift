import LarderSystem
import Synchronization

/// The evictions of this process, from the choice of their victims to the removal of the files.
///
/// 1. `begin`: an eviction joins the queue. Threads choose its victims, slice by slice.
/// 2. `endChoosing`: all victims are chosen, and the eviction is ready. One without victims leaves
///    the queue here.
/// 3. `startEvictor`: one thread becomes the evictor. It enters a term among the processes on the
///    directory, so that one of them removes files at a time.
/// 4. `next`: the evictor takes the ready evictions in their order and removes the files.
/// 5. `takeTerm` and `rest`: the evictor ends its term, and goes on if more has become ready. While
///    a thread is choosing victims because a limit is exceeded, the term goes on, because another
///    process that was elected now would evict for the same limit.
struct EvictionQueue: Sendable {
  /// The evictions that wait for the evictor, in their order.
  private(set) var waiting: [Eviction] = []
  /// Whether a thread is the evictor, or has been asked to be.
  private(set) var hasEvictor = false
  /// The eviction of the thread that chooses victims because a limit is exceeded.
  private var purge: Eviction?
  /// Whether another thread has found a limit exceeded during the purge and left it to that.
  private var isPurgeLeft = false
  /// The lock of this process's term as evictor; nil outside of a term, and in one that needs none.
  private(set) var term: LockedFile?
}

extension EvictionQueue {
  /// Whether nothing waits and no thread is the evictor.
  var isAtRest: Bool { !hasEvictor && waiting.isEmpty }

  /// Whether a thread is choosing victims because a limit is exceeded.
  var isPurging: Bool { purge != nil }

  /// Begins an eviction. Its victims are still to be chosen. The evictor takes ready evictions in
  /// the order in which they began.
  mutating func begin() -> Eviction {
    let eviction = Eviction()
    waiting.append(eviction)
    return eviction
  }

  /// Begins the eviction of a purge, of which there is one at a time.
  ///
  /// - Parameter lock: The lock of the term that was entered to choose the victims, if any was.
  mutating func beginPurge(_ lock: LockedFile?) -> Eviction {
    if let lock { term = lock }
    let eviction = begin()
    purge = eviction
    return eviction
  }

  /// Leaves an exceeded limit to the running purge; returns false if none is running.
  mutating func leaveToPurge() -> Bool {
    if isPurging { isPurgeLeft = true }
    return isPurging
  }

  /// Returns whether a limit was left to the purge, which the caller enforces.
  mutating func takeLeftPurge() -> Bool {
    defer { isPurgeLeft = false }
    return isPurgeLeft
  }

  /// Leaves an eviction, with all its victims chosen, to the evictor.
  ///
  /// A purge ends here, in one step with its last look at the totals: a store that was left to the
  /// purge is in the totals, and a later one finds no purge going on.
  mutating func endChoosing(_ eviction: Eviction) {
    if purge === eviction { purge = nil }
    eviction.complete()
    guard eviction.isEmpty else { return }
    waiting.removeAll { $0 === eviction }
    eviction.finish()
  }
}

// The evictor.
extension EvictionQueue {
  /// The outcome of a request for the evictor.
  struct Start: Sendable {
    /// Whether the caller has to run the evictor.
    let mustRun: Bool
    /// The lock of a term in which nothing is left to do, which the caller releases outside of the
    /// engine's lock.
    let endedTerm: LockedFile?
  }

  /// Asks for the evictor. The caller has to run it if an eviction is ready and no thread is the
  /// evictor.
  ///
  /// If nothing waits, the term ends here, because a purge that was elected may have found no
  /// victim.
  mutating func startEvictor() -> Start {
    if hasEvictor { return Start(mustRun: false, endedTerm: nil) }
    hasEvictor = hasReady
    guard waiting.isEmpty else { return Start(mustRun: hasEvictor, endedTerm: nil) }
    defer { term = nil }
    return Start(mustRun: false, endedTerm: term)
  }

  /// Enters a term.
  mutating func enterTerm(_ lock: LockedFile) { term = lock }

  /// Takes the first eviction that is ready. One that is still being chosen is left to the thread
  /// that chooses its victims.
  mutating func next() -> Eviction? {
    waiting.firstIndex(where: \.isComplete).map { waiting.remove(at: $0) }
  }

  /// Ends the term, unless a purge needs it, and returns its lock for release outside of the
  /// engine's lock.
  mutating func takeTerm() -> LockedFile? {
    isPurging ? nil : abandonTerm()
  }

  /// Ends the term because its directory is no longer held, and returns its lock for release
  /// outside of the engine's lock.
  mutating func abandonTerm() -> LockedFile? {
    defer { term = nil }
    return term
  }

  /// Lets the evictor rest. Returns false, and it goes on, if another eviction is ready or if a
  /// purge that kept the term open has ended.
  mutating func rest() -> Bool {
    hasEvictor = hasReady || term != nil && !isPurging
    return !hasEvictor
  }

  private var hasReady: Bool { waiting.contains(where: \.isComplete) }
}

/// Victims that were chosen together, and the result of removing their files.
package final class Eviction: Sendable {
  private let state = ForkSafeMutex(State())
  // Not the engine's event: that comes with every file, and waking the waiter and putting it back
  // to sleep took a fifth as long as removing the file.
  private let finished = EventCount()

  private struct State {
    // The victims in the slices in which they were chosen. One long array would be copied as it
    // grows, under the engine's lock.
    var slices: [[Victim]] = []
    /// The victims in the order in which they go, taken from the end, because that costs nothing.
    /// Nil until the evictor asks for the first.
    var order: [Place]?
    var result = BulkRemoval()
    var isComplete = false
    var isFinished = false
  }

  /// The place of a victim among the slices, and its inode.
  private struct Place {
    let inode: UInt64
    let slice: Int32
    let index: Int32
  }

  /// Adds victims that have just been chosen.
  func add(_ victims: [Victim]) {
    guard !victims.isEmpty else { return }
    state.withLock { $0.slices.append(victims) }
  }

  /// Notes that all victims have been chosen.
  func complete() {
    state.withLock { $0.isComplete = true }
  }

  /// Whether all victims have been chosen, so that their files can go.
  var isComplete: Bool { state.withLock { $0.isComplete } }

  /// Whether nothing was chosen.
  var isEmpty: Bool { state.withLock { $0.slices.isEmpty } }

  /// The names of all victims chosen so far.
  ///
  /// - Complexity: O(n).
  var names: [EntryName] {
    // The slices are walked outside of this lock, because a thread that waits for the end takes it
    // while it holds the engine's.
    let slices = state.withLock { $0.slices }
    return slices.flatMap { $0.map(\.name) }
  }

  /// Takes the next few victims, in the order of their inodes, which is about the order in which
  /// they lie on the disk.
  ///
  /// Called only by the evictor, one thread at a time, after all victims have been chosen.
  func take(_ count: Int) -> [Victim] {
    sortIfNeeded()
    return state.withLock { state in
      var order = state.order ?? []
      state.order = nil
      defer { state.order = order }
      let places = order.suffix(count)
      let victims = places.reversed().map { state.slices[Int($0.slice)][Int($0.index)] }
      order.removeLast(places.count)
      return victims
    }
  }

  /// Sorts the victims by inode. In this order the unlinks took 0.81 to 0.87 of the time they take
  /// in order of last access.
  ///
  /// The thread that removes the files sorts, not the one that chose them. It sorts outside of the
  /// lock, because a thread that waits for the end takes that while it holds the engine's.
  private func sortIfNeeded() {
    let slices = state.withLock { $0.order == nil ? $0.slices : nil }
    guard let slices else { return }
    let order = Self.sorted(slices)
    state.withLock { $0.order = order }
  }

  private static func sorted(_ slices: [[Victim]]) -> [Place] {
    var places: [Place] = []
    places.reserveCapacity(slices.reduce(0) { $0 + $1.count })
    for (slice, victims) in slices.enumerated() {
      for (index, victim) in victims.enumerated() {
        places.append(Place(inode: victim.inode, slice: Int32(slice), index: Int32(index)))
      }
    }
    places.sort { $0.inode > $1.inode }
    return places
  }

  /// Adds the result for some victims.
  func add(_ result: BulkRemoval) {
    state.withLock { $0.result.add(result) }
  }

  /// Notes that no victim is left.
  func finish() {
    state.withLock { $0.isFinished = true }
    finished.signal()
  }

  /// The result; nil as long as victims are left.
  var result: BulkRemoval? { state.withLock { $0.isFinished ? $0.result : nil } }

  /// Waits until no victim is left.
  func wait() -> BulkRemoval {
    while true {
      let ticket = finished.ticket()
      if let result { return result }
      finished.wait(ticket)
    }
  }
}
