import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

struct SlotTableTests {
  private func find(_ tag: UInt32, _ slot: Slot, in table: borrowing SlotTable) -> Bool {
    table.first(tag) { $0 == slot } == slot
  }

  @Test(arguments: [0, 1, 2, 3, 4, 6, 7, 24, 25, 1_000, 100_000])
  func `a table has room for the count it was made for`(_ count: Int) {
    let table = SlotTable(bits: SlotTable.bits(forCount: count))
    #expect(table.capacity >= count)
    #expect(count < 8 || table.capacity < 2 * count + 2)
  }

  /// Ways to compute a tag from a number. Some of them crowd the table.
  enum Crowding: CaseIterable {
    case spread, oneTag, oneHome, lastBucket

    func tag(_ number: UInt32) -> UInt32 {
      switch self {
      case .spread: number &* 0x9e37_79b9
      case .oneTag: .max
      case .oneHome: number & 0xff
      case .lastBucket: 0xffff_ff00 | (number & 3)
      }
    }
  }

  @Test(arguments: Crowding.allCases)
  func `random insertions and removals agree with a set`(_ crowding: Crowding) {
    var table = SlotTable(bits: 3)
    var model: Set<UInt32> = []
    var random = SeededRandom(seed: 3)
    for _ in 0..<6_000 {
      let number = UInt32.random(in: 1...200, using: &random)
      if model.remove(number) != nil {
        table.remove(crowding.tag(number), Slot(number))
      } else {
        if model.count == table.capacity { table.grow() }
        table.insert(crowding.tag(number), Slot(number))
        model.insert(number)
      }
      let probe = UInt32.random(in: 1...200, using: &random)
      let isThere = find(crowding.tag(probe), Slot(probe), in: table)
      #expect(isThere == model.contains(probe))
    }
    for number: UInt32 in 1...200 {
      let isThere = find(crowding.tag(number), Slot(number), in: table)
      #expect(isThere == model.contains(number))
    }
  }

  @Test
  func `growing keeps every slot`() {
    var table = SlotTable(bits: 2)
    for number: UInt32 in 1...5_000 {
      if Int(number) > table.capacity { table.grow() }
      table.insert(number &* 0x85eb_ca6b, Slot(number))
    }
    for number: UInt32 in 1...5_000 {
      let isThere = find(number &* 0x85eb_ca6b, Slot(number), in: table)
      #expect(isThere)
    }
  }

  @Test
  func `layouts are as small as they are said to be`() {
    #expect(MemoryLayout<SlotLink>.size == 16)
    #expect(MemoryLayout<PackedTime>.size == 8)
    #expect(MemoryLayout<SlotTimes>.stride == 24)
  }
}
