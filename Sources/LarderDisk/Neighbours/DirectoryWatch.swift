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
    let ends: DirectoryEvent.Kind = [.removedSelf, .movedSelf, .unmounted, .ended]
    if !event.kind.isDisjoint(with: ends) { return .ended }
    guard let fileName = event.name, let name = EntryName(fileName) else { return nil }
    if !event.kind.isDisjoint(with: [.removed, .movedFrom]) { return .removed(name) }
    return event.kind.isDisjoint(with: [.created, .movedTo]) ? .stamped(name) : .published(name)
  }
}
