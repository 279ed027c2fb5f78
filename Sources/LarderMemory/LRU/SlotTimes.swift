public import LarderBasics

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
