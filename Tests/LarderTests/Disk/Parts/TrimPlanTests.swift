import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// Tables of limits and the victims that they demand.
///
/// The index of the tables has entries 1 to 6. They were used at seconds 10, 20, …, 60, have 100
/// bytes times their number and take one block of 4 KiB each. Entries 2 and 5 expire at second
/// 1,000. Together they have 2,100 bytes of values, and 24,576 on disk.
struct TrimPlanTests {
  private static let entries = (1...6).map { number in
    IndexSample.entry(
      number, used: Int64(number) * 10, expires: [2, 5].contains(number) ? 1_000 : nil,
      bytes: UInt64(number) * 100)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var now: Int64 = 999
    var protected: Int?
    var bytes: UInt64?
    var allocated: UInt64?
    var count: Int?
    var outdated: Int64?
    var free: UInt64 = 0
    var lastUse: Int64?
    var takesAllExpired = true
    var expired: [Int] = []
    var evicted: [Int] = []

    init(_ description: String, _ set: (inout Row) -> Void) {
      testDescription = description
      set(&self)
    }

    var plan: TrimPlan {
      var plan = TrimPlan(
        now: Timestamp(seconds: now), protected: protected.map { IndexSample.name($0) })
      plan.maximumSize = bytes.map { ($0, .bytes) } ?? allocated.map { ($0, .allocatedBytes) }
      plan.maximumCount = count
      plan.outdatedAccess = outdated.map { Timestamp(seconds: $0) }
      plan.byteCountToFree = free
      plan.lastUse = lastUse.map { Timestamp(seconds: $0) }
      plan.takesAllExpired = takesAllExpired
      return plan
    }
  }

  static let rows = [
    Row("nothing set, nothing expired") { _ in },
    Row("the second of expiry is expired") {
      $0.now = 1_000; $0.expired = [2, 5]
    },
    Row("the expired one that is protected stays") {
      ($0.now, $0.protected, $0.expired) = (1_000, 5, [2])
    },
    Row("bytes: exactly at the maximum nothing goes") { $0.bytes = 2_100 },
    Row("bytes: one below takes the oldest") { ($0.bytes, $0.evicted) = (2_099, [1]) },
    Row("bytes: until it fits") { ($0.bytes, $0.evicted) = (1_500, [1, 2, 3]) },
    Row("bytes: zero takes all") { ($0.bytes, $0.evicted) = (0, [1, 2, 3, 4, 5, 6]) },
    Row("bytes: zero spares the protected one") {
      ($0.bytes, $0.protected, $0.evicted) = (0, 1, [2, 3, 4, 5, 6])
    },
    Row("bytes: the protected one counts") {
      ($0.bytes, $0.protected, $0.evicted) = (1_500, 2, [1, 3, 4])
    },
    Row("bytes: what expired counts first") {
      ($0.now, $0.bytes, $0.expired, $0.evicted) = (1_000, 1_300, [2, 5], [1])
    },
    Row("bytes: what expired may be enough") {
      ($0.now, $0.bytes, $0.expired) = (1_000, 1_400, [2, 5])
    },
    Row("allocated bytes: rounded up to whole entries") {
      ($0.allocated, $0.evicted) = (24_575 - 4_096, [1, 2])
    },
    Row("allocated bytes: exactly at the maximum") { $0.allocated = 24_576 },
    Row("count: down to it") { ($0.count, $0.evicted) = (4, [1, 2]) },
    Row("count: zero takes all") { ($0.count, $0.evicted) = (0, [1, 2, 3, 4, 5, 6]) },
    Row("count: one, with the protected one alone left") {
      ($0.count, $0.protected, $0.evicted) = (0, 6, [1, 2, 3, 4, 5])
    },
    Row("count: the expired ones count") {
      ($0.now, $0.count, $0.expired, $0.evicted) = (1_000, 3, [2, 5], [1])
    },
    Row("age: what was used just then goes") { ($0.outdated, $0.evicted) = (30, [1, 2, 3]) },
    Row("age: what was used after that stays") { ($0.outdated, $0.evicted) = (29, [1, 2]) },
    Row("age: the protected one stays and hides none behind it") {
      ($0.outdated, $0.protected, $0.evicted) = (29, 1, [2])
    },
    Row("free: one byte takes one entry") { ($0.free, $0.evicted) = (1, [1]) },
    Row("free: one byte more than an entry takes two") { ($0.free, $0.evicted) = (4_097, [1, 2]) },
    Row("free: the expired ones count") {
      ($0.now, $0.free, $0.expired, $0.evicted) = (1_000, 12_288, [2, 5], [1])
    },
    Row("free: more than there is takes all") {
      ($0.free, $0.evicted) = (.max, [1, 2, 3, 4, 5, 6])
    },
    Row("several: until the last of them holds") {
      ($0.bytes, $0.count, $0.outdated, $0.free) = (2_000, 5, 35, 8_192)
      $0.evicted = [1, 2, 3]
    },
    Row("what was used after the beginning stays") {
      ($0.count, $0.lastUse, $0.evicted) = (0, 30, [1, 2, 3])
    },
    Row("down to a limit and no further, the expired first") {
      ($0.now, $0.bytes, $0.takesAllExpired, $0.expired) = (1_000, 1_500, false, [2, 5])
    },
    Row("down to a limit that is kept, expired entries stay") {
      ($0.now, $0.bytes, $0.takesAllExpired) = (1_000, 2_100, false)
    },
    Row("a protected name that is not there") {
      ($0.count, $0.protected, $0.evicted) = (5, 77, [1])
    },
  ]

