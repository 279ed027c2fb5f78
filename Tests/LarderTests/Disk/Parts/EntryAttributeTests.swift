import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

struct `The attribute` {
  private static let hash = "ASNFZ4mrze8"
  private static let digest = "ABEiM0RVZneImaq7"

  private func read(_ text: String) -> EntryAttribute.Reading { read(Array(text.utf8)) }

  private func read(_ bytes: [UInt8]) -> EntryAttribute.Reading { EntryAttribute.read(bytes.span) }

  private func admits(_ proof: KeyProof, _ key: [UInt8]) -> Bool { proof.admits(key.span) }

  private static let lifetimes: [Lifetime] = [
    .seconds(0), .seconds(1), .seconds(3600), .seconds(86_399), .seconds(86_400),
    .seconds(90_000), .seconds(604_800), .seconds(UInt32.max - 1), .never, .fixed,
  ]
  private static let proofs: [KeyProof] = [
    .key([]), .key(Array("https://example.org/ a b".utf8)), .key([0, 32, 255, 10]),
    .key([UInt8](repeating: 65, count: 2000)), .none,
    .digest(BLAKE2bDigest(first: 0, last: .max), hint: []),
    .digest(BLAKE2bDigest(first: .max, last: 0), hint: [32]),
    .digest(BLAKE2bDigest(first: 1, last: 2), hint: Array("/users/1234?full=1".utf8)),
  ]

  @Test(arguments: lifetimes, proofs)
  func `what is written is read back`(lifetime: Lifetime, proof: KeyProof) {
    for hash in [0, 1, .max, 0x0123_4567_89ab_cdef] as [UInt64] {
      let attribute = EntryAttribute(contentHash: hash, lifetime: lifetime, proof: proof)
      #expect(read(attribute.bytes) == .attribute(attribute))
    }
  }

  @Test(
    arguments: [
      (.seconds(60), .key(Array("k".utf8)), "1 \(hash) 60 =k"),
      (.seconds(604_800), .none, "1 \(hash) 7d -"), (.seconds(43_200), .none, "1 \(hash) 12h -"),
      (.seconds(90), .none, "1 \(hash) 90 -"), (.seconds(0), .none, "1 \(hash) 0 -"),
      (.seconds(4_294_944_000), .none, "1 \(hash) 49710d -"),
      (.never, .digest(digestOfText, hint: []), "1 \(hash) never #\(digest)"),
      (.fixed, .digest(digestOfText, hint: Array("end".utf8)), "1 \(hash) fixed #\(digest) end"),
    ] as [(Lifetime, KeyProof, String)])
  func `the text is the one of the format`(lifetime: Lifetime, proof: KeyProof, text: String) {
    let attribute = EntryAttribute(
      contentHash: 0x0123_4567_89ab_cdef, lifetime: lifetime, proof: proof)
    #expect(String(decoding: attribute.bytes, as: UTF8.self) == text)
  }

  private static let digestOfText = BLAKE2bDigest(first: 0x0011_2233_4455_6677, last: 0x8899_aabb)

  @Test(arguments: [
    "", " ", "1", "1 ", "x \(hash) 60 =k", "1  \(hash) 60 =k", "1 \(hash)", "1 \(hash) ",
    "1 \(hash) 60", "1 \(hash) 60 ", "1 \(hash) 60 k", "1 ASNF 60 =k", "1 \(hash)0 60 =k",
    "1 ASNFZ4mrze9 60 =k", "1 ASNFZ4mrze+ 60 =k", "1 0123456789abcdef 60 =k",
    "1 \(hash) -1 =k", "1 \(hash) +1 =k", "1 \(hash) 6x =k", "1 \(hash) d =k", "1 \(hash) h =k",
    "1 \(hash) 1dd =k", "1 \(hash) 1m =k", "1 \(hash) 1D =k", "1 \(hash) d1 =k",
    "1 \(hash)  =k", "1 \(hash) Never =k", "1 \(hash) nevex =k", "1 \(hash) 60 #",
    "1 \(hash) 60 #\(digest)0", "1 \(hash) 60 #\(digest.dropLast())", "1 \(hash) 60 #\(digest) ",
    "1 \(hash) 60 #\(digest.dropLast())+", "1 \(hash) 60 #\(digest.dropLast())/ end",
    "1 \(hash) 60 #00112233445566778899aabbccddeeff", "1 \(hash) 60 -x", "\u{0}",
    "1\n\(hash) 60 =k", "1 \(hash) 111111111111111111111 =k",
    "1 \(hash) 111111111111111111111d =k", "-1 \(hash) 60 =k", "１ \(hash) 60 =k",
  ])
  func `a malformed text is malformed`(text: String) {
    #expect(read(text) == .malformed)
  }

  @Test(arguments: ["2 x", "0 ", "10 \(hash) 60 =k", "2 \(hash) 60 =k", "99 whatever it says"])
  func `another version is told from damage`(text: String) {
    #expect(read(text) == .otherVersion)
  }

  @Test(arguments: [
    "4294967294", "4294967295", "99999999999999999999", "00000000009999999999", "49711d",
    "99999999999999999999d", "99999999999999999999h",
  ])
  func `a lifetime beyond the longest counts as the longest`(seconds: String) {
    let expected = EntryAttribute(
      contentHash: 0x0123_4567_89ab_cdef, lifetime: .seconds(UInt32.max - 1), proof: .none)
    #expect(read("1 \(Self.hash) \(seconds) -") == .attribute(expected))
  }

