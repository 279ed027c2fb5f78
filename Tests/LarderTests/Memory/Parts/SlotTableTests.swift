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
  func `growing keeps every slot, and each migration ends long before the next`() {
    var table = SlotTable(bits: 2)
    for number: UInt32 in 1...5_000 {
      if Int(number) > table.capacity {
        #expect(table.oldCount == 0)
        table.grow()
      }
      table.insert(number &* 0x85eb_ca6b, Slot(number))
    }
    for number: UInt32 in 1...5_000 {
      let isThere = find(number &* 0x85eb_ca6b, Slot(number), in: table)
      #expect(isThere)
    }
  }

  /// Returns a table whose every slot from 1 on has a word, with as many as fit.
  private func full(bits: Int, _ crowding: Crowding) -> SlotTable {
    var table = SlotTable(bits: bits)
    for number in 1...UInt32(table.capacity) {
      table.insert(crowding.tag(number), Slot(number))
    }
    return table
  }

  @Test(arguments: Crowding.allCases)
  func `slots come, go and are found while the others move`(_ crowding: Crowding) {
    var table = full(bits: 9, crowding)
    var model = Set(1...UInt32(table.capacity))
    var (next, insertions) = (UInt32(table.capacity) + 1, 0)
    var random = SeededRandom(seed: 7)
    table.grow()
    #expect(table.oldCount == 512)
    while table.oldCount > 0 {
      table.insert(crowding.tag(next), Slot(next))
      model.insert(next)
      next += 1
      insertions += 1
      for _ in 0..<5 {
        guard let number = model.randomElement(using: &random) else { break }
        table.remove(crowding.tag(number), Slot(number))
        model.remove(number)
        let isThere = find(crowding.tag(number), Slot(number), in: table)
        #expect(!isThere)
      }
      let lost = (1..<next).filter {
        find(crowding.tag($0), Slot($0), in: table) != model.contains($0)
      }
      #expect(lost == [])
    }
    #expect(insertions <= 512 / SlotTable.stepCount)
    #expect(insertions > 10 || crowding != .spread)
    let search: Slot? = table.old?.first(0) { _ in true }
    #expect(search == nil, "the old buckets are not freed")
  }

  @Test(arguments: Crowding.allCases)
  func `slots change places while they move to fewer buckets`(_ crowding: Crowding) {
    var table = full(bits: 9, crowding)
    for number: UInt32 in 41...384 { table.remove(crowding.tag(number), Slot(number)) }
    table.resize(bits: 6)
    #expect(table.capacity == 48 && table.isShrinking)
    for number: UInt32 in 1...40 {
      table.replace(crowding.tag(number), Slot(number), with: Slot(number + 1_000))
      table.migrate(16)
      for other: UInt32 in 1...40 {
        let slot = Slot(other <= number ? other + 1_000 : other)
        let isThere = find(crowding.tag(other), slot, in: table)
        #expect(isThere)
      }
    }
    #expect(table.oldCount == 0 && !table.isShrinking)
  }

  @Test
  func `a table that is full again while it shrinks moves the rest at once`() {
    var table = full(bits: 12, .spread)
    for number: UInt32 in 7...3_072 { table.remove(Crowding.spread.tag(number), Slot(number)) }
    table.resize(bits: 3)
    table.resize(bits: 4)
    #expect(table.oldCount == 8 && table.capacity == 12)
    for number: UInt32 in 1...6 {
      let isThere = find(Crowding.spread.tag(number), Slot(number), in: table)
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
