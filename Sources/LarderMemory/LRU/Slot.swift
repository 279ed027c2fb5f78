public import LarderBasics
public import LarderSystem

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

/// When a value that is being stored expires, and how a use moves that.
@frozen
@usableFromInline
struct SlotDeadline: Hashable, Sendable {
  /// The value is gone from this point on.
  @usableFromInline
  var expiry: PackedTime
  /// How a use moves that.
  @usableFromInline
  var lifetime: SlotLifetime

  @inlinable
  init(expiry: PackedTime, lifetime: SlotLifetime) {
    self.expiry = expiry
    self.lifetime = lifetime
  }

  /// A value that stays until it is removed or evicted.
  @inlinable
  static var never: SlotDeadline { SlotDeadline(expiry: .never, lifetime: .fixed) }

  /// The deadline of a value stored at `now`.
  @usableFromInline
  init(_ expiration: Expiration, at now: Timestamp) {
    expiry = PackedTime(expiration.expiry(at: now))
    lifetime =
      switch expiration.lifetime {
      case .seconds(let count): SlotLifetime(code: count)
      case .never, .fixed, .unknown: .fixed
      }
  }

  /// The deadline with an expiry no later than another one, which uses move only if it `slides`.
  @usableFromInline
  func capped(at ceiling: Timestamp, slides: Bool) -> SlotDeadline {
    SlotDeadline(
      expiry: min(expiry, PackedTime(ceiling)), lifetime: slides ? lifetime : .fixed)
  }
}

/// How a use moves an entry's expiry, in four bytes.
@frozen
@usableFromInline
struct SlotLifetime: Hashable, Sendable {
  /// The seconds, or the largest number for none.
  @usableFromInline
  var code: UInt32

  @inlinable
  init(code: UInt32) {
    self.code = code
  }

  /// The expiry stays where it is.
  @inlinable
  static var fixed: SlotLifetime { SlotLifetime(code: .max) }

  /// The seconds that a use gives anew, or nil when it gives none.
  @inlinable
  var seconds: UInt32? { code == .max ? nil : code }

  /// The lifetime as the disk tier has it.
  var lifetime: Lifetime { code == .max ? .fixed : .seconds(code) }
}

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

/// When an entry was last used and when it expires, kept only while a cache has to know.
@frozen
@usableFromInline
struct SlotTimes: Sendable {
  /// The entry is gone from this point on.
  @usableFromInline
  var expiry: PackedTime
  /// The last use.
  @usableFromInline
  var lastUse: PackedTime
  /// How a use moves the expiry.
  @usableFromInline
  var lifetime: SlotLifetime

  @inlinable
  init(expiry: PackedTime, lastUse: PackedTime, lifetime: SlotLifetime) {
    self.expiry = expiry
    self.lastUse = lastUse
    self.lifetime = lifetime
  }
}

extension SlotTimes {
  /// Records a use, which may move the expiry later and never earlier.
  @inlinable
  mutating func use(_ extending: ExpirationExtending, at now: PackedTime) {
    lastUse = now
    guard expiry < .never else { return }
    switch extending {
    case .off: break
    case .lifetime:
      if let seconds = lifetime.seconds { expiry = max(expiry, now.adding(seconds: seconds)) }
    case .to(let expiration): extend(to: expiration, at: now)
    }
  }

  /// Moves the expiry to one relative to the use, by the rules of the disk tier.
  @usableFromInline
  mutating func extend(to expiration: Expiration, at now: PackedTime) {
    let moved = ExpirationExtending.to(expiration).extendedExpiry(
      of: expiry.timestamp, lifetime: lifetime.lifetime, at: now.timestamp)
    if let moved { expiry = PackedTime(moved) }
  }
}
