/// The history of the directory that an engine holds.
///
/// 1. `replace`: another directory was found at the path and is held from now on.
/// 2. `noteLock`: its lock was taken. Until then every call of the engine tries to take it.
struct HeldDirectory: Sendable {
  /// The number of times that another directory was found at the path.
  private(set) var replacementCount = 0
  /// Whether the lock of the directory that was found last has not been taken yet.
  private(set) var mustLock = false
  /// The number of threads that are taking that lock.
  private var lockingCount = 0
}

extension HeldDirectory {
  /// Notes that another directory was found at the path and is held from now on.
  mutating func replace() {
    replacementCount += 1
    mustLock = true
  }

  /// Whether a thread is taking the directory's lock.
  var isLocking: Bool { lockingCount > 0 }

  /// Notes that a thread begins to take the directory's lock.
  mutating func beginLocking() { lockingCount += 1 }

  /// Notes that a thread has taken the lock, or has failed to.
  mutating func endLocking() { lockingCount -= 1 }

  /// Notes that the directory's lock was taken.
  mutating func noteLock() { mustLock = false }
}
