import Synchronization

/// A flag that cancels work which has not begun.
package final class CancellationFlag: Sendable {
  // Relaxed is enough, because the flag guards no other memory, and work that just misses it may
  // run.
  private let flag = Atomic<Bool>(false)

  package init() {}

  /// Whether `set()` was called, by any thread.
  package var isSet: Bool { flag.load(ordering: .relaxed) }

  /// Cancels the work. It cannot be undone.
  package func set() {
    flag.store(true, ordering: .relaxed)
  }
}
