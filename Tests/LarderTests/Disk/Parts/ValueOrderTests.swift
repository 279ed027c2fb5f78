import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

/// The order of eviction by value, tested without threads or files.
struct `The order of value` {
  /// Returns an entry that was last used at a time, with a number of uses.
  private static func entry(
    _ number: Int, used seconds: Int64, uses: Int64 = 0, bytes: UInt64 = 100,
    allocated: UInt64 = 4096, expires: Int64? = nil
  ) -> IndexedEntry {
    var entry = IndexSample.entry(
      number, used: seconds, expires: expires, bytes: bytes, allocated: allocated)
    entry.lastAccess.nanoseconds = Int32(uses)
    return entry
  }

  /// Returns the numbers of what a plan takes at 1,000 s.
  private func taken(
    _ entries: [IndexedEntry], by measure: DiskCache.SizeMeasure = .bytes, byValue: Bool = true,
    _ change: (inout TrimPlan) -> Void = { $0.maximumSize = (0, .bytes) }
  ) -> [Int] {
    var index = IndexSample.index(entries, inClassesBy: measure)
    var plan = TrimPlan(now: Timestamp(seconds: 1_000))
    change(&plan)
    defer { index.checkInvariants() }
    return index.take(plan, byValue: byValue).numbers
  }

  @Test
  func `of one age the large go first, and a quarter of the age weighs as much as four sizes`() {
    let sizes = [1, 2, 3].map { Self.entry($0, used: 900, bytes: 64 << (2 * $0)) }
    #expect(taken(sizes) == [3, 2, 1])
    // Ages of 100, 201 and 403 s.
    let ages = [(1, 900, 1 << 12), (2, 799, 1 << 10), (3, 597, 1 << 8)] as [(Int, Int64, UInt64)]
    #expect(taken(ages.map { Self.entry($0, used: $1, bytes: $2) }) == [3, 2, 1])
    #expect(taken(ages.map { Self.entry($0, used: 2 * $1 - 1_000, bytes: $2) }) == [3, 2, 1])
  }

  @Test
  func `one use weighs as much as a quarter of the age, two as a ninth, three as a sixteenth`() {
    let just = [(1, 900, 0), (2, 599, 1), (3, 97, 2)] as [(Int, Int64, Int64)]
    #expect(taken(just.map { Self.entry($0, used: $1, uses: $2) }) == [3, 2, 1])
    let hardly = [(1, 900, 0), (2, 601, 1), (3, 103, 2)] as [(Int, Int64, Int64)]
    #expect(taken(hardly.map { Self.entry($0, used: $1, uses: $2) }) == [1, 2, 3])
    let most = [(1, 940, 0), (2, 39, 3), (3, 42, 3)] as [(Int, Int64, Int64)]
    #expect(taken(most.map { Self.entry($0, used: $1, uses: $2) }) == [2, 1, 3])
  }

