@testable import Larder
@testable import LarderDisk

// The attribute. Any bytes are parsed without a trap, and a parsed attribute is written with the
// same meaning.
func fuzz(_ bytes: [UInt8]) {
  guard case .attribute(let attribute) = EntryAttribute.read(bytes.span) else { return }
  let again = EntryAttribute.read(attribute.bytes.span)
  require(again == .attribute(attribute), "\(attribute) became \(again)")
  // Only numbers have several spellings: leading zeros, smaller units, and values beyond the
  // largest, which is ten digits where `49711d` is six.
  require(attribute.bytes.count <= bytes.count + 4, "longer than what was read")
  let key = Array(bytes.suffix(8))
  _ = attribute.proof.admits(key.span)
  _ = attribute.proof.hintForDisplay
  let fitted = attribute.fitted
  require(EntryAttribute.read(fitted.bytes.span) == .attribute(fitted), "\(fitted) is not read")
  // A key, recorded in every way, is admitted.
  for form in [KeyProof.Form.key, .keyWithin(64), .keyWithin(0), .digest] {
    let stored = EntryAttribute.bytes(1, attribute.lifetime, key: bytes.span, as: form)
    guard case .attribute(let read) = EntryAttribute.read(stored.span) else {
      fatalError("not read as it was written")
    }
    require(read.proof.admits(bytes.span), "another key's")
    require(form == .key || stored.count <= 64, "longer than 64 bytes")
  }
}
