import Testing

@testable import LarderTool

struct SHA256Tests {
  /// The examples of NIST for FIPS 180-4.
  static let published = [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
        + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ]

  @Test(arguments: published)
  func `the vectors of FIPS 180-4 hold`(message: String, digest: String) {
    #expect(Self.text(of: Array(message.utf8)) == digest)
  }

  @Test
  func `one million times a has the published digest`() {
    let message = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
    let digest = Self.text(of: message)
    #expect(digest == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  // Every length at which the padding takes another path, checked by one digest that Python's
  // hashlib computed.
  @Test
  func `every length up to 300 has the digest that others compute`() {
    var digests: [UInt8] = []
    for count in 0...300 {
      let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + count) }
      digests += Self.text(of: message).utf8
    }
    let fold = Self.text(of: digests)
    #expect(fold == "94bc81110d562891b0adac6bac4837f28ae9118c192446b6ac4414fdf4c6e629")
  }

  private static func text(of message: [UInt8]) -> String {
    SHA256.digest(of: message).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
