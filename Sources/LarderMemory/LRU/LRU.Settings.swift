extension LRU {
  /// Limits as plain numbers, which a store compares without unwrapping, and the counters.
  ///
  /// `Int.max` means no cost limit, and the maximum number of slots no count limit.
  @usableFromInline
  struct Settings: Sendable {
    /// The highest cost of all entries together.
    @usableFromInline
    var costLimit = Int.max
    /// The cost that a trim goes down to.
    @usableFromInline
    var costTarget = Int.max
    /// The most entries.
    @usableFromInline
    var countLimit = Slot.maximumCount
    /// The count that a trim goes down to.
    @usableFromInline
    var countTarget = Slot.maximumCount
    /// The longest time that an entry stays without a use.
    @usableFromInline
    var ageLimit: PackedSpan?
    /// Whether times of use are recorded. If so, `now` must be the true time in each call.
    @usableFromInline
    var keepsTimes = false
    /// A lower cost limit while memory is short.
    @usableFromInline
    var costCeiling = Int.max
    /// A lower count limit while memory is short.
    @usableFromInline
    var countCeiling = Int.max
    /// All counters, except for the commonest reads since all entries were last removed.
    @usableFromInline
    var counters = MemoryCounters()

    /// Creates settings without limits and times, with counters at zero.
    @inlinable
    init() {}
  }
}
