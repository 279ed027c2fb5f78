import Synchronization

/// Tells a reader whether the entry it read may have been changed while it read.
///
/// Every name falls on one of 1,024 counters. A change of a name moves its counter at the start and
/// at the end; a reader takes a snapshot before and compares after. That two names share a counter
/// costs a promotion now and then, and never lets a stale one pass.
final class EntryGenerations: Sendable {
  /// A counter at rest: no change was going on.
  struct Snapshot: Sendable {
    fileprivate let name: EntryName
    fileprivate let value: UInt64
  }

  // The low 16 bits count the changes going on, the others those that began.
  private static let ongoing: UInt64 = 1
  private static let begun: UInt64 = 1 << 16
  private static let ongoingMask: UInt64 = begun - 1

  private let counters: [Counter]

  // An object each, since an atomic cannot lie in an array: 1,024 small allocations per engine.
  private final class Counter: Sendable {
    let value = Atomic<UInt64>(0)
  }

  init() {
    counters = (0..<1024).map { _ in Counter() }
  }

  /// By the low bits of the digest: who chooses names can make them share a counter, which costs
  /// those names promotions and nothing else.
  private func counter(of name: EntryName) -> Counter {
    counters[Int(truncatingIfNeeded: name.digest.low & 1023)]
  }

  /// Marks the start of a change.
  ///
  /// Called by who holds the name, before anything of it changes.
  func begin(_ name: EntryName) {
    counter(of: name).value.wrappingAdd(Self.begun + Self.ongoing, ordering: .acquiringAndReleasing)
  }

  /// Marks the end of a change.
  ///
  /// Called before the name is free again, so that a reader that sees no change going on sees its
  /// outcome.
  func end(_ name: EntryName) {
    counter(of: name).value.wrappingSubtract(Self.ongoing, ordering: .acquiringAndReleasing)
  }

  /// Marks a change of every name, over at once.
  ///
  /// Who read before must not promote what it read.
  func changeAll() {
    for counter in counters {
      counter.value.wrappingAdd(Self.begun, ordering: .acquiringAndReleasing)
    }
  }

  /// The state before a read, nil while a change is going on.
  ///
  /// Nil also while a change of another name with the same counter is going on.
  func snapshot(of name: EntryName) -> Snapshot? {
    let value = counter(of: name).value.load(ordering: .acquiring)
    return value & Self.ongoingMask == 0 ? Snapshot(name: name, value: value) : nil
  }

  /// Whether nothing has begun to change the name since the snapshot.
  func isCurrent(_ snapshot: Snapshot) -> Bool {
    counter(of: snapshot.name).value.load(ordering: .acquiring) == snapshot.value
  }
}
