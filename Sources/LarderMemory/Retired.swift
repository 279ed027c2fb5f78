import LarderBasics
import LarderSystem
import Synchronization

/// Something to be released, by another thread than the one that is done with it if it is much.
final class Retired<Content: ~Copyable>: Sendable {
  private let content: Mutex<Content>
  private let empty: @Sendable (inout sending Content) -> Void

  /// - Parameter empty: Takes everything out of the content and releases it.
  init(
    _ content: consuming sending Content,
    emptiedBy empty: @escaping @Sendable (inout sending Content) -> Void
  ) {
    self.content = Mutex(content)
    self.empty = empty
  }

  /// Looks at the content, under a lock that nobody waits for before it is handed on.
  func look<Result: Sendable>(_ body: (borrowing Content) -> Result) -> Result {
    content.withLock { body($0) }
  }

  /// Releases the content on a thread for upkeep, as soon as one is free.
  func releaseElsewhere() {
    // By emptying it and not with this object, whose last reference may be the caller's.
    IOExecutor.upkeep.submit { self.content.withLock { self.empty(&$0) } }
  }
}
