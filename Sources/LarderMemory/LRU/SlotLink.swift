/// An entry's neighbours in the order of use, with what evicting it has to know, in 16 bytes.
///
/// ```
///  0        4        8        12       16
///  ┌────────┬────────┬────────┬────────┐
///  │previous│  next  │  tag   │  cost  │
///  └────────┴────────┴────────┴────────┘
/// ```
///
/// They lie apart from keys and values, so that moving an entry to the front touches no key: four
/// neighbours share a cache line. The tag finds the entry's bucket again without its key.
@frozen
@usableFromInline
struct SlotLink: Sendable {
  /// The entry used next after this one; none for the most recently used.
  @usableFromInline
  var previous: Slot
  /// The entry used last before this one; none for the least recently used. The next free slot,
  /// while the slot is free.
  @usableFromInline
  var next: Slot
  /// The half of the key's hash that the table keeps.
  @usableFromInline
  var tag: UInt32
  /// What the entry costs; `spilledCost` when that is more than the field can hold.
  @usableFromInline
  var cost: UInt32

  @inlinable
  init(previous: Slot, next: Slot, tag: UInt32, cost: UInt32) {
    self.previous = previous
    self.next = next
    self.tag = tag
    self.cost = cost
  }

  /// Marks a cost that a dictionary beside the slab holds, since it is 4 GiB or more.
  @inlinable
  static var spilledCost: UInt32 { .max }
}
