extension LRU {
  /// Limits as plain numbers, so that a store compares and does not unwrap, and the counters.
  ///
  /// `Int.max` stands for no limit of cost, and the most slots for no limit of count.
  @usableFromInline
  struct Settings: Sendable {
    /// The most that all entries may cost together.
    @usableFromInline
    var costLimit = Int.max
    /// What a trim goes down to when they cost more.
    @usableFromInline
    var costTarget = Int.max
    /// The most entries.
    @usableFromInline
    var countLimit = Slot.maximumCount
    /// What a trim goes down to when there are more.
    @usableFromInline
    var countTarget = Slot.maximumCount
    /// How long an entry stays without a use.
    @usableFromInline
    var ageLimit: PackedSpan?
    /// Whether uses are recorded with their times, so that `now` must be passed truly.
    @usableFromInline
    var keepsTimes = false
    /// What lowers the cost limit while memory is short.
    @usableFromInline
    var costCeiling = Int.max
    /// What lowers the count limit while memory is short.
    @usableFromInline
    var countCeiling = Int.max
    /// What was counted, but for the commonest reads since the last time all entries were removed.
    @usableFromInline
    var counters = MemoryCounters()

    /// No limits, no times, nothing counted.
    @inlinable
    init() {}
  }
}