  @Test func `nothing is worth so much that it stays for ever`() {
    let entries = [
      Self.entry(1, used: 0, uses: 3, bytes: 1), Self.entry(2, used: 999, bytes: 1_000),
    ]
    #expect(taken(entries) == [1, 2])
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5, 500, 999, 1_000, 1_003, 999_999_999] as [Int64])
  func `only nanoseconds of 000 to 003 are a number of uses`(nanoseconds: Int64) {
    let count = PackedTime(Timestamp(seconds: 5, nanoseconds: nanoseconds)).useCount
    let rest = Int(nanoseconds % 1_000)
    #expect(count == (rest <= 3 ? rest : 0))
  }

  @Test func `ties go by last use, then by name`() {
    let entries = [3, 1, 2].map { Self.entry($0, used: 900) }
    #expect(taken(entries) == [1, 2, 3])
    // Used ahead of the clock: no age at all.
    let ahead = [(1, 1_003), (2, 1_002), (3, 1_002)] as [(Int, Int64)]
    #expect(taken(ahead.map { Self.entry($0, used: $1) }) == [2, 3, 1])
  }

  @Test func `sizes from a power of two to the next count the same`() {
    let entries = [(1, 512), (2, 1_023), (3, 700)] as [(Int, UInt64)]
    #expect(taken(entries.map { Self.entry($0, used: 900 + Int64($0), bytes: $1) }) == [1, 2, 3])
    #expect(UseOrder.number(0, 0) == 0 && UseOrder.number(1, 3) == 3)
    #expect(UseOrder.number(IndexedEntry.maximumByteCount, 3) == UseOrder.classCount - 1)
  }

  @Test func `sizes are those of the measure`() {
    let entries = [
      Self.entry(1, used: 900, bytes: 10, allocated: 8192),
      Self.entry(2, used: 900, bytes: 4_000, allocated: 4096),
    ]
    #expect(taken(entries) == [2, 1])
    #expect(
      taken(entries, by: .allocatedBytes) { $0.maximumSize = (0, .allocatedBytes) } == [1, 2])
  }

  @Test func `for a limit on the number the size does not count`() {
    let entries = [
      Self.entry(1, used: 900, bytes: 1_000_000), Self.entry(2, used: 800, bytes: 1),
      Self.entry(3, used: 500, uses: 2, bytes: 1),
    ]
    #expect(taken(entries) { $0.maximumCount = 0 } == [2, 1, 3])
    #expect(taken(entries) == [1, 2, 3])
    #expect(taken(entries) { $0.byteCountToFree = .max } == [1, 2, 3])
  }

  @Test func `what has expired goes first, then what is too old, and what is protected stays`() {
    let entries = [
      Self.entry(1, used: 990, uses: 3, bytes: 1, expires: 999),
      Self.entry(2, used: 300, uses: 3, bytes: 1), Self.entry(3, used: 900, bytes: 1 << 20),
      Self.entry(4, used: 901, bytes: 1 << 20),
    ]
    let found = taken(entries) {
      $0.outdatedAccess = Timestamp(seconds: 300, nanoseconds: 3)
      $0.maximumSize = (1 << 20, .bytes)
      $0.protected = IndexSample.name(3)
    }
    #expect(found == [1, 2, 4])
  }

  @Test func `a trim takes nothing that was used after it began, and goes on past it`() {
    let entries = [
      Self.entry(1, used: 990, bytes: 1 << 30), Self.entry(2, used: 900), Self.entry(3, used: 980),
    ]
    #expect(taken(entries) { ($0.maximumCount, $0.lastUse) = (0, Timestamp(seconds: 950)) } == [2])
  }

  @Test func `without it the same index goes by use`() {
    let entries = [
      Self.entry(1, used: 900, bytes: 1 << 30), Self.entry(2, used: 800, uses: 3),
      Self.entry(3, used: 700, uses: 1),
    ]
    #expect(taken(entries, byValue: false) == [3, 2, 1])
    #expect(taken(entries) == [1, 3, 2])
  }

  @Test func `a use or another size moves an entry to another class, also a stuck one`() {
    var index = IndexSample.index(
      [Self.entry(1, used: 900), Self.entry(2, used: 901)], inClassesBy: .bytes)
    index.touch(IndexSample.name(1), at: Timestamp(seconds: 902, nanoseconds: 1))
    index.checkInvariants()
    #expect(index.mostRecentName == IndexSample.name(1))
    index.stick(IndexSample.name(2))
    #expect(index.mostRecentName == IndexSample.name(1))
    index.upsert(Self.entry(2, used: 901, bytes: 1 << 20), order: .byLastAccess)
    index.checkInvariants()
    index.upsert(Self.entry(1, used: 902, uses: 1, bytes: 0), order: .byLastAccess)
    index.checkInvariants()
    #expect(index.takeFirst(where: { _ in true }, if: { _ in true })?.name == IndexSample.name(2))
  }

  @Test(arguments: 0..<12 as Range<UInt64>)
  func `an index does what a naive one does`(seed: UInt64) {
    var run = ValueRun(seed: seed)
    for step in 0..<rounds(3_000) where !run.hasFailed { run.step(step) }
  }
}

