package import LarderBasics
import LarderSystem

/// What happens to the names of entries in a cache's directory, whoever does it, for somebody who
/// looks on.
///
/// It changes nothing and counts as nobody's use. What happens between two looks is gathered.
package struct DirectoryWatch: ~Copyable {
  /// One thing that happened.
  package enum News: Sendable, Hashable {
    /// The name was given to a file.
    case published(EntryName)
    /// The stamps, attributes or content of the file were changed in place. `touch` opens a file
    /// for writing too, so that the three cannot be told apart here.
    case stamped(EntryName)
    /// The name was given up.
    case removed(EntryName)
    /// More happened than the kernel kept: only a walk through the directory tells what is there.
    case lost
    /// The directory is gone, or is another one's by now.
    case ended
  }

  private let queue: EventQueue
  private let handle: DirectoryHandle
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)

  /// Begins to gather what happens in a cache's directory.
  ///
  /// - Throws: `CacheError` of code `.resourcesExhausted` when the user has no more watches.
  package init(_ cache: DiskCache) throws(CacheError) {
    try cache.checkUsable("watch")
    self.init(try Self.queue(cache), cache.engine.location.handle)
  }

  private init(_ queue: consuming EventQueue, _ handle: DirectoryHandle) {
    self.queue = queue
    self.handle = handle
  }

  private static func queue(_ cache: DiskCache) throws(CacheError) -> EventQueue {
    do throws(Errno) {
      let queue = try EventQueue(faults: nil)
      _ = try queue.watch(
        cache.engine.location.handle, path: cache.directory, for: DirectoryNews.kinds)
      return queue
    } catch {
      throw CacheError(errno: error, operation: "watch", path: cache.directory)
    }
  }

  /// Takes out what has happened since the last look, in order; nothing when nothing has.
  package mutating func news() throws(CacheError) -> [News] {
    var news: [News] = []
    do throws(Errno) {
      // Bounded by what the kernel keeps, for a directory in which something happens all the time.
      for _ in 0..<64 {
        let events = try queue.read(into: &buffer)
        if events.isEmpty { break }
        news += events.compactMap(Self.news)
      }
      // Not told by an event: a removal of the directory itself is one only once its last
      // descriptor closes, and one is ours.
      if try handle.descriptor.status().linkCount == 0 { news.append(.ended) }
    } catch {
      throw CacheError(errno: error, operation: "watch", path: nil)
    }
    return news
  }

  private static func news(_ event: DirectoryEvent) -> News? {
    if event.kind.contains(.overflow) { return .lost }
    if event.endsWatch { return .ended }
    guard let fileName = event.name, let name = EntryName(fileName) else { return nil }
    if event.removesName { return .removed(name) }
    return event.makesName ? .published(name) : .stamped(name)
  }
}

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
      if event.endsWatch { concernsDirectory = true }
      return
    }
    // Writes in progress and unnamed files tell of their stamps too, and end here.
    guard let entry = EntryName(name) else { return }
    let isGone = event.removesName
    if names.updateValue(isGone, forKey: entry) == false, isGone { passing.insert(entry) }
  }
}
