/// The outcome of a store.
public enum StoreOutcome: Sendable, Hashable {
  /// The value is in the cache.
  case stored
  /// The value is accepted and is being written in the background.
  case pending
  /// The value is not in the cache. Nor is an older one, except after a `storeIfAbsent`.
  case rejected(Reason)

  /// The reason why a value was not stored. More may be added: give a `switch` over them a
  /// `default`.
  @nonexhaustive
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// It had expired before it was stored.
    case expired
    /// It costs more than the whole cache may hold.
    case tooLarge
    /// A value was there, and the store was not to replace it.
    case alreadyPresent
    /// `shouldStore` declined it, or a newer store of the key came first.
    case declined
  }
}

extension StoreOutcome: CustomStringConvertible {
  /// `stored`, `pending`, or `rejected: ` and the reason.
  public var description: String {
    switch self {
    case .stored: "stored"
    case .pending: "pending"
    case .rejected(let reason): "rejected: \(reason)"
    }
  }
}

extension StoreOutcome.Reason: CustomStringConvertible {
  /// The reason in words.
  public var description: String {
    switch self {
    case .expired: "expired already"
    case .tooLarge: "too large"
    case .alreadyPresent: "a value was there"
    case .declined: "declined by shouldStore, or a newer store came first"
    }
  }
}

extension StoreOutcome {
  /// Whether the value was accepted.
  @inlinable
  public var isKept: Bool { if case .rejected = self { false } else { true } }
}
