import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// The columns of a slab as they grow and shrink.
struct SlabTests {
  /// Returns a tag that differs from that of most other keys.
  private func tag(_ key: Int) -> UInt32 { UInt32(truncatingIfNeeded: key) &* 0x9e37_79b9 }

  @Test func `entries and their times stay while columns grow past the size that is mapped`() {
    let count = 150_000
    var slab = Slab<String, Shared<Int>>()
    for key in 0..<count {
      let slot = slab.insert("the key \(key)", Shared(key), tag: tag(key), cost: key)
      if key == 999 { slab.addTimes(at: PackedTime(bits: 5)) }
      guard key >= 1_000 else { continue }
      let time = PackedTime(bits: UInt64(key))
      slab.times[slot.index] = SlotTimes(expiry: time, lastUse: time, lifetime: SlotTimes.fixed)
    }
    for key in 0..<count {
      let slot = slab.find("the key \(key)", tag: tag(key))
      let entry = slab.entries[slot.index]
      #expect(entry.key == "the key \(key)" && entry.value.value == key)
      let (expiry, lastUse) = (slab.times[slot.index].expiry, slab.lastUse(of: slot))
      // Those that were there before never expire and count as used at that time.
      #expect(expiry == (key < 1_000 ? .never : PackedTime(bits: UInt64(key))))
      #expect(lastUse == PackedTime(bits: key < 1_000 ? 5 : UInt64(key)))
    }
    slab.checkInvariants()
  }

  private struct Weak: Sendable {
    weak var object: Shared<Int>?
  }

  @Test func `values with weak references stay while columns grow and shrink`() {
    var objects = (0..<120_000).map { Shared($0) }
    var slab = Slab<Int, Weak>()
    for (key, object) in objects.enumerated() {
      _ = slab.insert(key, Weak(object: object), tag: tag(key), cost: 0)
    }
    for key in 1_000..<120_000 { _ = slab.remove(slab.find(key, tag: tag(key))) }
    // Leaves free slots among those that move.
    for key in 0..<1_000 where key % 3 == 0 { _ = slab.remove(slab.find(key, tag: tag(key))) }
    var slices = 0
    while slab.shrinkSlice() {
      slices += 1
      if slices % 8 == 1 { slab.checkInvariants() }
    }
    slab.checkInvariants()
    for key in 0..<1_000 where key % 3 > 0 {
      let value = slab.entries[slab.find(key, tag: tag(key)).index].value
      #expect(value.object === objects[key])
    }
    objects = []
    var kept = 0
    slab.forEach { kept += $0.value.object == nil ? 0 : 1 }
    #expect(kept == 0)
  }

  /// A slab of 600 entries left of 8,000, which takes several slices to shrink.
  ///
  /// - Parameter kept: The keys that are left, the most recently used first.
  private func sparse(_ kept: inout [Int]) -> Slab<Int, Int> {
    var slab = Slab<Int, Int>()
    var random = SeededRandom(seed: 5)
    for key in 0..<8_000 {
      let slot = slab.insert(key, -key, tag: tag(key), cost: key % 40 == 0 ? 1 << 33 : 1)
      if key == 0 { slab.addTimes(at: .zero) }
      slab.times[slot.index] = SlotTimes(
        expiry: PackedTime(bits: UInt64(key)), lastUse: .zero, lifetime: SlotTimes.fixed)
    }
    let left = Set((0..<8_000).shuffled(using: &random).prefix(600))
    for key in 0..<8_000 where !left.contains(key) {
      _ = slab.remove(slab.find(key, tag: tag(key)))
    }
    kept = left.sorted(by: >)
    return slab
  }

  private func keys(of slab: borrowing Slab<Int, Int>) -> [Int] {
    var keys: [Int] = []
    slab.forEach { entry in
      keys.append(entry.key)
      #expect(entry.value == -entry.key)
    }
    return keys
  }

  @Test func `a sparse slab moves to less memory in slices, in the order of use`() {
    var kept: [Int] = []
    var slab = sparse(&kept)
    var slices = 0
    while slab.shrinkSlice() {
      slices += 1
      slab.checkInvariants()
      let keys = keys(of: slab)
      #expect(keys == kept)
    }
    #expect(slices > 6)
    #expect(slab.links.capacity == 601 && slab.entries.capacity == 601)
    #expect(slab.times.capacity == 601 && slab.table.capacity == 768)
    for key in kept {
      let slot = slab.find(key, tag: tag(key))
      #expect(slab.times[slot.index].expiry == PackedTime(bits: UInt64(key)))
    }
  }

