import Larder

/// What happened to which names between two looks, and what is there now.
struct WatchSightings: Sendable {
  /// The names, in the order in which something first happened to them.
  private(set) var order: [EntryName] = []
  /// Those that were given to a file, not only stamped.
  private(set) var published: Set<EntryName> = []
  /// What each name stands for now; none for nothing.
  var found: [EntryName: DiskEntry] = [:]

  /// Takes note of one piece of news.
  mutating func add(_ news: DirectoryWatch.News) {
    switch news {
    case .published(let name):
      note(name)
      published.insert(name)
    case .stamped(let name), .removed(let name): note(name)
    case .lost, .ended: break
    }
  }

  private mutating func note(_ name: EntryName) {
    if seen.insert(name).inserted { order.append(name) }
  }

  private var seen: Set<EntryName> = []
}
