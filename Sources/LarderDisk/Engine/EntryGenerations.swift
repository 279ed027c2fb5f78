import LarderSystem
import Synchronization

/// Counters that tell a reader whether an entry may have changed while it was read.
///
/// Every name maps to one of 1,024 counters. A change of a name moves its counter at the start and
/// at the end. A reader takes a snapshot before the read and compares after it. Two names that
/// share a counter cost a promotion to memory now and then, but a stale value is never promoted.
package final class EntryGenerations: Sendable {
  /// The value of a name's counter at a moment when no change was going on.
  package struct Snapshot: Sendable {
    fileprivate let name: EntryName
    fileprivate let value: UInt64
  }

  // The low 16 bits count the changes going on, the upper 48 bits those that have begun.
  private static let ongoing: UInt64 = 1
  private static let begun: UInt64 = 1 << 16

  // One array and not an object each, because reads access the counters at random, and a thousand
  // objects would seldom be in the processor's caches. The last counter is no name's.
  #if LARDER_SCHEDULES
    // Few counters, so that names of a scene share one and a change of all names is few points.
    private let counters = InlineArray<5, Atomic<UInt64>> { _ in Atomic(0) }
  #else
    private let counters = InlineArray<1025, Atomic<UInt64>> { _ in Atomic(0) }
  #endif

  /// Returns the index of a name's counter: the low bits of the digest. Names that are chosen to
  /// share a counter lose promotions and nothing else.
  private func index(of name: EntryName) -> Int {
    Int(truncatingIfNeeded: name.shortHash) & (counters.count - 2)
  }

  /// Marks the start of a change.
  ///
  /// Called by the thread that holds the name, before it changes anything.
  func begin(_ name: EntryName) {
    counters[index(of: name)].wrappingAdd(
      Self.begun + Self.ongoing, ordering: .acquiringAndReleasing)
  }

  /// Marks the end of a change.
  ///
  /// Called before the name is free again: a reader that sees no change going on sees its outcome.
  func end(_ name: EntryName) {
    counters[index(of: name)].wrappingSubtract(Self.ongoing, ordering: .acquiringAndReleasing)
  }

  /// Makes the snapshots of readers of a name invalid, so that they neither keep the value that
  /// they read, nor put the state of the file that they saw into the index. Called under the
  /// engine's lock for a file in another state than known.
  func outdateReaders(of name: EntryName) {
    counters[index(of: name)].wrappingAdd(Self.begun, ordering: .acquiringAndReleasing)
  }

  /// Makes a change of every name. A value that was read before must not be promoted.
  func changingAll<Result>(_ change: () -> Result) -> Result {
    addToAll(Self.begun + Self.ongoing)
    defer { addToAll(0 &- Self.ongoing) }
    return change()
  }

  private func addToAll(_ number: UInt64) {
    for index in counters.indices {
      counters[index].wrappingAdd(number, ordering: .acquiringAndReleasing)
    }
  }

  /// Returns the state before a read; nil during a change of a name with the same counter.
  func snapshot(of name: EntryName) -> Snapshot? {
    let value = counters[index(of: name)].load(ordering: .acquiring)
    return value & (Self.begun - 1) == 0 ? Snapshot(name: name, value: value) : nil
  }

  /// Whether a change of every name is going on.
  var areAllChanging: Bool {
    counters[counters.count - 1].load(ordering: .acquiring) & (Self.begun - 1) != 0
  }

  /// Whether no change of the name has begun since the snapshot. False for nil: one was going on.
  package func isCurrent(_ snapshot: Snapshot?) -> Bool {
    guard let snapshot else { return false }
    return counters[index(of: snapshot.name)].load(ordering: .acquiring) == snapshot.value
  }
}
