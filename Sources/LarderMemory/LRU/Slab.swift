public import LarderBasics

/// Entries in numbered slots, found by key and kept in the order of their use.
///
/// There is one allocation per column and none per entry. A list links the slots in use, most
/// recent first; a chain links the free ones. `LRU` decides which entries to remove.
///
/// - Complexity: O(1) for each operation. Once per doubling the columns grow, which copies small
///   ones and moves the pages of large ones: 10 µs for each 16 MiB. It copies all entries if their
///   type has a weak reference. See `SlotBuffer.reallocate(capacity:keeping:where:)`.
@usableFromInline
struct Slab<Key: Hashable, Value>: ~Copyable {
  /// The most recently used entry, or none.
  @usableFromInline
  var mostRecent = Slot.none
  /// The least recently used entry, or none.
  @usableFromInline
  var leastRecent = Slot.none
  // The table follows, its buckets first, so that what a hit needs is side by side.
  /// The links between slots in the order of use.
  @usableFromInline
  var links: SlotBuffer<SlotLink>
  /// Keys and values; slot 0 holds none.
  @usableFromInline
  var entries: SlotBuffer<Entry>
  /// The map from keys to slots.
  @usableFromInline
  var table: SlotTable
  /// The times, at least as many as `links` if `hasTimes`, else none.
  @usableFromInline
  var times: SlotBuffer<SlotTimes>
  /// Whether times are kept.
  @usableFromInline
  var hasTimes = false
  /// The last use of the entries that were not used since times are kept.
  @usableFromInline
  var timesStart = PackedTime.zero
  /// The first slot that was never used.
  @usableFromInline
  var end: UInt32 = 1
  /// The first slot of the free chain.
  @usableFromInline
  var free = Slot.none
  /// The first slot that the free chain does not have if it is free. All free ones are in the chain
  /// unless the slab is being compacted.
  @usableFromInline
  var chainEnd = UInt32.max
  /// The number of entries.
  @usableFromInline
  var count = 0
  /// The sum of the entries' costs.
  @usableFromInline
  var totalCost = 0
  /// The costs of 4 GiB and more.
  @usableFromInline
  var spilledCosts: [Slot: Int] = [:]

  /// Creates an empty slab; it grows as it needs.
  @inlinable
  init() {
    links = SlotBuffer(capacity: 1)
    entries = SlotBuffer(capacity: 1)
    table = SlotTable(bits: SlotTable.bits(forCount: 0))
    times = SlotBuffer(capacity: 0)
  }

  @inlinable
  deinit {
    var slot = mostRecent
    while slot != .none {
      _ = entries.move(at: slot.index)
      slot = links[slot.index].next
    }
  }
}

extension Slab {
  /// A key and its value, side by side because a hit reads both.
  @usableFromInline
  typealias Entry = (key: Key, value: Value)

  /// Whether a slot below `end` has an entry.
  @inlinable
  func isOccupied(_ slot: Slot) -> Bool { links[slot.index].previous != slot }

  /// Returns the entry used last before this one, or none.
  @inlinable
  func next(after slot: Slot) -> Slot { links[slot.index].next }

  /// Returns the entry used next after this one, or none.
  @inlinable
  func previous(before slot: Slot) -> Slot { links[slot.index].previous }

  /// Makes an entry the most recently used.
  @inlinable @inline(__always)
  mutating func moveToFront(_ slot: Slot) {
    // Repeated reads of one key find it at the front already.
    guard mostRecent != slot else { return }
    unlink(slot)
    linkAtFront(slot)
  }

  /// Takes an entry out of the list.
  @inlinable @inline(__always)
  mutating func unlink(_ slot: Slot) {
    let (previous, next) = (links[slot.index].previous, links[slot.index].next)
    if previous == .none { mostRecent = next } else { links[previous.index].next = next }
    if next == .none { leastRecent = previous } else { links[next.index].previous = previous }
  }

  /// Puts an entry that is not in the list at its front.
  @inlinable @inline(__always)
  mutating func linkAtFront(_ slot: Slot) {
    let first = mostRecent
    links[slot.index].previous = .none
    links[slot.index].next = first
    if first == .none { leastRecent = slot } else { links[first.index].previous = slot }
    mostRecent = slot
  }
}
