import LarderDigest
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// The laws of an index, one at a time; `EntryIndexModelTests` tests them together.
struct EntryIndexTests {
  @Test func `an index without entries answers everything`() {
    var index = EntryIndex()
    #expect(index.totals == IndexTotals())
    #expect(index.nextExpiry == nil)
    #expect(index.entry(named: IndexSample.name(1)) == nil)
    index.remove(IndexSample.name(1))
    #expect((index.touch(IndexSample.name(1), at: .never)) == false)
    #expect((index.setExpiry(.never, of: IndexSample.name(1))) == false)
    #expect(index.numbers() == [])
    #expect((index.takeExpired(at: .never) { _ in true }) == nil)
    #expect(index.contradiction == nil)
  }

  @Test func `what goes in comes out`() {
    let entry = IndexedEntry(
      name: IndexSample.name(9, extension: "json"), byteCount: 1 << 39 + 1,
      allocatedByteCount: 1 << 39, lastAccess: Timestamp(seconds: 5, nanoseconds: 999_999_999),
      expiry: Timestamp(seconds: 6, nanoseconds: 1), inode: .max,
      changeTime: Timestamp(seconds: 7, nanoseconds: 2),
      check: FileCheck(lifetime: .seconds(3), keyTag: 0xfed_cba9, hasData: false))
    let index = IndexSample.index([entry])
    #expect(index.entry(named: entry.name) == entry)
    #expect(index.totals.byteCount == 1 << 39 + 1 && index.totals.allocatedByteCount == 1 << 39)
  }

  @Test(arguments: [.never, .fixed, .unknown, .seconds(0), .seconds(.max - 4)] as [Lifetime])
  func `every lifetime is kept`(lifetime: Lifetime) {
    var entry = IndexSample.entry(1)
    entry.check = FileCheck(lifetime: lifetime, keyTag: 1, hasData: true)
    #expect(IndexSample.index([entry]).entry(named: entry.name)?.check == entry.check)
  }

