import Larder

/// The names that changed between two looks, and their entries now.
struct WatchSightings: Sendable {
  /// The names, in the order of their first changes.
  private(set) var order: [EntryName] = []
  /// The names that got another file, not only new stamps.
  private(set) var published: Set<EntryName> = []
  /// The number of files that stood under a name for a while only, between two looks.
  private(set) var unseenStoreCount = 0
  /// The entry of each name now; no element if there is none.
  var found: [EntryName: DiskEntry] = [:]

  /// Adds one event.
  mutating func add(_ event: DirectoryTail.Event) {
    switch event {
    case .published(let name):
      note(name)
      if !published.insert(name).inserted { unseenStoreCount += 1 }
    case .stamped(let name), .removed(let name): note(name)
    case .lost, .ended: break
    }
  }

  private mutating func note(_ name: EntryName) {
    if seen.insert(name).inserted { order.append(name) }
  }

  private var seen: Set<EntryName> = []
}
