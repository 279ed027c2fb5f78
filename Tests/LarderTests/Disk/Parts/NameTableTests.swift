import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// The table of names and its parts.
struct NameTableTests {
  private func longestChain(_ table: NameTable<Void>) -> Int {
    (0..<table.buckets.count).map { bucket in
      var length = 0
      var slot = table.buckets[bucket]
      while slot != .none {
        length += 1
        slot = table.identities[slot].next
      }
      return length
    }.max() ?? 0
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5, 7, 8, 9, 1_000, 1_023, 1_024, 1_025, 10_000])
  func `a table of any size finds every name and no other`(count: Int) {
    var table = NameTable<Void>()
    let slots = (0..<count).map { table.insert(IndexSample.name($0), ()) }
    #expect(Set(slots).count == count && table.count == count && table.buckets.count == count)
    #expect((0..<count).allSatisfy { table.slot(of: IndexSample.name($0)) == slots[$0] })
    #expect((count..<count + 100).allSatisfy { table.slot(of: IndexSample.name($0)) == nil })
    #expect(slots.enumerated().allSatisfy { table.name(of: $1) == IndexSample.name($0) })
  }

  @Test func `the slots of removed names are given to new ones`() {
    var table = NameTable<Void>()
    let slots = (0..<1_000).map { table.insert(IndexSample.name($0), ()) }
    for slot in slots { table.remove(slot) }
    let again = (0..<1_000).map { table.insert(IndexSample.name($0 + 5_000), ()) }
    #expect(Set(again) == Set(slots) && table.buckets.count == 1_000)
  }

  /// Names that differ in few bits, in bits of one end only, or in the extension only.
  static let chosenNames: [(what: String, name: @Sendable (Int) -> EntryName)] = [
    ("the first digits", { EntryName(MD5Digest(high: UInt64($0) << 50, low: 0)) }),
    ("the middle", { EntryName(MD5Digest(high: UInt64($0), low: 0)) }),
    ("the last digits", { EntryName(MD5Digest(high: 0, low: UInt64($0))) }),
    ("the top of the last word", { EntryName(MD5Digest(high: 0, low: UInt64($0) << 50)) }),
    ("both words alike", { EntryName(MD5Digest(high: UInt64($0), low: UInt64($0))) }),
    ("the extension", { IndexSample.name(0, extension: String($0)) }),
  ]

  @Test(arguments: chosenNames.indices)
  func `no choice of names makes long chains`(choice: Int) {
    var table = NameTable<Void>()
    for number in 0..<16_384 { _ = table.insert(Self.chosenNames[choice].name(number), ()) }
    #expect(table.count == 16_384)
    #expect(longestChain(table) < 16, "\(Self.chosenNames[choice].what)")
  }

  @Test func `a number is told from others by all its 24 bits`() {
    var table = NameTable<Void>()
    let slots = (0..<70_000).map { table.insert(IndexSample.name(1, extension: "\($0)"), ()) }
    #expect(Set(slots).count == 70_000 && table.count == 70_000)
    #expect(
      slots.enumerated().allSatisfy { number, slot in
        let name = IndexSample.name(1, extension: "\(number)")
        return table.slot(of: name) == slot && table.name(of: slot) == name
      })
    table.remove(slots[9])
    #expect(table.slot(of: IndexSample.name(1, extension: "9")) == nil)
    #expect(table.insert(IndexSample.name(1, extension: "more"), ()) == slots[9])
    for slot in slots { table.remove(slot) }
    #expect(table.count == 0 && table.slot(of: IndexSample.name(1, extension: "70")) == nil)
  }

  @Test func `an exclusive cache beside 70,000 other extensions keeps its limit`() throws {
    let scene = try DiskScene()
    let cache = try scene.open {
      ($0.mode, $0.fileExtension, $0.sizeLimit) = (.exclusive, "json", 1 << 16)
    }
    #expect(try cache.count() == 0)
    cache.engine.withState { state in
      // The latest use comes first, so that all others go by their stamps, after what is stored.
      for number in (0..<70_000).reversed() {
        var entry = IndexSample.entry(1, used: 1 << 33 + Int64(number), bytes: 0)
        entry.name = IndexSample.name(1, extension: "\(number)")
        state.catalog.index.upsert(entry, order: .byLastAccess)
      }
      state.catalog.index.remove(IndexSample.name(1, extension: "69999"))
    }
    for number in 0..<20 {
      #expect(try cache.store(Array(repeating: 1, count: 10_000), forKey: "\(number)") == .stored)
      #expect(try cache.totalSize() <= 1 << 16)
    }
    try cache.flush()
    #expect(try cache.totalSize() == cache.survey().byteCount)
    #expect(try cache.value(forKey: "19")?.count == 10_000)
    #expect(try cache.value(forKey: "none") == nil)
    try cache.close()
  }
}

extension EntryName {
  fileprivate init(_ digest: MD5Digest) {
    self.init(digest: digest, fileExtension: .none)
  }
}