  @Test func `random bytes never trap and are never taken for a sound attribute`() {
    var random = SeededRandom(seed: 11)
    for round in 0..<20_000 {
      let proof = round % 2 == 0 ? "=key" : "#\(Self.digest) key"
      var bytes = Array("1 \(Self.hash) 60 \(proof)".utf8)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
          in: 0...255, using: &random)
      }
      bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
      if case .attribute(let attribute) = read(bytes) {
        #expect(read(attribute.bytes) == .attribute(attribute), "round \(round)")
      }
    }
  }

  @Test func `a number of days and the seconds in it are one lifetime`() {
    for (text, seconds) in [("7d", "604800"), ("1h", "3600"), ("007d", "168h"), ("0d", "0")] {
      #expect(read("1 \(Self.hash) \(text) -") == read("1 \(Self.hash) \(seconds) -"))
      #expect(read("1 \(Self.hash) \(text) -") != .malformed)
    }
  }

  /// Returns the proof in the attribute of a key, and the attribute's length.
  private func proof(
    of key: [UInt8], _ form: KeyProof.Form, _ lifetime: Lifetime = .seconds(604_800)
  ) throws -> (KeyProof, byteCount: Int) {
    let bytes = EntryAttribute.bytes(1, lifetime, key: key.span, as: form)
    guard case .attribute(let attribute) = read(bytes) else { throw CancellationError() }
    #expect(attribute.lifetime == lifetime && attribute.contentHash == 1)
    #expect(attribute.bytes == bytes)
    return (attribute.proof, bytes.count)
  }

  @Test(arguments: [0, 1, 1999, 2000, 2001, 4096, 1 << 20])
  func `a key is proven by itself up to 2,000 bytes and by its digest beyond`(count: Int) throws {
    let key = [UInt8](repeating: 7, count: count)
    let recorded = try proof(of: key, .key).0
    let digest = try proof(of: key, .digest).0
    #expect(digest == .digest(BLAKE2b.digest(of: key.span), hint: []))
    #expect((recorded == .key(key)) == (count <= 2000))
    #expect(admits(recorded, key) && admits(digest, key))
    #expect(!admits(recorded, key + [0]) && !admits(digest, key + [0]))
    #expect(admits(.none, key))
  }

  @Test(arguments: lifetimes)
  func `a key within 64 bytes is recorded, a longer one leaves its digest and its end`(
    lifetime: Lifetime
  ) throws {
    for count in 0...300 {
      let key = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
      let clear = EntryAttribute(contentHash: 1, lifetime: lifetime, proof: .key(key)).bytes.count
      let (proof, byteCount) = try proof(of: key, .keyWithin(64), lifetime)
      #expect(byteCount <= 64)
      guard clear > 64 else {
        #expect(proof == .key(key))
        continue
      }
      #expect(byteCount == 64, "\(count)")
      guard case .digest(_, let hint) = proof else { throw CancellationError() }
      #expect(hint.count >= 21 && Array(key.suffix(hint.count)) == hint)
    }
  }

  @Test(arguments: [
    ("abc", 2, 1), ("abc", 3, 0), ("abc", 9, 0), ("abc", 0, 3), ("", 5, 0),
    // é is two bytes, € three, the face four.
    ("aéb", 2, 3), ("aéb", 3, 1), ("€€", 4, 3), ("€€", 5, 3), ("€€", 6, 0), ("x😀y", 4, 5),
    ("x😀y", 5, 1),
    // A letter keeps its marks, and a family its members.
    ("cafe\u{301}/1", 4, 6), ("cafe\u{301}/1", 5, 3), ("e\u{301}\u{302}\u{303}x", 6, 7),
    ("a👩\u{200D}👧b", 9, 12), ("a👩\u{200D}👧b", 12, 1),
    // A character that is too long shows its last scalars.
    ("e\u{301}\u{302}", 3, 3),
  ])
  func `a hint begins with a whole character`(key: String, count: Int, start: Int) {
    #expect(KeyProof.startOfHint(in: Array(key.utf8).span, upTo: count) == start)
  }

  @Test func `a hint of bytes that are no text loses at most three of them`() {
    let key = [UInt8](repeating: 0x80, count: 90)
    for count in 0...90 {
      let start = KeyProof.startOfHint(in: key.span, upTo: count)
      #expect((start - (90 - count)) == (count == 90 ? 0 : min(3, count)))
    }
  }

  @Test func `a longer lifetime shortens the hint and not the digest`() throws {
    let key = Array("https://example.org/über/1234567890/abcdefghijklmnopqrstuvwxyz".utf8)
    let bytes = EntryAttribute.bytes(1, .seconds(86_400), key: key.span, as: .keyWithin(64))
    guard case .attribute(var attribute) = read(bytes) else { throw CancellationError() }
    #expect(attribute.fitted == attribute)
    attribute.lifetime = .seconds(UInt32.max - 1)
    #expect(attribute.bytes.count > 64 && attribute.fitted.bytes.count == 64)
    #expect(admits(attribute.fitted.proof, key))
    let clear = EntryAttribute(contentHash: 1, lifetime: .never, proof: .key(key))
    #expect(clear.fitted == clear)
  }

  @Test(arguments: [
    ("/1", "\u{2026}/1"), ("a\nb\u{1B}[2J", "\u{2026}a\\u{a}b\\u{1b}[2J"),
    ("\u{202E}gpj\\", "\u{2026}\\u{202e}gpj\\\\"),
  ])
  func `a hint is shown escaped`(hint: String, text: String) {
    let proof = KeyProof.digest(Self.digestOfText, hint: Array(hint.utf8))
    #expect(proof.hintForDisplay == text)
    #expect(KeyProof.digest(Self.digestOfText, hint: [0xFF]).hintForDisplay == "\u{2026}\\xff")
    #expect(KeyProof.digest(Self.digestOfText, hint: []).hintForDisplay == nil)
    #expect(KeyProof.key(Array(hint.utf8)).hintForDisplay == nil)
  }
}
