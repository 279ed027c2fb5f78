@testable import Larder
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

/// Returns the ends of chunks that split bytes at random places. Some chunks are empty.
func chunkEnds(of count: Int, using generator: inout SeededRandom) -> [Int] {
  let cuts = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
    Int.random(in: 0...count, using: &generator)
  }
  return cuts.sorted() + [count]
}

// These take arrays, because `#expect` cannot hold the span of a temporary value.

extension MD5 {
  static func digest(of message: [UInt8]) -> MD5Digest { digest(of: message.span) }
  static func digest(of text: String) -> MD5Digest { digest(of: Array(text.utf8)) }
}

extension BLAKE2b {
  static func digest(of message: [UInt8]) -> BLAKE2bDigest { digest(of: message.span) }
}

extension XXH64 {
  init(_ content: [UInt8]) { self.init(content.span) }
  init(_ text: String) { self.init(Array(text.utf8)) }
  mutating func update(_ bytes: [UInt8]) { update(bytes.span) }
}

extension Hexadecimal {
  static func word(of text: [UInt8]) -> UInt64? { word(of: text.span) }
}

extension MD5Digest {
  /// The digits that `md5sum` prints.
  var text: String { high.digits(16, radix: 16) + low.digits(16, radix: 16) }
}
