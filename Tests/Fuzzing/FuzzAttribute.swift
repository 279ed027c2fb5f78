@testable import Larder
@testable import LarderDisk

// The attribute: any bytes are read without a trap, and what is read is written back to mean the
// same.
func fuzz(_ bytes: [UInt8]) {
  guard case .attribute(let attribute) = EntryAttribute.read(bytes.span) else { return }
  let again = EntryAttribute.read(attribute.bytes.span)
  require(again == .attribute(attribute), "\(attribute) became \(again)")
  // Only numbers have more than one spelling: leading zeros, and what is beyond the longest.
  require(attribute.bytes.count <= bytes.count, "longer than what was read")
  let key = Array(bytes.suffix(8))
  _ = attribute.proof.admits(key.span)
}
