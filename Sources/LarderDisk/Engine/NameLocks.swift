/// The names that threads of this process are changing, each held by one thread.
///
/// 1. A thread takes a name. If another thread holds it, the first waits and tries again.
/// 2. The watcher must not wait. If a name that it has news of is held, it leaves the news.
/// 3. The thread that holds the name gives it back. If there is news of it, the thread still holds
///    the name and follows the news first.
struct NameLocks: Sendable {
  /// The names that are held.
  // There are only as many as changing threads, so a search is faster than hashing.
  private(set) var held: [EntryName] = []
  /// The held names that the watcher has left news of.
  private var news: Set<EntryName> = []
}

extension NameLocks {
  /// The state of the directory and of the engine when a thread took a name.
  struct Turn: Sendable {
    let epoch: Epoch
    /// Whether the last object is being closed, so that no new change may begin. The end waits for
    /// names that are held.
    let isEnding: Bool
  }

  /// The numbers of clearings and of directory replacements. If one differs later, the facts read
  /// before are void.
  struct Epoch: Sendable, Equatable {
    /// The number of removals of everything.
    let clearCount: Int
    /// The number of replacements of the directory.
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

  /// Gives a name back. If there is news of it, takes the news and returns false: the name is still
  /// held, and the caller follows the news first.
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
