import LarderSystem
import Synchronization

/// Victims that were chosen together, and the result of removing their files.
package final class Eviction: Sendable {
  private let state = ForkSafeMutex(State())

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

  /// Notes that no victim is left. The engine's event wakes the waiters, not this function.
  func finish() {
    state.withLock { $0.isFinished = true }
  }

  /// The result so far, and whether it is final.
  var progress: (result: BulkRemoval, isFinished: Bool) {
    state.withLock { ($0.result, $0.isFinished) }
  }
}
