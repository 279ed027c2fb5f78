import LarderSystem

/// What some events of a directory ask for, with each name once.
///
/// A pure value: events say that something happened to a name, in order, and neither what the name
/// stands for now nor who did it. What counts is the last of a name.
struct DirectoryNews: Sendable, Equatable {
  /// The entries that something happened to, and whether the last was that the name became free.
  private(set) var names: [EntryName: Bool] = [:]
  /// The entries that something else happened to before they became free.
  private(set) var passing: Set<EntryName> = []
  /// Whether events were lost, so that anything may have happened to any name.
  private(set) var isIncomplete = false
  /// Whether the directory itself was moved, removed or unmounted.
  private(set) var concernsDirectory = false

  /// What the kernel is asked to tell.
  ///
  /// Stores here and by neighbours end with a new name or a rename, stamps change attributes, and
  /// who writes into a file by hand closes it; telling of each write as well would cost every store
  /// an event more. The order of the bits has no meaning.
  static let kinds: DirectoryEvent.Kind = [
    .created, .movedTo, .movedFrom, .removed, .attributes, .closedAfterWriting, .removedSelf,
    .movedSelf,
  ]

  /// Whether nothing happened that concerns the cache.
  var isEmpty: Bool { self == DirectoryNews() }

  /// Adds the next event.
  ///
  /// - Parameter watch: The watch on the directory that is held; events of one before it tell of
  ///   another directory.
  mutating func add(_ event: DirectoryEvent, watch: Int32) {
    if event.kind.contains(.overflow) { isIncomplete = true }
    guard event.watch == watch else { return }
    guard let name = event.name else {
      let kinds: DirectoryEvent.Kind = [.removedSelf, .movedSelf, .unmounted, .ended]
      if !event.kind.isDisjoint(with: kinds) { concernsDirectory = true }
      return
    }
    // Writes in progress and unnamed files tell of their stamps too, and end here.
    guard let entry = EntryName(name) else { return }
    let isGone = !event.kind.isDisjoint(with: [.removed, .movedFrom])
    if names.updateValue(isGone, forKey: entry) == false, isGone { passing.insert(entry) }
  }
}
