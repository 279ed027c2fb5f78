import Larder
import LarderBasics
import LarderDisk
import LarderSystem

/// A watch on a cache's directory that reports what this and other processes do to the names of
/// entries.
///
/// It changes nothing and counts as no use. Events gather between two calls of `events()`.
struct DirectoryTail {
  /// One event.
  enum Event: Sendable, Hashable {
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
    /// The watch has ended: the directory was moved, removed or unmounted. Nothing follows it.
    case ended
  }

  /// What it does not see on the directory's file system; nil if it sees all.
  var blindness: String? {
    handle.fileSystem.isNetwork
      ? "what other machines do on this network file system is not seen here" : nil
  }

  private let queue: EventQueue
  private let handle: DirectoryHandle
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)
  private var hasEnded = false

  /// Starts to watch a cache's directory.
  ///
  /// - Throws: `CacheError` of code `.resourcesExhausted` when the user has no more watches.
  init(_ cache: DiskCache) throws(CacheError) {
    try cache.checkUsable("watch")
    handle = cache.engine.location.handle
    do throws(Errno) {
      queue = try EventQueue(faults: nil)
      _ = try queue.watch(handle, path: cache.directory, for: EventBatch.kinds.union(.accessed))
    } catch {
      throw CacheError(errno: error, operation: "watch", path: cache.directory)
    }
  }

  /// Takes out the events since the last call, in order.
  mutating func events() throws(CacheError) -> [Event] {
    var events: [Event] = []
    if hasEnded { return events }
    do throws(Errno) {
      try queue.readAll(into: &buffer) { events += $0.compactMap(Self.event) }
      // The removal of the directory itself brings no event before its last descriptor closes, and
      // this process holds one.
      if try handle.descriptor.status().linkCount == 0 { events.append(.ended) }
    } catch {
      throw CacheError(errno: error, operation: "watch", path: nil)
    }
    if let end = events.firstIndex(of: .ended) {
      hasEnded = true
      events.removeSubrange((end + 1)...)
    }
    return events
  }

  private static func event(_ event: DirectoryEvent) -> Event? {
    if event.kind.contains(.overflow) { return .lost }
    if event.endsWatch { return .ended }
    guard let fileName = event.name, let name = EntryName(fileName) else { return nil }
    if event.removesName { return .removed(name) }
    return event.makesName ? .published(name) : .stamped(name)
  }
}
