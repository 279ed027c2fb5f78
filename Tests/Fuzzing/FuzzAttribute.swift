@testable import Larder
@testable import LarderDisk

// The attribute. Any bytes are parsed without a trap, and a parsed attribute is written with the
// same meaning.
func fuzz(_ bytes: [UInt8]) {
  guard case .attribute(let attribute) = EntryAttribute.read(bytes.span) else { return }
  let again = EntryAttribute.read(attribute.bytes.span)
  require(again == .attribute(attribute), "\(attribute) became \(again)")
  // Only numbers have several spellings: leading zeros, and values beyond the largest.
  require(attribute.bytes.count <= bytes.count, "longer than what was read")
  let key = Array(bytes.suffix(8))
  _ = attribute.proof.admits(key.span)
}