  @Test(arguments: rows)
  func `a plan takes the expired and then the least recently used until all limits hold`(
    row: Row
  ) {
    var index = IndexSample.index(Self.entries.shuffled())
    let taken = index.take(row.plan)
    #expect(Set(taken.expired.numbers) == Set(row.expired))
    #expect(taken.evicted.numbers == row.evicted)
    let gone = Set(row.expired + row.evicted)
    #expect(index.numbers() == (1...6).filter { !gone.contains($0) })
    #expect(index.contradiction == nil)
  }

  @Test(arguments: rows)
  func `a plan that was carried out takes nothing more`(row: Row) {
    guard row.free == 0 else { return }
    var index = IndexSample.index(Self.entries)
    _ = index.take(row.plan)
    let again = index.take(row.plan)
    #expect(again.isEmpty)
  }

  @Test func `what has the same last access goes by name`() {
    var index = IndexSample.index([5, 1, 4, 2, 3].map { IndexSample.entry($0, used: 9) })
    var plan = TrimPlan(now: Timestamp(seconds: 0), protected: IndexSample.name(2))
    plan.maximumCount = 2
    #expect(index.take(plan).evicted.numbers == [1, 3, 4])
  }

  @Test func `a victim carries what proves its file`() {
    let entry = IndexSample.entry(3, bytes: 77, allocated: 8_192)
    var index = IndexSample.index([entry])
    var plan = TrimPlan(now: Timestamp(seconds: 0), protected: nil)
    plan.maximumCount = 0
    #expect(index.take(plan) == [Victim(entry: entry, cause: .evicted)])
  }

  @Test(arguments: [
    (DiskCache.SizeMeasure.bytes, [1, 2, 3]), (.allocatedBytes, [1, 2, 3, 4, 5, 6]),
  ])
  func `the measure decides which bytes are limited`(
    measure: DiskCache.SizeMeasure, victims: [Int]
  ) {
    var index = IndexSample.index(Self.entries)
    var plan = TrimPlan(now: Timestamp(seconds: 0), protected: nil)
    plan.maximumSize = (1_500, measure)
    #expect(index.take(plan).evicted.numbers == victims)
  }

  static let targets: [(limit: Int, share: Double, target: UInt64)] = [
    (100, 0.5, 50), (99, 0.5, 49), (0, 0.5, 0), (100, 0, 0), (100, 1, 100), (100, 2, 100),
    (100, -1, 0), (100, .nan, 0), (.max, 1, UInt64(Int.max)), (.max, 0.5, 1 << 62),
    (100, 0.999, 99), (1 << 40, 0.25, 1 << 38),
  ]

  @Test func `what cannot be removed stays beside the share of the rest`() {
    #expect(TrimPlan.target(100, 0.5, stuck: 60) == 80)
    #expect(TrimPlan.target(100, 0, stuck: 60) == 60)
    #expect(
      TrimPlan.target(100, 0.5, stuck: 100) == 100 && TrimPlan.target(100, 1, stuck: 130) == 130)
  }

  @Test(arguments: targets)
  func `a total above its limit comes down to a share of it, rounded down`(
    limit: Int, share: Double, target: UInt64
  ) {
    #expect(TrimPlan.target(limit, share) == target)
  }
}