  @Test func `others store and remove between the slices of a shrink`() {
    var kept: [Int] = []
    var slab = sparse(&kept)
    var random = SeededRandom(seed: 11)
    var (next, slices) = (10_000, 0)
    while slab.shrinkSlice() {
      slices += 1
      for _ in 0..<10 {
        if Bool.random(using: &random) {
          let slot = slab.insert(next, -next, tag: tag(next), cost: 1)
          slab.times[slot.index] = SlotTimes(
            expiry: .never, lastUse: .zero, lifetime: SlotTimes.fixed)
          kept.insert(next, at: 0)
          next += 1
        } else if let place = kept.indices.randomElement(using: &random) {
          let key = kept.remove(at: place)
          let entry = slab.remove(slab.find(key, tag: tag(key)))
          #expect(entry.value == -key)
        }
        slab.checkInvariants()
      }
    }
    #expect(slices > 6 && slab.links.capacity < 2_000)
    let keys = keys(of: slab)
    #expect(keys == kept)
  }

  @Test(arguments: 0...12)
  func `a slab can be filled again at any point of a shrink`(_ slices: Int) {
    var kept: [Int] = []
    var slab = sparse(&kept)
    for _ in 0..<slices { _ = slab.shrinkSlice() }
    for key in 10_000..<22_000 {
      let slot = slab.insert(key, -key, tag: tag(key), cost: 1)
      slab.times[slot.index] = SlotTimes(expiry: .never, lastUse: .zero, lifetime: SlotTimes.fixed)
      kept.insert(key, at: 0)
    }
    slab.checkInvariants()
    var keys = keys(of: slab)
    #expect(keys == kept)
    // Not sparse any more, so nothing is cut off that is in use.
    while slab.shrinkSlice() {}
    #expect(slab.links.capacity > slab.end)
    slab.checkInvariants()
    keys = self.keys(of: slab)
    #expect(keys == kept)
  }

  @Test func `a sweep begins again when a shrink moves what it has not seen`() {
    var lru = LRU<Int, Int>()
    var removals = LarderMemory.Removals<Int, Int>()
    lru.keepTimes(from: .zero)
    for key in 0..<4_000 {
      let isLast = key >= 3_900
      _ = lru.store(
        key, forKey: key, tag: tag(key), cost: 1,
        deadline: SlotDeadline(
          expiry: PackedTime(bits: isLast ? 5 : 50), lifetime: SlotTimes.fixed),
        at: .zero, into: &removals)
    }
    for key in 0..<3_900 {
      _ = lru.remove(key, tag: tag(key), .explicit, at: .zero, into: &removals)
    }
    let now = PackedTime(bits: 9)
    let hasBegun = lru.beginSweep(at: now)
    let isUnfinished = lru.sweepSlice(at: now, into: &removals)
    #expect(hasBegun && isUnfinished)
    while lru.shrinkSlice() { lru.checkInvariants() }
    while lru.sweepSlice(at: now, into: &removals) {}
    #expect(lru.slab.count == 0)
  }

  @Test func `a store at the limit looks at a slice of what may have expired, and all go`() {
    var lru = LRU<Int, Int>()
    lru.settings.set(MemoryLimits(cost: nil, count: 4_000, age: nil, trimTarget: 1))
    var expiredCount = 0
    func store(_ key: Int, until expiry: UInt64, at now: UInt64) -> Int {
      var removals = LarderMemory.Removals<Int, Int>()
      let deadline = SlotDeadline(expiry: PackedTime(bits: expiry), lifetime: SlotTimes.fixed)
      _ = lru.store(
        key, forKey: key, tag: tag(key), cost: 1, deadline: deadline, at: PackedTime(bits: now),
        into: &removals)
      removals.forEach { if $0.cause == .expired { expiredCount += 1 } }
      return removals.count
    }
    lru.keepTimes(from: .zero)
    for key in 0..<4_000 { _ = store(key, until: 5, at: 0) }
    // The first room is made in a slice, and then a slice in each store as long as none is made.
    let counts = (4_000..<8_000).map { store($0, until: 50, at: 9) }
    #expect(counts[0] == LRU<Int, Int>.sliceCount && counts.allSatisfy { $0 <= counts[0] })
    #expect(expiredCount == 4_000 && lru.slab.count == 4_000)
    lru.checkInvariants()
  }
}

extension Slab {
  /// Calls a function with each entry, the most recently used first.
  fileprivate func forEach(_ body: (Entry) -> Void) {
    var slot = mostRecent
    while slot != .none {
      body(entries[slot.index])
      slot = next(after: slot)
    }
  }
}
