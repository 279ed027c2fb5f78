import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

struct XXH64Tests {
  /// Published hashes of texts, from the tests of cespare/xxhash; "abc" is from the C library.
  static let published: [(String, UInt64)] = [
    ("", 0xef46_db37_51d8_e999),
    ("a", 0xd24e_c4f1_a98c_6e5b),
    ("as", 0x1c33_0fb2_d66b_e179),
    ("asd", 0x631c_37ce_72a9_7393),
    ("asdf", 0x4158_72f5_99ce_a71e),
    ("abc", 0x44bc_2cf5_ad77_0999),
    (
      "Call me Ishmael. Some years ago--never mind how long precisely-",
      0x02a2_e854_70d6_fd96
    ),
  ]

  /// Prefixes of the sanity buffer, from the self-test of the reference implementation.
  static let sanityChecks: [(Int, UInt64)] = [
    (0, 0xef46_db37_51d8_e999),
    (1, 0xe934_a84a_db05_2768),
    (4, 0x9136_a0dc_a574_57ee),
    (14, 0x8282_dcc4_994e_35c8),
    (222, 0xb641_ae8c_b691_c174),
  ]

  @Test(arguments: published)
  func `the known values of texts hold`(text: String, hash: UInt64) {
    #expect(XXH64(text).finalize() == hash)
  }

  @Test(arguments: sanityChecks)
  func `the self-test of the reference implementation holds`(count: Int, hash: UInt64) {
    #expect(XXH64(Self.sanityBuffer(count: count)).finalize() == hash)
  }

  // Every length at which the end of the content takes another path, folded into one value that the
  // C library computed.
  @Test
  func `every length up to 300 has the hash that the C library computes`() {
    let buffer = Self.sanityBuffer(count: 300)
    var fold = XXH64()
    for count in 0...300 {
      let hash = XXH64(Array(buffer.prefix(count))).finalize()
      fold.update((0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) })
    }
    #expect(fold.finalize() == 0xc838_e6aa_bc00_8e47)
  }

  @Test
  func `content in chunks has the hash of the whole`() {
    var generator = SeededRandom(seed: 64)
    for count in 0...300 {
      let content = generator.bytes(count: count)
      let whole = XXH64(content).finalize()
      for _ in 0..<4 {
        var hash = XXH64()
        var start = 0
        for end in chunkEnds(of: count, using: &generator) {
          hash.update(content.span.extracting(start..<end))
          start = end
        }
        #expect(hash.finalize() == whole, "\(count) bytes")
      }
    }
  }

  @Test(arguments: [1, 7, 31, 32, 33, 64, 1_000, 65_536])
  func `chunks of any one size have the hash of the whole`(size: Int) {
    let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }
    var hash = XXH64()
    for start in stride(from: 0, to: content.count, by: size) {
      hash.update(content.span.extracting(start..<min(start + size, content.count)))
    }
    #expect(hash.finalize() == 0x953e_8a6a_68df_79c4)
  }

  @Test
  func `asking for the hash does not end the content`() {
    var hash = XXH64()
    hash.update(Array("as".utf8))
    #expect(hash.finalize() == 0x1c33_0fb2_d66b_e179)
    hash.update(Array("df".utf8))
    #expect(hash.finalize() == 0x4158_72f5_99ce_a71e)
  }

  @Test
  func `one changed bit changes the hash`() {
    var content = Self.sanityBuffer(count: 100)
    let hash = XXH64(content).finalize()
    for index in content.indices {
      for bit in 0..<8 {
        content[index] ^= 1 << bit
        #expect(XXH64(content).finalize() != hash)
        content[index] ^= 1 << bit
      }
    }
  }

  /// Returns the bytes of the reference implementation's self-test.
  private static func sanityBuffer(count: Int) -> [UInt8] {
    var generator: UInt64 = 2_654_435_761
    return (0..<count).map { _ in
      defer { generator &*= 11_400_714_785_074_694_797 }
      return UInt8(truncatingIfNeeded: generator >> 56)
    }
  }
}
