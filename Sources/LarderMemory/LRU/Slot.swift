public import LarderBasics
public import LarderSystem

/// The number of an entry's place in a slab.
///
/// Zero means no entry: it marks an empty bucket of the table, and the ends of the free chain and
/// of the list of uses.
@frozen
@usableFromInline
struct Slot: Hashable, Sendable, BitwiseCopyable {
  @usableFromInline
  var number: UInt32

  /// Creates a slot from its number.
  @inlinable
  init(_ number: UInt32) {
    self.number = number
  }

  /// No entry.
  @inlinable
  static var none: Slot { Slot(0) }

  /// The number as an index into the buffers.
  @inlinable
  var index: Int { Int(number) }

  /// The most entries of one slab. A full cache evicts as if this were its count limit.
  @inlinable
  static var maximumCount: Int { Int(UInt32.max >> 1) }
}

/// The expiry of a value that is being stored, and the way a use moves it.
@frozen
@usableFromInline
struct SlotDeadline: Hashable, Sendable {
  /// The time from which the value is invalid.
  @usableFromInline
  var expiry: PackedTime
  /// The seconds that a use gives the value anew, or `SlotTimes.fixed`.
  @usableFromInline
  var lifetime: UInt32

  @inlinable
  init(expiry: PackedTime, lifetime: UInt32) {
    self.expiry = expiry
    self.lifetime = lifetime
  }

  /// A value that stays until it is removed or evicted.
  @inlinable
  static var never: SlotDeadline { SlotDeadline(expiry: .never, lifetime: SlotTimes.fixed) }

  /// Creates the deadline of a value stored at `now`.
  @usableFromInline
  init(_ expiration: Expiration, at now: Timestamp) {
    expiry = PackedTime(expiration.expiry(at: now))
    lifetime =
      switch expiration.lifetime {
      case .seconds(let count): count
      case .never, .fixed, .unknown: SlotTimes.fixed
      }
  }

  /// Returns the deadline with the expiry limited to `ceiling`. Uses move it only if it `slides`.
  @usableFromInline
  func capped(at ceiling: Timestamp, slides: Bool) -> SlotDeadline {
    SlotDeadline(
      expiry: min(expiry, PackedTime(ceiling)), lifetime: slides ? lifetime : SlotTimes.fixed)
  }
}

/// An entry's neighbours in the order of use, and the tag and cost that evicting needs: 16 bytes.
///
/// ```
///  0        4        8        12       16
///  ┌────────┬────────┬────────┬────────┐
///  │previous│  next  │  tag   │  cost  │
///  └────────┴────────┴────────┴────────┘
/// ```
///
/// Links are kept apart from keys and values, so that moving an entry to the front touches no key:
/// four links share a cache line. The tag finds the entry's bucket in the table without its key.
@frozen
@usableFromInline
struct SlotLink: Sendable, BitwiseCopyable {
  /// The entry used next after this one; none for the most recent. In a free slot, the slot itself.
  @usableFromInline
  var previous: Slot
  /// The entry used last before this one; none for the least recent. In a free slot, the next one.
  @usableFromInline
  var next: Slot
  /// The half of the key's hash that the table keeps.
  @usableFromInline
  var tag: UInt32
  /// The cost of the entry; `spilledCost` if it is more than the field can hold.
  @usableFromInline
  var cost: UInt32

  @inlinable
  init(previous: Slot, next: Slot, tag: UInt32, cost: UInt32) {
    self.previous = previous
    self.next = next
    self.tag = tag
    self.cost = cost
  }

  /// The mark for a cost of 4 GiB or more, which a dictionary beside the slab holds.
  @inlinable
  static var spilledCost: UInt32 { .max }
}

/// The last use and the expiry of an entry, kept only while a cache needs them.
///
/// With all bits 0 the entry never expires and its last use is not known, so that memory from the
/// system needs no initialisation for the entries that exist when times are first kept.
@frozen
@usableFromInline
struct SlotTimes: Sendable, BitwiseCopyable {
  /// The bits in which the expiry differs from never.
  @usableFromInline
  var expiryBits: UInt64
  /// The last use; zero if not known.
  @usableFromInline
  var lastUse: PackedTime
  /// The seconds that a use gives the entry anew, or `fixed`.
  @usableFromInline
  var lifetime: UInt32

  /// The lifetime of an entry whose expiry stays where it is.
  @inlinable
  static var fixed: UInt32 { .max }

  @inlinable
  init(expiry: PackedTime, lastUse: PackedTime, lifetime: UInt32) {
    expiryBits = expiry.bits ^ PackedTime.never.bits
    self.lastUse = lastUse
    self.lifetime = lifetime
  }

  /// The time from which the entry is invalid.
  @inlinable
  var expiry: PackedTime {
    get { PackedTime(bits: expiryBits ^ PackedTime.never.bits) }
    set { expiryBits = newValue.bits ^ PackedTime.never.bits }
  }
}

extension SlotTimes {
  /// Records a use, which may move the expiry, but only to a later time.
  @inlinable @inline(__always)
  mutating func use(_ extending: ExpirationExtending, at now: PackedTime) {
    // Only what differs is written, because a written cache line has to be fetched before the lock
    // can be given back: the coarse clock stands still for 4 ms.
    if lastUse != now { lastUse = now }
    guard expiry < .never else { return }
    switch extending {
    case .off: break
    case .lifetime:
      guard lifetime != Self.fixed else { return }
      let moved = now.adding(seconds: lifetime)
      if moved > expiry { expiry = moved }
    case .to(let expiration): extend(to: expiration, at: now)
    }
  }

  /// Moves the expiry to one relative to the use, by the rules of the disk tier.
  @usableFromInline
  mutating func extend(to expiration: Expiration, at now: PackedTime) {
    let moved = ExpirationExtending.to(expiration).extendedExpiry(
      of: expiry.timestamp, lifetime: lifetime == Self.fixed ? .fixed : .seconds(lifetime),
      at: now.timestamp)
    if let moved { expiry = PackedTime(moved) }
  }
}
