public import LarderBasics
public import LarderSystem

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
