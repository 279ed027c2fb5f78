import LarderDigest
import LarderSystem

/// A hash of names under a secret.
///
/// Whoever may write into the directory chooses the names. Were the table's places the digests'
/// own bits, a few thousand chosen names would fall into one place and every look-up would walk
/// past them all. The words of the secret meet those of the name before each multiplication, and
/// the extension has its own, for one digest may come with thousands of extensions.
struct NameHash: Sendable {
  private let secret: (UInt64, UInt64, UInt64, UInt64)

  /// A hash under a secret that is drawn once in a process.
  static let ofProcess: NameHash = {
    var generator = SystemRandomNumberGenerator()
    return NameHash(using: &generator)
  }()

  /// Draws a secret.
  init(using generator: inout some RandomNumberGenerator) {
    secret = (generator.next(), generator.next(), generator.next(), generator.next())
  }

  /// The hash of a name.
  func callAsFunction(_ digest: MD5Digest, _ extensionNumber: UInt16) -> Int {
    let inner = Self.fold(digest.high ^ secret.0, digest.low ^ secret.1)
    let outer = Self.fold(inner ^ secret.2, UInt64(extensionNumber) ^ secret.3)
    return Int(truncatingIfNeeded: outer)
  }

  /// The two halves of the product, laid over each other.
  private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }
}
