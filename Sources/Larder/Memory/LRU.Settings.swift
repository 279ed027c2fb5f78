extension LRU {
  /// Limits as plain numbers, so that a store compares and does not unwrap, and the counters.
  @usableFromInline
  struct Settings: Sendable {
    @usableFromInline
    var costLimit = Int.max
    @usableFromInline
    var costTarget = Int.max
    @usableFromInline
    var countLimit = Slot.maximumCount
    @usableFromInline
    var countTarget = Slot.maximumCount
    @usableFromInline
    var ageLimit: PackedSpan?
    /// Whether uses are recorded with their times, so that `now` must be passed truly.
    @usableFromInline
    var keepsTimes = false
    @usableFromInline
    var statistics = MemoryStatistics()

    /// No limits, no times, nothing counted.
    @inlinable
    init() {}
  }
}
