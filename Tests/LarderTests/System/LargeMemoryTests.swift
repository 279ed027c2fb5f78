import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

struct LargeMemoryTests {
  // Sizes below, at and above the one from which memory is mapped separately.
  @Test(arguments: [1, 4_096, 4 << 20 - 1, 4 << 20, 4 << 20 + 1, 5_000_001, 32 << 20])
  func `all of the memory can be written and given back`(_ byteCount: Int) {
    for _ in 0..<20 {
      let memory = unsafe LargeMemory.allocate(byteCount: byteCount, alignment: 16)
      #expect(UInt(bitPattern: memory) % 16 == 0)
      for offset in [0, byteCount / 2, byteCount - 1] {
        unsafe memory.storeBytes(of: 7, toByteOffset: offset, as: UInt8.self)
      }
      unsafe LargeMemory.deallocate(memory, byteCount: byteCount)
    }
  }

  @Test
  func `a large buffer keeps its elements when it moves`() {
    var buffer = SlotBuffer<Int>(repeating: 0, count: 300_000)
    for index in 0..<300_000 { buffer[index] = index }
    buffer.reallocate(capacity: 2_000_000, keeping: 1..<300_000)
    let isKept = (1..<300_000).allSatisfy { buffer[$0] == $0 }
    #expect(isKept)
    #expect(buffer.capacity == 2_000_000)
  }
}
