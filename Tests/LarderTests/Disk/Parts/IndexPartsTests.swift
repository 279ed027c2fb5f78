import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// The small parts of an index: stamps, facts, chunks and numbers.
struct IndexPartsTests {
  static let stamps: [(time: Timestamp, packed: Timestamp)] = [
    (Timestamp(seconds: 0), Timestamp(seconds: 0)),
    (Timestamp(seconds: 1, nanoseconds: 1), Timestamp(seconds: 1, nanoseconds: 1)),
    (Timestamp(seconds: -1, nanoseconds: 999_999_999), Timestamp(seconds: 0)),
    (Timestamp(seconds: .min), Timestamp(seconds: 0)),
    (.never, .never),
    (
      Timestamp(seconds: 1 << 34 - 1, nanoseconds: 999_999_999),
      Timestamp(seconds: 1 << 34 - 1, nanoseconds: 999_999_999)
    ),
    (
      Timestamp(seconds: 1 << 34), Timestamp(seconds: 1 << 34 - 1, nanoseconds: 999_999_999)
    ),
    (
      Timestamp(seconds: .max), Timestamp(seconds: 1 << 34 - 1, nanoseconds: 999_999_999)
    ),
  ]

  @Test(arguments: stamps)
  func `a stamp is packed whole, or as the nearest that fits`(
    time: Timestamp, packed: Timestamp
  ) {
    #expect(PackedTime(time).timestamp == packed)
    #expect(PackedTime(bits: PackedTime(time).bits) == PackedTime(time))
  }

  @Test func `packed stamps are in the order of time`() {
    let times = Self.stamps.map(\.time).sorted()
    let packed = times.map { PackedTime($0) }
    #expect(packed == packed.sorted())
    #expect(PackedTime(Timestamp(seconds: 8, nanoseconds: 999_999_999)) < PackedTime(.never))
  }

  @Test func `the parts of an entry have the sizes they are drawn with`() {
    #expect(MemoryLayout<EntryTable.Identity>.stride == 24)
    #expect(MemoryLayout<EntryFacts>.size == 28)
    #expect(MemoryLayout<EntryRecord>.stride == 48)
    #expect(MemoryLayout<StampedSlot>.stride == 12)
    #expect(MemoryLayout<EntrySlot>.stride == 4)
  }

  @Test(arguments: [0, 1, 2_047, 2_048, 2_049, 10_000])
  func `chunks hold what an array would`(count: Int) {
    var chunks = ChunkedArray<Int>()
    for number in 0..<count { chunks.append(number) }
    for number in 0..<count { chunks[number] *= 2 }
    #expect(chunks.count == count)
    #expect((0..<count).allSatisfy { chunks[$0] == $0 * 2 })
    for number in (0..<count).reversed() { #expect(chunks.removeLast() == number * 2) }
    chunks.append(7)
    #expect(chunks.count == 1 && chunks[0] == 7)
  }

  @Test func `a slot may be set, or added after the last`() {
    var chunks = ChunkedArray<Int>()
    for number in 0..<3_000 { chunks.put(1, at: EntrySlot(number)) }
    chunks.put(5, at: EntrySlot(2_500))
    #expect(chunks.count == 3_000 && chunks[2_500] == 5 && chunks[2_499] == 1)
  }

  @Test func `blocks and check leave each other alone`() {
    var facts = EntryFacts(IndexSample.entry(1))
    #expect(facts.check == nil && facts.allocatedByteCount == 4096)
    for hasData in [true, false] {
      let check = FileCheck(lifetime: .unknown, keyTag: .max, hasData: hasData)
      facts.check = check
      #expect(facts.check == check && facts.allocatedByteCount == 4096 && facts.inode == 2)
    }
    facts.check = nil
    #expect(facts.check == nil && facts.allocatedByteCount == 4096 && facts.inode == 2)
  }

  @Test func `a number belongs to an extension as long as it is in use`() throws {
    var numbers = ExtensionNumbers()
    let json = try #require(FileExtension(Array("json".utf8)))
    let text = try #require(FileExtension(Array("txt".utf8)))
    let number = numbers.use(json)
    #expect(numbers.use(json) == number && numbers.number(of: json) == number)
    numbers.endUse(of: number)
    #expect(numbers[number] == json && numbers.number(of: text) == nil)
    numbers.endUse(of: number)
    #expect(numbers.number(of: json) == nil)
    #expect(numbers.use(text) == number && numbers[number] == text)
    #expect(numbers.number(of: .none) == 0)
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `a heap always gives the earliest`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var index = EntryIndex()
    var expiries: [PackedTime] = []
    for number in 0..<2_000 {
      let expiry = PackedTime(bits: UInt64.random(in: 0..<500, using: &random))
      index.upsert(IndexSample.entry(number), order: .mostRecent)
      index.setExpiry(expiry.timestamp, of: EntrySlot(number))
      expiries.append(expiry)
      let other = Int.random(in: 0...number, using: &random)
      let later = PackedTime(bits: UInt64.random(in: 0..<500, using: &random))
      expiries[other] = number % 5 == 0 ? .never : later
      index.setExpiry(expiries[other].timestamp, of: EntrySlot(other))
      #expect(index.expiries.first?.stamp == expiries.filter { $0 < .never }.min(), "seed \(seed)")
    }
    #expect(expiries.enumerated().allSatisfy { index.expiry(of: EntrySlot($0)) == $1 })
  }
}
