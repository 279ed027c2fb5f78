/// The number of an entry's place in a slab.
///
/// Zero is no entry: it marks an empty bucket of the table, and the ends of the free list and of the
/// list of uses.
@frozen
@usableFromInline
struct Slot: Hashable, Sendable {
  @usableFromInline
  var number: UInt32

  /// Names a place by its number.
  @inlinable
  init(_ number: UInt32) {
    self.number = number
  }

  /// No entry.
  @inlinable
  static var none: Slot { Slot(0) }

  /// The number as the buffers take it.
  @inlinable
  var index: Int { Int(number) }

  /// The most entries of one slab; a cache at this size evicts as if it were its count limit.
  @inlinable
  static var maximumCount: Int { Int(UInt32.max >> 1) }
}
