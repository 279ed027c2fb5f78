import Synchronization

/// Whether work that has not begun is still wanted.
package final class CancellationFlag: Sendable {
  // Relaxed is enough: the flag guards no other memory, and work that just missed it is allowed to
  // run.
  private let flag = Atomic<Bool>(false)

  package init() {}

  /// Whether `set()` was called, by any thread.
  package var isSet: Bool { flag.load(ordering: .relaxed) }

  /// Says that the work is no longer wanted. It cannot be taken back.
  package func set() {
    flag.store(true, ordering: .relaxed)
  }
}
