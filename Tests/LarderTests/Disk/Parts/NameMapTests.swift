import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

struct NameMapTests {
  @Test(arguments: 0..<4 as Range<UInt64>)
  func `a map of names does what a dictionary does`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var map = NameMap<Int>()
    var model: [EntryName: Int] = [:]
    for step in 0..<5_000 {
      let number = Int.random(in: 0..<300, using: &random)
      let name = IndexSample.name(number / 2, extension: number % 2 == 0 ? "" : "json")
      if Bool.random(using: &random) {
        (map[name], model[name]) = (step, step)
      } else {
        #expect(map.removeValue(forKey: name) == model.removeValue(forKey: name), "seed \(seed)")
      }
      #expect(map.isEmpty == model.isEmpty)
    }
    #expect(model.allSatisfy { map[$0.key] == $0.value })
    #expect(Set(map.names(in: 0..<map.slotCount)) == Set(model.keys))
  }

  @Test func `a name that stays is found by going through the slots, whatever comes and goes`() {
    var map = NameMap<Int>()
    for number in 0..<1_000 { map[IndexSample.name(number)] = number }
    let slotCount = map.slotCount
    var found: Set<EntryName> = []
    for start in stride(from: 0, to: slotCount, by: 100) {
      found.formUnion(map.names(in: start..<start + 100))
      for number in 0..<1_000 where number % 10 > 0 {
        map[IndexSample.name(number)] = number % 20 < 10 ? nil : start
      }
    }
    #expect((0..<1_000).allSatisfy { $0 % 10 > 0 || found.contains(IndexSample.name($0)) })
  }

  @Test func `an empty map gives up the memory of many names`() {
    var map = NameMap<Int>()
    for number in 0..<5_000 { map[IndexSample.name(number)] = number }
    #expect(map.takeExcess()?.slotCount == nil)
    for number in 0..<5_000 { map[IndexSample.name(number)] = nil }
    #expect(map.takeExcess()?.slotCount == 5_000 && map.slotCount == 0)
    #expect(map.takeExcess()?.slotCount == nil)
    map[IndexSample.name(1)] = 1
    #expect(map[IndexSample.name(1)] == 1)
  }
}
