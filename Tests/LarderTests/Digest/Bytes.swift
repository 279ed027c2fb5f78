@testable import Larder
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

/// A random number generator with a seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
    return word ^ word >> 31
  }

  mutating func bytes(count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}

/// Returns the ends of chunks that split bytes at random places. Some chunks are empty.
func chunkEnds(of count: Int, using generator: inout SeededGenerator) -> [Int] {
  let cuts = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
    Int.random(in: 0...count, using: &generator)
  }
  return cuts.sorted() + [count]
}

// These take arrays, because `#expect` cannot hold the span of a temporary value.

extension MD5 {
  static func digest(of message: [UInt8]) -> MD5Digest { digest(of: message.span) }
  static func digest(of text: String) -> MD5Digest { digest(of: Array(text.utf8)) }
  mutating func update(_ bytes: [UInt8]) { update(bytes.span) }
}

extension SHA256 {
  static func digest(of message: [UInt8]) -> SHA256Digest { digest(of: message.span) }
  static func digest(of text: String) -> SHA256Digest { digest(of: Array(text.utf8)) }
}

extension XXH64 {
  static func digest(of content: [UInt8]) -> UInt64 { digest(of: content.span) }
  static func digest(of text: String) -> UInt64 { digest(of: Array(text.utf8)) }
  mutating func update(_ bytes: [UInt8]) { update(bytes.span) }
}

extension Hexadecimal {
  static func word(of text: [UInt8]) -> UInt64? { word(of: text.span) }
}

extension MD5Digest {
  init?(hex: [UInt8]) { self.init(hex: hex.span) }
  var text: String { String(decoding: hex, as: UTF8.self) }
}

extension SHA256Digest {
  var text: String { String(decoding: hex, as: UTF8.self) }
}
