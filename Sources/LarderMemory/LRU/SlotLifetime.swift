import LarderBasics

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