/// Random operations on an index in classes of value and on a naive one.
private struct ValueRun {
  private var random: SeededRandom
  private var index: EntryIndex
  private var entries: [EntryName: IndexedEntry] = [:]
  private var log = UseLog()
  private var clock: Int64 = 1_000_000
  private let measure: DiskCache.SizeMeasure
  private(set) var hasFailed = false

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    measure = seed.isMultiple(of: 2) ? .bytes : .allocatedBytes
    index = EntryIndex(inClassesBy: measure)
  }

  mutating func step(_ number: Int) {
    clock += Int64.random(in: 0...2_000_000, using: &random)
    let name = IndexSample.name(Int.random(in: 0..<60, using: &random))
    let known = entries[name]
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<6: store(name, isNew: true)
    case 6..<9: store(name, isNew: false)
    case 9..<16:
      guard known != nil else { break }
      let time = time(min(3, (known?.useCount ?? 0) + 1))
      entries[name]?.lastAccess = time
      index.touch(name, at: time)
    case 16:
      index.remove(name)
      entries[name] = nil
    default: take(one: number.isMultiple(of: 3))
    }
    if number.isMultiple(of: 100), let contradiction = index.contradiction {
      hasFailed = true
      Issue.record("\(contradiction)")
    }
  }

  private mutating func time(_ useCount: Int) -> Timestamp {
    log.issueAccess(at: now, useCount: useCount)
  }

  private var now: Timestamp { Timestamp(seconds: 0, nanoseconds: clock * 1_000) }

  private mutating func store(_ name: EntryName, isNew: Bool) {
    let size = UInt64(1) << UInt64.random(in: 0...22, using: &random)
    var entry = IndexSample.entry(
      Int(name.digest.high), bytes: .random(in: 0...size, using: &random),
      allocated: size / 512 * 512)
    entry.lastAccess = time(isNew ? 0 : entries[name]?.useCount ?? 0)
    // A scan brings some late.
    if isNew, Bool.random(using: &random) {
      let age = Int64.random(in: 0...9_000_000, using: &random)
      let uses = Int64.random(in: 0...5, using: &random)
      entry.lastAccess = Timestamp(seconds: 0, nanoseconds: max(0, clock - age) * 1_000 + uses)
      index.upsert(entry, order: .byLastAccess)
    } else {
      index.upsert(entry, order: .mostRecent)
    }
    entries[name] = entry
  }

  /// Takes some, by size or by number.
  private mutating func take(one: Bool) {
    var plan = TrimPlan(now: now)
    let isByCount = Bool.random(using: &random)
    let count = max(0, entries.count - (one ? 1 : 5))
    if isByCount {
      plan.maximumCount = count
    } else {
      plan.byteCountToFree = one ? 1 : 40_000
    }
    let found = index.take(plan).map(\.entry)
    var wanted: [IndexedEntry] = []
    var freed: UInt64 = 0
    while isByCount ? entries.count > count : freed < plan.byteCountToFree,
      let next = next(isByCount: isByCount)
    {
      entries[next.name] = nil
      freed += next.allocatedByteCount
      wanted.append(next)
    }
    guard found != wanted else { return }
    hasFailed = true
    #expect(found.map(\.name) == wanted.map(\.name))
  }

  /// Returns the entry of the highest priority, by a look at all.
  private func next(isByCount: Bool) -> IndexedEntry? {
    entries.values.max { a, b in
      let (first, second) = (priority(a, isByCount), priority(b, isByCount))
      if first != second { return first < second }
      return a.lastAccess == b.lastAccess ? b.name < a.name : b.lastAccess < a.lastAccess
    }
  }

  private func priority(_ entry: IndexedEntry, _ isByCount: Bool) -> Double {
    let size = measure == .bytes ? entry.byteCount : entry.allocatedByteCount
    var power: UInt64 = 1
    while 2 * power <= size { power *= 2 }
    let age = Double(max(0, now.nanoseconds(since: entry.lastAccess)))
    let uses = Double(1 + entry.useCount)
    return age * (isByCount ? 1 : Double(power).squareRoot()) / (uses * uses)
  }
}

extension IndexedEntry {
  fileprivate var useCount: Int {
    let rest = Int(lastAccess.nanoseconds) % 1_000
    return rest <= 3 ? rest : 0
  }
}
