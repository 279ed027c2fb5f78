package import LarderBasics
import LarderSystem

/// A watch on a cache's directory that reports what this and other processes do to the names of
/// entries.
///
/// It changes nothing and counts as no use. Events gather between two calls of `news()`.
package struct DirectoryWatch: ~Copyable {
  /// One event.
  package enum News: Sendable, Hashable {
    /// The name was given to a file.
    case published(EntryName)
    /// The stamps, attributes or content of the file were changed in place. `touch` opens a file
    /// for writing too, so that the three cannot be told apart here.
    case stamped(EntryName)
    /// The file of the name was removed or moved away.
    case removed(EntryName)
    /// Events were lost, because the kernel's queue was full. Only a walk through the directory
    /// shows what is there.
    case lost
    /// The watch has ended: the directory was moved, removed or unmounted.
    case ended
  }

  private let queue: EventQueue
  private let handle: DirectoryHandle
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)

  /// Starts to watch a cache's directory.
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

  /// Takes out the events since the last call, in order.
  package mutating func news() throws(CacheError) -> [News] {
    var news: [News] = []
    do throws(Errno) {
      // Bounded, because a busy directory would never let the queue run empty. 64 reads take more
      // events than the kernel keeps by default.
      for _ in 0..<64 {
        let events = try queue.read(into: &buffer)
        if events.isEmpty { break }
        news += events.compactMap(Self.news)
      }
      // The removal of the directory itself brings no event before its last descriptor closes, and
      // this process holds one.
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

/// The names that some events of a directory concern, each name once.
///
/// A pure value. Events say in order that something happened to a name. They say neither what the
/// name stands for now nor which process did it. Only the last event of a name counts.
struct DirectoryNews: Sendable, Equatable {
  /// The names with events, and whether the last event freed the name.
  private(set) var names: [EntryName: Bool] = [:]
  /// The names that had another event before the one that freed them.
  private(set) var passing: Set<EntryName> = []
  /// Whether events were lost. Any name may have changed then.
  private(set) var isIncomplete = false
  /// Whether the directory itself was moved, removed or unmounted.
  private(set) var concernsDirectory = false

  /// The kinds of events that are asked of the kernel.
  ///
  /// A store, here or by a neighbour, ends with a new name or a rename. A stamp changes attributes.
  /// A person's write ends with the close of the file; events of each write as well would cost
  /// every store one more event. The order of the bits has no meaning.
  static let kinds: DirectoryEvent.Kind = [
    .created, .movedTo, .movedFrom, .removed, .attributes, .closedAfterWriting, .removedSelf,
    .movedSelf,
  ]

  /// Whether no event concerns the cache.
  var isEmpty: Bool { self == DirectoryNews() }

  /// Adds the next event.
  ///
  /// - Parameter watch: The watch on the directory that is held. Events of an earlier watch concern
  ///   another directory.
  mutating func add(_ event: DirectoryEvent, watch: Int32) {
    if event.kind.contains(.overflow) { isIncomplete = true }
    guard event.watch == watch else { return }
    guard let name = event.name else {
      if event.endsWatch { concernsDirectory = true }
      return
    }
    // Temporaries and unnamed files bring events of their stamps too, which are dropped here.
    guard let entry = EntryName(name) else { return }
    let isGone = event.removesName
    if names.updateValue(isGone, forKey: entry) == false, isGone { passing.insert(entry) }
  }
}
