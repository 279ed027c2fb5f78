/// The SHA-256 message digest, which proves a key that is not written down itself.
///
/// Source: FIPS 180-4.
package enum SHA256 {
  /// Computes the digest of a whole message, without allocating.
  ///
  /// - Complexity: 64 operations for each 64 bytes begun, counting nine more than the message has.
  package static func digest(of message: Span<UInt8>) -> SHA256Digest {
    var state = State()
    state.takeAll(of: message)
    return state.digest
  }
}
