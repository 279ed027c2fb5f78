/// The history of the directory that an engine holds.
///
/// 1. `replace`: another directory was found at the path and is held from now on.
/// 2. `noteLock`: its lock was taken. Until then every call of the engine tries to take it.
struct HeldDirectory: Sendable {
  /// The number of times that another directory was found at the path.
  private(set) var replacementCount = 0
  /// Whether the lock of the directory that was found last has not been taken yet.
  private(set) var mustLock = false
}

extension HeldDirectory {
  /// Notes that another directory was found at the path and is held from now on.
  mutating func replace() {
    replacementCount += 1
    mustLock = true
  }

  /// Notes that the directory's lock was taken.
  mutating func noteLock() { mustLock = false }
}
