/// The names that threads of this process are changing, each held by one thread.
///
/// 1. A thread takes a name. If another thread holds it, the first waits and tries again.
/// 2. A thread that brings an event must not wait. If the name is held, it marks the name, and no
///    tier keeps a value of it from here on. Then the tiers forget the value that they have.
/// 3. The thread that holds the name gives it back, once it has told the index what it did. If it
///    is marked, the thread still holds the name and follows the events first (`followLateEvents`).
struct NameLocks: Sendable {
  /// The names that are held.
  // There are only as many as changing threads, so a search is faster than hashing.
  private(set) var held: [EntryName] = []
  /// The held names that have events which their holders must follow.
  private var marked: Set<EntryName> = []

  /// The numbers of clearings and of directory replacements. Facts read before one are void.
  struct Epoch: Sendable, Equatable {
    var clearCount: Int
    let replacementCount: Int
  }

  /// Whether no name is held.
  var isEmpty: Bool { held.isEmpty }

  /// Takes a name; returns false if it is held.
  mutating func take(_ name: EntryName) -> Bool {
    guard !held.contains(name) else { return false }
    held.append(name)
    return true
  }

  /// Gives a name back. If it is marked, takes the mark away and returns false: the name is still
  /// held, and the caller follows the events first.
  mutating func giveBack(_ name: EntryName) -> Bool {
    if takeMark(of: name) { return false }
    guard let index = held.firstIndex(of: name) else { return true }
    let last = held.removeLast()
    if index < held.count { held[index] = last }
    return true
  }

  var hasMarks: Bool { !marked.isEmpty }
  func isMarked(_ name: EntryName) -> Bool { marked.contains(name) }

  /// Takes a name, or marks it for the thread that holds it.
  ///
  /// - Returns: Whether the name was taken.
  mutating func takeOrMark(_ name: EntryName) -> Bool {
    if take(name) { return true }
    mark(name)
    return false
  }

  /// Marks a held name, because it has an event.
  mutating func mark(_ name: EntryName) { marked.insert(name) }

  /// Marks all held names, because any of them may have an event that was lost.
  mutating func markHeld() { marked.formUnion(held) }

  /// Takes the mark of a name away, and the caller follows the events; false if there is none.
  mutating func takeMark(of name: EntryName) -> Bool {
    !marked.isEmpty && marked.remove(name) != nil
  }
}
