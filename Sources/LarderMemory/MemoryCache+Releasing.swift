extension MemoryCache {
  /// The most values that the thread whose call removed them releases itself.
  ///
  /// Releasing a value of one allocation takes 20 to 50 ns, so that a caller waits for 50 µs at the
  /// most; handing them on takes a few.
  @inlinable
  static var releaseLimit: Int { 1_000 }

  /// Lets another thread release what left.
  @usableFromInline
  func release(_ removals: inout Removals<Key, Value>) {
    // Taken out of the caller's variable, so that the last reference is the other thread's.
    Retired(removals.takeAll()) { $0 = Removals() }.releaseElsewhere()
  }
}