  @Test func `a file is recognised as one key's by all 32 bits of the key's tag`() {
    var entry = IndexSample.entry(1)
    let tag: UInt32 = 0xfed_cba9
    entry.check = FileCheck(lifetime: .never, keyTag: tag, hasData: false)
    let index = IndexSample.index([entry])
    func isRecognised(_ tag: UInt32) -> Bool {
      index.verified(
        entry.name, inode: entry.inode, changeTime: entry.changeTime, keyTag: tag) != nil
    }
    #expect(isRecognised(tag))
    for bit in 0..<32 { #expect(!isRecognised(tag ^ 1 << bit), "bit \(bit)") }
  }

  @Test func `the tags of keys use all 32 bits`() {
    let tags: [UInt32] = (0..<1_000).map { CacheKey("key \($0)").tag }
    #expect(tags.reduce(0, |) == .max && tags.reduce(.max, &) == 0)
    // Two may be the same, in one of 8,600 runs.
    #expect(Set(tags).count >= tags.count - 1)
  }

  @Test func `the full name is the identity`() {
    var index = EntryIndex()
    for text in ["", "a", "b", "A", "01234567890123456789"] {
      var entry = IndexSample.entry(1, bytes: UInt64(text.utf8.count))
      entry.name = IndexSample.name(1, extension: text)
      #expect((index.upsert(entry, order: .mostRecent)) == false)
    }
    #expect(index.totals.count == 5)
    index.remove(IndexSample.name(1, extension: "b"))
    #expect(index.totals.byteCount == 22)
    #expect(index.contains(IndexSample.name(1, extension: "A")))
    #expect(!index.contains(IndexSample.name(1, extension: "b")))
  }

  @Test func `an entry is replaced, not added`() {
    var index = IndexSample.index([IndexSample.entry(1, expires: 50, bytes: 10)])
    var newer = IndexSample.entry(1, bytes: 30, allocated: 512)
    newer.inode = 9
    let replaces = (0..<2).map { _ in index.upsert(newer, order: .mostRecent) }
    #expect(replaces == [true, false])
    #expect(index.totals == IndexTotals(byteCount: 30, allocatedByteCount: 512))
    #expect(index.nextExpiry == nil)
  }

  @Test func `use moves an entry to the end, whatever the clock says`() {
    var index = IndexSample.index((1...3).map { IndexSample.entry($0, used: Int64($0)) })
    index.touch(IndexSample.name(1), at: Timestamp(seconds: -5))
    #expect(index.numbers() == [2, 3, 1])
    index.upsert(IndexSample.entry(2, used: 0), order: .mostRecent)
    #expect(index.numbers() == [3, 1, 2])
  }

  @Test func `what a scan brings is placed by its stamp`() {
    let stamps: [Int64] = [50, 10, 40, 20, 30]
    let entries = stamps.map { IndexSample.entry(Int($0), used: $0) }
    var index = IndexSample.index(entries)
    #expect(index.numbers() == [10, 20, 30, 40, 50])
    index.upsert(IndexSample.entry(25, used: 25), order: .byLastAccess)
    index.upsert(IndexSample.entry(5, used: 5), order: .byLastAccess)
    index.upsert(IndexSample.entry(60, used: 60), order: .byLastAccess)
    #expect(index.numbers() == [5, 10, 20, 25, 30, 40, 50, 60])
  }

  @Test func `a scan that finds the stamp that is known leaves the order`() {
    var index = EntryIndex()
    for number in 1...3 {
      index.upsert(IndexSample.entry(number, used: Int64(-number)), order: .mostRecent)
    }
    let before = index.numbers()
    index.upsert(IndexSample.entry(2, used: -2, bytes: 5), order: .byLastAccess)
    #expect(index.numbers() == before)
  }

  @Test func `strays can be used and removed before they have their place`() {
    var index = IndexSample.index(
      [9, 1, 2, 3, 4, 5].map { IndexSample.entry($0, used: Int64($0)) })
    for number in [1, 3, 5] { index.remove(IndexSample.name(number)) }
    index.touch(IndexSample.name(2), at: Timestamp(seconds: 10))
    #expect(index.contradiction == nil)
    #expect(index.numbers() == [4, 9, 2])
  }

  @Test func `the most recent entry is the last of those that came in order`() {
    var index = EntryIndex()
    #expect(index.mostRecentName == nil)
    index = IndexSample.index([1, 5, 3].map { IndexSample.entry($0, used: Int64($0)) })
    #expect(index.mostRecentName == IndexSample.name(5))
    index.remove(IndexSample.name(5))
    #expect(index.mostRecentName == IndexSample.name(1))
    index.upsert(IndexSample.entry(9, used: 2), order: .mostRecent)
    #expect(index.mostRecentName == IndexSample.name(9))
    // Another process's file with an earlier use has the name.
    index.upsert(IndexSample.entry(9, used: 0), order: .byLastAccess)
    #expect(index.mostRecentName == IndexSample.name(1))
  }

  @Test func `ties are settled again when the order changes among them`() {
    var index = EntryIndex()
    for number in [3, 5, 7] { index.upsert(IndexSample.entry(number), order: .mostRecent) }
    var plan = TrimPlan(now: Timestamp(seconds: 0), protected: nil)
    plan.maximumCount = 2
    #expect(index.take(plan).evicted.numbers == [3])
    index.upsert(IndexSample.entry(1), order: .mostRecent)
    #expect(index.take(plan).evicted.numbers == [1])
    index.upsert(IndexSample.entry(6), order: .byLastAccess)
    #expect(index.take(plan).evicted.numbers == [5])
    #expect(index.numbers() == [6, 7])
  }

  // With a walk for each victim this takes many minutes, without one a second.
  @Test(.watched)
  func `a victim costs no walk through those that share its stamp`() {
    let (tied, others) = (40_000, 4_000)
    var index = IndexSample.index(
      (0..<tied + others).map { IndexSample.entry($0, used: $0 < tied ? 10 : Int64(20 + $0)) })
    for number in 0..<others {
      // The entry after the ties is used and moves to the end, so that nothing separates the ties
      // from the rest.
      index.touch(IndexSample.name(tied + number), at: Timestamp(seconds: 100_000 + Int64(number)))
      let first = index.takeFirst(where: { _ in true }, if: { _ in true })
      #expect(first?.name == IndexSample.name(number))
    }
    #expect(index.contradiction == nil)
  }

  @Test func `the next expiry is the earliest there is`() {
    var index = IndexSample.index([
      IndexSample.entry(1, expires: 30), IndexSample.entry(2, expires: 20), IndexSample.entry(3),
    ])
    #expect(index.nextExpiry == Timestamp(seconds: 20))
    index.setExpiry(Timestamp(seconds: 40), of: IndexSample.name(2))
    #expect(index.nextExpiry == Timestamp(seconds: 30))
    index.setExpiry(.never, of: IndexSample.name(1))
    #expect(index.nextExpiry == Timestamp(seconds: 40))
    index.remove(IndexSample.name(2))
    #expect(index.nextExpiry == nil)
  }

  @Test func `the expired are taken in the order of their expiry`() {
    var index = IndexSample.index(
      (1...100).map { IndexSample.entry($0, expires: Int64($0 * 37 % 101)) })
    let victims = index.take(
      TrimPlan(now: Timestamp(seconds: 50), protected: IndexSample.name(1)))
    #expect(victims.numbers.map { $0 * 37 % 101 } == (1...50).filter { $0 != 37 })
    #expect(index.nextExpiry == Timestamp(seconds: 37))
    #expect(index.contradiction == nil)
  }

  @Test(arguments: [true, false])
  func `entries that are passed over keep their places`(areStrays: Bool) {
    var index = EntryIndex()
    if areStrays { index.upsert(IndexSample.entry(99, used: 99), order: .byLastAccess) }
    for number in areStrays ? [3, 1, 2, 5, 4] : [1, 2, 3, 4, 5] {
      index.upsert(
        IndexSample.entry(number, used: Int64(number), expires: Int64(10 + number)),
        order: .byLastAccess)
    }
    let held = [1, 2, 4].map { IndexSample.name($0) }
    let least = index.takeFirst(where: { !held.contains($0) }, if: { _ in true })
    #expect(least?.name == IndexSample.name(3) && index.contradiction == nil)
    #expect(index.numbers().filter { $0 < 99 } == [1, 2, 4, 5])
    let expired = index.takeExpired(at: Timestamp(seconds: 50)) { !held.contains($0) }
    #expect(expired?.name == IndexSample.name(5) && index.contradiction == nil)
    #expect(index.numbers().filter { $0 < 99 } == [1, 2, 4])
    #expect(index.nextExpiry == Timestamp(seconds: 11))
    let none = index.takeFirst(where: { _ in true }, if: { $0 < Timestamp(seconds: 1) })
    #expect(none == nil && index.numbers().filter { $0 < 99 } == [1, 2, 4])
  }

  @Test func `a stuck entry is counted, and is not chosen until something is learned of it`() {
    let entries = (1...6).map { IndexSample.entry($0, used: Int64($0), expires: 10) }
    var index = IndexSample.index(entries)
    for entry in entries { index.stick(entry.name) }
    #expect(index.totals.count == 6 && index.stuckTotals == index.totals)
    #expect(index.contradiction == nil)
    #expect(index.entry(named: entries[0].name) == entries[0])
    #expect(index.take(TrimPlan(now: Timestamp(seconds: 50), protected: nil)).isEmpty)
    index.upsert(entries[0], order: .byLastAccess)
    index.touch(entries[1].name, at: Timestamp(seconds: 20))
    index.setExpiry(Timestamp(seconds: 30), of: entries[2].name)
    index.touch(entries[3].name, at: Timestamp(seconds: 4), order: .byLastAccess)
    index.remove(entries[4].name)
    #expect(index.stuckTotals.count == 1 && index.contradiction == nil)
    #expect(index.nextExpiry == Timestamp(seconds: 10))
    while index.unstickSome() {}
    #expect(index.stuck.nodes.count == 0 && index.stuckTotals == IndexTotals())
    #expect(index.contradiction == nil)
    #expect(index.numbers() == [1, 3, 4, 6, 2])
  }

  @Test func `a snapshot stays as it was while the index changes`() {
    var index = IndexSample.index((1...5_000).map { IndexSample.entry($0, used: Int64($0)) })
    let snapshot = index
    for number in 1...5_000 where number % 3 > 0 { index.remove(IndexSample.name(number)) }
    #expect(snapshot.numbers() == Array(1...5_000))
    #expect(index.totals.count == 1_666)
    #expect(index.contradiction == nil)
  }

  @Test func `everything can be removed and added again`() {
    var index = IndexSample.index((1...3_000).map { IndexSample.entry($0, expires: 5) })
    index = EntryIndex()
    #expect(index.totals.count == 0 && index.totals.byteCount == 0 && index.nextExpiry == nil)
    index.upsert(IndexSample.entry(1), order: .mostRecent)
    #expect(index.numbers() == [1])
  }

  @Test func `a length counts as 1 TiB at most`() {
    var index = EntryIndex()
    for (number, bytes) in zip(1..., [1 << 32, 1 << 40 - 1, 1 << 40, 1 << 62] as [UInt64]) {
      let entry = IndexSample.entry(number, bytes: bytes, allocated: bytes)
      index.upsert(
        IndexedEntry(name: entry.name, status: IndexSample.status(of: entry)), order: .mostRecent)
      #expect(index.entry(named: IndexSample.name(number))?.byteCount == min(bytes, 1 << 40 - 1))
    }
    #expect(index.totals.byteCount == 1 << 32 + 3 * (1 << 40 - 1))
    for number in 1...3 { index.remove(IndexSample.name(number)) }
    #expect(index.totals.byteCount == 1 << 40 - 1)
    #expect(index.totals.allocatedByteCount == (1 << 31 - 1) * 512)
  }

  @Test func `totals beyond 64 bits neither trap nor lose count`() {
    let entry = IndexTotals(byteCount: 1 << 40 - 1, allocatedByteCount: 1 << 40 - 512)
    var (totals, added) = (entry, [IndexTotals]())
    for _ in 0..<30 {
      added.append(totals)
      totals += added[added.count - 1]
    }
    #expect(totals.byteCount == .max && totals.allocatedByteCount == .max)
    for part in added { totals -= part }
    #expect(totals == entry)
  }
}
