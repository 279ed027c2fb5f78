import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

struct `The attribute` {
  private static let hash = "0123456789abcdef"
  private static let digest = "00112233445566778899aabbccddeeff"

  private func read(_ text: String) -> EntryAttribute.Reading { read(Array(text.utf8)) }

  private func read(_ bytes: [UInt8]) -> EntryAttribute.Reading { EntryAttribute.read(bytes.span) }

  private func admits(_ proof: KeyProof, _ key: [UInt8]) -> Bool { proof.admits(key.span) }

  private static let lifetimes: [Lifetime] = [
    .seconds(0), .seconds(1), .seconds(604_800), .seconds(UInt32.max - 1), .never, .fixed,
  ]
  private static let proofs: [KeyProof] = [
    .key([]), .key(Array("https://example.org/ a b".utf8)), .key([0, 32, 255, 10]),
    .key([UInt8](repeating: 65, count: 2000)), .digest(0, .max), .none,
  ]

  @Test(arguments: lifetimes, proofs)
  func `what is written is read back`(lifetime: Lifetime, proof: KeyProof) {
    for hash in [0, 1, .max, 0x0123_4567_89ab_cdef] as [UInt64] {
      let attribute = EntryAttribute(contentHash: hash, lifetime: lifetime, proof: proof)
      #expect(read(attribute.bytes) == .attribute(attribute))
    }
  }

  @Test func `the text is the one of the format`() {
    let attribute = EntryAttribute(
      contentHash: 0x0123_4567_89ab_cdef, lifetime: .seconds(60), proof: .key(Array("k".utf8)))
    #expect(String(decoding: attribute.bytes, as: UTF8.self) == "1 \(Self.hash) 60 =k")
  }

  @Test(arguments: [
    "", " ", "1", "1 ", "x \(hash) 60 =k", "1  \(hash) 60 =k", "1 \(hash)", "1 \(hash) ",
    "1 \(hash) 60", "1 \(hash) 60 ", "1 \(hash) 60 k", "1 0123 60 =k", "1 \(hash)0 60 =k",
    "1 0123456789ABCDEF 60 =k", "1 \(hash) -1 =k", "1 \(hash) +1 =k", "1 \(hash) 6x =k",
    "1 \(hash)  =k", "1 \(hash) Never =k", "1 \(hash) nevex =k", "1 \(hash) 60 #",
    "1 \(hash) 60 #\(digest)0", "1 \(hash) 60 #\(digest.dropLast())",
    "1 \(hash) 60 #\(digest.uppercased())", "1 \(hash) 60 -x", "\u{0}", "1\n\(hash) 60 =k",
    "1 \(hash) 111111111111111111111 =k", "-1 \(hash) 60 =k", "１ \(hash) 60 =k",
  ])
  func `a malformed text is malformed`(text: String) {
    #expect(read(text) == .malformed)
  }

  @Test(arguments: ["2 x", "0 ", "10 \(hash) 60 =k", "2 \(hash) 60 =k", "99 whatever it says"])
  func `another version is told from damage`(text: String) {
    #expect(read(text) == .otherVersion)
  }

  @Test(arguments: ["4294967294", "4294967295", "99999999999999999999", "00000000009999999999"])
  func `a lifetime beyond the longest counts as the longest`(seconds: String) {
    let expected = EntryAttribute(
      contentHash: 0x0123_4567_89ab_cdef, lifetime: .seconds(UInt32.max - 1), proof: .none)
    #expect(read("1 \(Self.hash) \(seconds) -") == .attribute(expected))
  }

  @Test func `random bytes never trap and are never taken for a sound attribute`() {
    var random = SeededRandom(seed: 11)
    for round in 0..<20_000 {
      var bytes = Array("1 \(Self.hash) 60 =key".utf8)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: 0..<20, using: &random)] = .random(in: 0...255, using: &random)
      }
      bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
      if case .attribute(let attribute) = read(bytes) {
        #expect(read(attribute.bytes) == .attribute(attribute), "round \(round)")
      }
    }
  }

  @Test(arguments: [0, 1, 1999, 2000, 2001, 4096, 1 << 20])
  func `a key is proven by itself up to 2,000 bytes and by its digest beyond`(count: Int) {
    let key = [UInt8](repeating: 7, count: count)
    let proof = KeyProof(of: key.span, recordsKey: true)
    let digest = KeyProof(of: key.span, recordsKey: false)
    #expect(proof == (count <= 2000 ? .key(key) : digest))
    #expect(admits(proof, key) && admits(digest, key))
    #expect(!admits(proof, key + [0]) && !admits(digest, key + [0]))
  }

  @Test func `the recorded digest is the first half of SHA-256`() {
    let key = Array("abc".utf8)
    let proof = KeyProof(of: key.span, recordsKey: false)
    #expect(proof == .digest(0xba78_16bf_8f01_cfea, 0x4141_40de_5dae_2223))
    #expect(admits(.none, Array("anything".utf8)))
  }
}
