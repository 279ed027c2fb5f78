import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

struct ByteHashTests {
  private func hash(_ bytes: [UInt8]) -> Int { ByteHash.hash(bytes.span) }

  @Test
  func `the same bytes have the same hash, wherever they lie`() {
    for count in [0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 127, 128, 129, 1_000] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
      let shifted = [0] + bytes
      #expect(hash(bytes) == hash(Array(shifted.dropFirst())))
    }
  }

  @Test
  func `every byte and the length matter, at every length`() {
    for count in 0...140 {
      let zeros = [UInt8](repeating: 0, count: count)
      var seen: Set<Int> = [hash(zeros), hash(zeros + [0])]
      #expect(seen.count == 2)
      for index in 0..<count {
        var changed = zeros
        changed[index] = 1
        #expect(seen.insert(hash(changed)).inserted, "byte \(index) of \(count)")
      }
    }
  }

  @Test
  func `both halves of the hash spread over like keys`() {
    let count = 1 << 14
    var (upper, lower) = (Set<Int>(), Set<Int>())
    for number in 0..<count {
      let hash = hash(Array("https://example.com/images/\(number).jpeg".utf8))
      upper.insert(Int(UInt(bitPattern: hash) >> 50))
      lower.insert(hash & (1 << 14 - 1))
    }
    // Random numbers, as many as there are places, leave 1/e of the places empty.
    for taken in [upper.count, lower.count] {
      #expect(taken > count * 60 / 100)
      #expect(taken < count * 66 / 100)
    }
  }

  @Test
  func `every bit of three words matters, and each word has its place`() {
    var seen: Set<Int> = [ByteHash.hash(0, 0, 0)]
    for word in 0..<3 {
      for bit in 0..<64 {
        var words: [UInt64] = [0, 0, 0]
        words[word] = 1 << bit
        #expect(seen.insert(ByteHash.hash(words[0], words[1], words[2])).inserted)
      }
    }
  }

  @Test
  func `the hash differs from process to process`() async throws {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      print("hash \(CacheKey("a key").hashValue) end")
    }
    let text = String(decoding: result.standardOutputContent, as: UTF8.self)
    #expect(text.contains("hash "))
    #expect(!text.contains("hash \(CacheKey("a key").hashValue) end"))
  }
}
