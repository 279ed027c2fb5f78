import LarderDigest
import LarderSystem
import Synchronization

/// Tells a reader whether the entry it read may have been changed while it read.
///
/// Every name falls on one of 1,024 counters. A change of a name moves its counter at the start and
/// at the end; a reader takes a snapshot before and compares after. That two names share a counter
/// costs a promotion now and then, and never lets a stale one pass.
package final class EntryGenerations: Sendable {
  /// A counter at rest: no change was going on.
  package struct Snapshot: Sendable {
    fileprivate let name: EntryName
    fileprivate let value: UInt64
  }

  // The low 16 bits count the changes going on, the others those that began.
  private static let ongoing: UInt64 = 1
  private static let begun: UInt64 = 1 << 16
  private static let ongoingMask: UInt64 = begun - 1

  // In a row and not an object each: a read asks for one at random, and a thousand objects would
  // seldom be at hand.
  #if LARDER_SCHEDULES
    // So few that names of a scene share one, and that not every change of all takes two thousand
    // points.
    private let counters = InlineArray<4, Atomic<UInt64>> { _ in Atomic(0) }
  #else
    private let counters = InlineArray<1024, Atomic<UInt64>> { _ in Atomic(0) }
  #endif

  /// By the low bits of the digest: who chooses names can make them share a counter, which costs
  /// those names promotions and nothing else.
  private func index(of name: EntryName) -> Int {
    Int(truncatingIfNeeded: name.digest.low) & (counters.count - 1)
  }

  /// Marks the start of a change.
  ///
  /// Called by who holds the name, before anything of it changes.
  func begin(_ name: EntryName) {
    counters[index(of: name)].wrappingAdd(
      Self.begun + Self.ongoing, ordering: .acquiringAndReleasing)
  }

  /// Marks the end of a change.
  ///
  /// Called before the name is free again, so that a reader that sees no change going on sees its
  /// outcome.
  func end(_ name: EntryName) {
    counters[index(of: name)].wrappingSubtract(Self.ongoing, ordering: .acquiringAndReleasing)
  }

  /// Marks the start of a change of every name: who read before must not promote what it read.
  func beginAll() {
    for index in counters.indices {
      counters[index].wrappingAdd(Self.begun + Self.ongoing, ordering: .acquiringAndReleasing)
    }
  }

  /// Marks the end of a change of every name.
  func endAll() {
    for index in counters.indices {
      counters[index].wrappingSubtract(Self.ongoing, ordering: .acquiringAndReleasing)
    }
  }

  /// The state before a read, nil while a change is going on.
  ///
  /// Nil also while a change of another name with the same counter is going on.
  func snapshot(of name: EntryName) -> Snapshot? {
    let value = counters[index(of: name)].load(ordering: .acquiring)
    return value & Self.ongoingMask == 0 ? Snapshot(name: name, value: value) : nil
  }

  /// Whether nothing has begun to change the name since the snapshot.
  package func isCurrent(_ snapshot: Snapshot) -> Bool {
    counters[index(of: snapshot.name)].load(ordering: .acquiring) == snapshot.value
  }
}

/// The names that threads of this process are changing, each held by one thread.
///
/// 1. A thread takes a name. If another thread holds it, the first waits and tries again.
/// 2. The watcher must not wait. If a name that it has news of is held, it leaves the news.
/// 3. The thread that holds the name gives it back. If there is news of it, the thread still holds
///    the name and follows the news first.
struct NameLocks: Sendable {
  /// The names that are held.
  // As many as threads that change something, and looked through faster than hashed.
  private(set) var held: [EntryName] = []
  /// The held names of which the watcher has left news.
  private var news: Set<EntryName> = []
}

extension NameLocks {
  /// Whether no name is held.
  var isEmpty: Bool { held.isEmpty }

  /// Takes a name; returns false if it is held.
  mutating func take(_ name: EntryName) -> Bool {
    guard !held.contains(name) else { return false }
    held.append(name)
    return true
  }

  /// Gives a name back; returns false, with the name still held, if there is news of it to follow,
  /// which the caller has taken by this.
  mutating func giveBack(_ name: EntryName) -> Bool {
    if takeNews(of: name) { return false }
    guard let index = held.firstIndex(of: name) else { return true }
    held.swapAt(index, held.count - 1)
    held.removeLast()
    return true
  }
}

// News that the watcher leaves.
extension NameLocks {
  /// Whether there is news of any name.
  var haveNews: Bool { !news.isEmpty }

  /// Whether there is news of a name.
  func haveNews(of name: EntryName) -> Bool { news.contains(name) }

  /// Takes a name, or leaves news of it to the thread that holds it.
  ///
  /// - Returns: Whether the name was taken.
  mutating func takeOrLeaveNews(of name: EntryName) -> Bool {
    if take(name) { return true }
    leaveNews(of: name)
    return false
  }

  /// Leaves news of a held name.
  mutating func leaveNews(of name: EntryName) {
    news.insert(name)
  }

  /// Takes the news of a name, which the caller follows; returns false if there is none.
  mutating func takeNews(of name: EntryName) -> Bool {
    !news.isEmpty && news.remove(name) != nil
  }
}
