import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

struct SpanLittleEndianTests {
  @Test
  func `words are read from any offset, the lowest byte first`() {
    let bytes = (0..<80).map { UInt8($0) }
    for offset in 0...72 {
      let word = bytes.span.littleEndianUInt64(at: offset)
      let half = bytes.span.littleEndianUInt32(at: offset)
      let back = (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
      #expect(back == Array(bytes[offset..<offset + 8]))
      #expect(half == UInt32(truncatingIfNeeded: word))
    }
  }

  @Test
  func `blocks and stripes are their words in order`() {
    let bytes = (0..<80).map { UInt8($0) }
    for offset in 0...16 {
      let block = bytes.span.littleEndianBlock(at: offset)
      for index in 0..<16 {
        let word = bytes.span.littleEndianUInt32(at: offset + 4 * index)
        let found = block[index]
        #expect(found == word)
      }
      let stripe = bytes.span.littleEndianStripe(at: offset)
      for index in 0..<4 {
        let word = bytes.span.littleEndianUInt64(at: offset + 8 * index)
        let found = stripe[index]
        #expect(found == word)
      }
    }
  }

  @Test(arguments: [-1, 1, Int.max, Int.min])
  func `reading beyond the bytes traps`(offset: Int) async {
    await #expect(processExitsWith: .failure) { [offset = offset as Int] in
      let bytes = [UInt8](repeating: 0, count: 64)
      _ = bytes.span.littleEndianBlock(at: offset)
    }
    await #expect(processExitsWith: .failure) { [offset = offset as Int] in
      let bytes = [UInt8](repeating: 0, count: 32)
      _ = bytes.span.littleEndianStripe(at: offset)
    }
    await #expect(processExitsWith: .failure) { [offset = offset as Int] in
      let bytes = [UInt8](repeating: 0, count: 8)
      _ = bytes.span.littleEndianUInt64(at: offset)
    }
    await #expect(processExitsWith: .failure) { [offset = offset as Int] in
      let bytes = [UInt8](repeating: 0, count: 4)
      _ = bytes.span.littleEndianUInt32(at: offset)
    }
  }
}
