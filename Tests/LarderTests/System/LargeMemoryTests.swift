import Glibc
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

struct LargeMemoryTests {
  // Sizes below, at and above the one from which memory is mapped separately.
  @Test(arguments: [1, 4_096, 2 << 20 - 1, 2 << 20, 2 << 20 + 1, 5_000_001, 32 << 20])
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
    var buffer = SlotBuffer<Int>(zeroedCapacity: 300_000)
    for index in 0..<300_000 { buffer[index] = index }
    buffer.reallocate(capacity: 2_000_000, keeping: 1..<300_000) { _ in true }
    let isKept = (1..<300_000).allSatisfy { buffer[$0] == $0 }
    #expect(isKept)
    #expect(buffer.capacity == 2_000_000)
  }

  @Test(arguments: [4_096, 1 << 20, 2 << 20, 5 << 20])
  func `zeroed memory is zero, also where other values were`(_ byteCount: Int) {
    for _ in 0..<4 {
      let memory = unsafe LargeMemory.allocate(byteCount: byteCount, alignment: 16)
      unsafe LargeMemory.clear(memory, byteCount: byteCount)
      let first = unsafe memory.load(as: UInt8.self)
      // Each byte is the one before it, from the first on.
      let isEven = unsafe memcmp(memory, memory + 1, byteCount - 1) == 0
      #expect(first == 0 && isEven)
      unsafe memset(memory, 7, byteCount)
      unsafe LargeMemory.deallocate(memory, byteCount: byteCount)
    }
  }

  @Test func `large memory grows and shrinks without a copy, and small memory does not`() async {
    // In a process of its own, because the kernel lists areas of several tests that touch as one.
    await #expect(processExitsWith: .success) {
      let (small, large, larger) = (1 << 20, 5_000_000, 20_000_000)
      #expect(Self.resized(from: small, to: large) == nil)
      #expect(Self.resized(from: large, to: small) == nil)
      let grown = try #require(Self.resized(from: large, to: larger))
      // Otherwise the kernel could not move huge pages as they are the next time.
      #expect(grown.isAligned && grown.isAdvised && grown.isKept)
      #expect(grown.byteCount >= larger)
      let shrunk = try #require(Self.resized(from: larger, to: large))
      #expect(shrunk.isKept && shrunk.byteCount < large + 1 << 20)
    }
  }

  /// Changes the size of memory, and returns what is at its new place then; nil if it is refused.
  private static func resized(from byteCount: Int, to newByteCount: Int) -> Area? {
    let memory = unsafe LargeMemory.allocate(byteCount: byteCount, alignment: 16)
    let common = min(byteCount, newByteCount)
    for offset in [0, common - 1] {
      unsafe memory.storeBytes(of: 7, toByteOffset: offset, as: UInt8.self)
    }
    guard let moved = unsafe LargeMemory.resize(memory, from: byteCount, to: newByteCount) else {
      unsafe LargeMemory.deallocate(memory, byteCount: byteCount)
      return nil
    }
    unsafe moved.storeBytes(of: 8, toByteOffset: newByteCount / 2, as: UInt8.self)
    var area = area(at: UInt(bitPattern: moved))
    for offset in [0, common - 1] {
      if unsafe moved.load(fromByteOffset: offset, as: UInt8.self) != 7 { area?.isKept = false }
    }
    unsafe LargeMemory.deallocate(moved, byteCount: newByteCount)
    return area
  }

  private struct Area: Equatable {
    var byteCount: Int
    var isAligned: Bool
    var isKept = true
    /// Whether it is to have huge pages, or the kernel has none.
    var isAdvised: Bool
  }

  /// Returns the area of memory that begins at an address. See: man 5 proc_pid_smaps, VmFlags.
  private static func area(at memory: UInt) -> Area? {
    let hasHugePages = unsafe access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) == 0
    let text = String(decoding: read("/proc/self/smaps"), as: UTF8.self)
    let start = String(memory, radix: 16)
    guard let range = text.firstRange(of: "\n\(start)-") else { return nil }
    let lines = text[range.upperBound...].split(separator: "\n")
    let end = lines[0].prefix { $0 != " " }
    let flags = lines.first { $0.hasPrefix("VmFlags:") } ?? ""
    return Area(
      byteCount: Int(UInt(end, radix: 16) ?? 0) - Int(memory), isAligned: memory % (2 << 20) == 0,
      isAdvised: !hasHugePages || flags.split(separator: " ").contains("hg"))
  }

  private static func read(_ path: String) -> [UInt8] {
    guard let file = unsafe fopen(path, "r") else { return [] }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while case let count = unsafe fread(&piece, 1, piece.count, file), count > 0 {
      bytes += piece[..<count]
    }
    return bytes
  }

  private struct Weak {
    weak var object: Shared<Int>?
  }

  @Test(arguments: [100, 300_000])
  func `elements with a weak reference are moved one by one, and only those that exist`(
    _ count: Int
  ) {
    let objects = (0..<count).map { Shared($0) }
    var buffer = SlotBuffer<Weak>(capacity: count)
    // To move what is not an element traps.
    unsafe memset(buffer.base, 0x55, count * MemoryLayout<Weak>.stride)
    for index in 0..<count where index % 3 > 0 {
      buffer.initialize(at: index, to: Weak(object: objects[index]))
    }
    var asked = 0
    buffer.reallocate(capacity: 2 * count, keeping: 0..<count) { index in
      asked += 1
      return index % 3 > 0
    }
    #expect(asked == count)
    for index in 0..<count where index % 3 > 0 {
      let element = buffer.move(at: index)
      #expect(element.object === objects[index])
    }
  }

  @Test(arguments: [100, 300_000])
  func `objects and texts are moved with their references`(_ count: Int) {
    var buffer = SlotBuffer<(String, Shared<Int>)>(capacity: count)
    for index in 0..<count {
      buffer.initialize(at: index, to: ("a text that is not short \(index)", Shared(index)))
    }
    for capacity in [2 * count, 5 * count, count] {
      buffer.reallocate(capacity: capacity, keeping: 0..<count) { _ in
        Issue.record("only a type that cannot be moved as bits is asked about")
        return true
      }
      #expect(buffer.capacity == capacity)
    }
    for index in 0..<count {
      let text: String
      var object: Shared<Int>
      (text, object) = buffer.move(at: index)
      #expect(text == "a text that is not short \(index)" && object.value == index)
      let isOnlyOwner = isKnownUniquelyReferenced(&object)
      #expect(isOnlyOwner)
    }
  }
}
