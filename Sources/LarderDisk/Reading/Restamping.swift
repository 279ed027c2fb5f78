import LarderBasics
import LarderDigest
import LarderSystem

/// Decides what a file that is stamped anew gets, from what it says of itself.
struct Restamping: Sendable {
  /// What the caller asks for.
  var given: Expiration?
  /// What holds where neither the caller nor the file says anything.
  var otherwise: Expiration

  /// The lifetime to record and the expiry to set.
  func term(
    recorded: Lifetime, expiry: Timestamp, now: Timestamp
  ) -> (lifetime: Lifetime, expiry: Timestamp) {
    // A date that the program gave stays its word until it is past; then the file has none that
    // could start anew.
    if recorded == .fixed, given == nil, expiry > now { return (.fixed, expiry) }
    let expiration = given ?? Self.expiration(of: recorded) ?? otherwise
    return (expiration.lifetime, expiration.expiry(at: now))
  }

  /// The expiration that gave a lifetime; nil where the file says none that could start anew.
  private static func expiration(of lifetime: Lifetime) -> Expiration? {
    switch lifetime {
    case .seconds(let count): .seconds(Int(count))
    case .never: .never
    case .fixed, .unknown: nil
    }
  }

  /// The proof to record: the one that is there, unless it names a key that has another name.
  static func proof(_ recorded: KeyProof?, of name: EntryName) -> KeyProof {
    if case .key(let key)? = recorded, MD5.digest(of: key.span) != name.digest { return .none }
    return recorded ?? .none
  }
}
