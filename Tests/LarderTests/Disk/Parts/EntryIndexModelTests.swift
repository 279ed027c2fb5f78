import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// Seeded random operations on an index and on a naive one, which must give the same results.
struct EntryIndexModelTests {
  @Test(arguments: 0..<8 as Range<UInt64>)
  func `an index does what a naive one does, whatever the operations`(seed: UInt64) {
    var run = Run(seed: seed, nameCount: 40)
    for step in 0..<rounds(4_000) where !run.hasFailed {
      run.step()
      if step % 50 == 0 { run.compare() }
    }
  }

  @Test(arguments: 100..<104 as Range<UInt64>)
  func `an index of many entries does what a naive one does`(seed: UInt64) {
    var run = Run(seed: seed, nameCount: 1_500)
    for step in 0..<3_000 where !run.hasFailed {
      run.store()
      if step % 10 == 0 { run.step() }
      if step % 500 == 0 { run.compare() }
    }
    run.compare()
  }

  @Test(arguments: 200..<220 as Range<UInt64>)
  func `an index of extremes does what a naive one does`(seed: UInt64) {
    var run = Run(seed: seed, nameCount: 12, isExtreme: true)
    for _ in 0..<rounds(250) where !run.hasFailed {
      run.step()
      run.compare()
    }
  }
}

/// A run of random operations.
private struct Run {
  let seed: UInt64
  let nameCount: Int
  let isExtreme: Bool
  private(set) var hasFailed = false
  private var random: SeededRandom
  private var index = EntryIndex()
  private var model = NaiveIndex()
  private var clock: Int64 = 1_000

  init(seed: UInt64, nameCount: Int, isExtreme: Bool = false) {
    (self.seed, self.nameCount, self.isExtreme) = (seed, nameCount, isExtreme)
    random = SeededRandom(seed: seed)
  }

  mutating func step() {
    clock += Int64.random(in: -1...3, using: &random)
    switch Int.random(in: 0..<200, using: &random) {
    case 0..<70: store()
    case 70..<120: touch()
    case 120..<155: setExpiry()
    case 155..<160: find()
    case 160..<165: verify()
    case 165..<190: remove()
    case 190..<199: trim()
    default: removeAll()
    }
  }

  mutating func store() {
    let entry = entry()
    let order: EntryIndex.Placement = Bool.random(using: &random) ? .mostRecent : .byLastAccess
    expect(index.upsert(entry, order: order), model.upsert(entry, order: order), "upsert")
  }

  private mutating func touch() {
    let (name, time) = (name(), time())
    expect(index.touch(name, at: time), model.touch(name, at: time), "touch")
  }

  private mutating func setExpiry() {
    let (name, time) = (name(), time())
    let isThere = model.change(name) { $0.expiry = time }
    expect(index.setExpiry(time, of: name), isThere, "setExpiry")
  }

  /// Notes that a file was checked: mostly the one that is known, with one difference or none.
  private mutating func verify() {
    var checked = entry()
    if let known = model.entries[checked.name] {
      let other = checked
      checked = known
      switch Int.random(in: 0..<8, using: &random) {
      case 0: checked.inode = other.inode
      case 1: checked.changeTime = other.changeTime
      case 2: checked.byteCount = other.byteCount
      case 3: checked.allocatedByteCount = other.allocatedByteCount
      case 4: checked.expiry = other.expiry
      default: break
      }
      checked.check = other.check ?? checked.check
    }
    var isKnown = false
    if var known = model.entries[checked.name] {
      known.check = checked.counted.check
      isKnown = known == checked.counted
    }
    if isKnown { model.change(checked.name) { $0 = checked } }
    let slot = index.recordCheck(of: checked)
    expect(slot == index.slot(of: checked.name) && slot != nil, isKnown, "verify")
  }

  private mutating func find() {
    let (name, inode) = (name(), inode())
    let known = model.entries[name]
    let tag = Bool.random(using: &random) ? known?.check?.keyTag ?? 0 : 0
    let change = Bool.random(using: &random) ? time() : known?.changeTime ?? time()
    let isIt =
      known.map {
        $0.check?.keyTag == tag && $0.inode == inode && $0.changeTime == change.counted
      } ?? false
    let found = index.verified(name, inode: inode, changeTime: change, keyTag: tag)?.check
    expect(found, isIt ? known?.check : nil, "verified")
  }

  private mutating func remove() {
    let name = name()
    let known = index.entry(named: name)
    index.remove(name)
    expect(known, model.remove(name), "remove")
  }

  private mutating func removeAll() {
    index = EntryIndex()
    model.removeAll()
  }

  private mutating func trim() {
    let plan = plan()
    let (found, wanted) = (index.take(plan), model.take(plan))
    expect(Set(found.expired), Set(wanted.expired), "the expired")
    expect(found.expired.count, wanted.expired.count, "the expired, each once")
    expect(found.evicted, wanted.evicted, "the evicted")
  }
}

extension Run {
  private mutating func plan() -> TrimPlan {
    var plan = TrimPlan(
      now: Timestamp(seconds: clock), protected: Bool.random(using: &random) ? name() : nil)
    let share = UInt64.random(in: 60...110, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: plan.maximumSize = (model.byteCount / 100 * share, .bytes)
    case 1: plan.maximumSize = (model.allocatedByteCount / 100 * share, .allocatedBytes)
    case 2: plan.maximumCount = model.count * Int(share) / 100
    case 3: plan.outdatedAccess = Timestamp(seconds: clock - 20)
    case 4: plan.byteCountToFree = model.allocatedByteCount / 1_000 * share
    default: break
    }
    return plan
  }

  private mutating func name() -> EntryName {
    let number = Int.random(in: 0..<nameCount, using: &random)
    return IndexSample.name(number / 3, extension: ["", "json", "b"][number % 3])
  }

  private mutating func inode() -> UInt32 { UInt32.random(in: 1...2, using: &random) }

  private mutating func time() -> Timestamp {
    if isExtreme, let seconds = Self.extremes.randomElement(using: &random) {
      return Timestamp(seconds: seconds, nanoseconds: Bool.random(using: &random) ? 0 : 999_999_999)
    }
    return Timestamp(
      seconds: clock + Int64.random(in: -30...10, using: &random),
      nanoseconds: Int64.random(in: 0...1, using: &random))
  }

  private static let extremes: [Int64] = [
    .min, -1, 0, 1, 1 << 31, 1 << 33 - 1, 1 << 33, 1 << 34 - 1, 1 << 34, .max,
  ]

  private mutating func check() -> FileCheck? {
    let all: [Lifetime?] = [nil, .never, .fixed, .unknown, .seconds(0), .seconds(.max)]
    return all[Int.random(in: 0..<all.count, using: &random)].map {
      FileCheck(
        lifetime: $0, keyTag: .random(in: 0...(.max), using: &random),
        hasData: .random(using: &random))
    }
  }

  private mutating func entry() -> IndexedEntry {
    let most: UInt64 = isExtreme ? 1 << 40 - 1 : 10_000
    let isFinite = Bool.random(using: &random)
    return IndexedEntry(
      name: name(), byteCount: .random(in: 0...most, using: &random),
      allocatedByteCount: .random(in: 0...most, using: &random) / 512 * 512, lastAccess: time(),
      expiry: isFinite ? time() : .never, inode: inode(), changeTime: time(), check: check())
  }

  mutating func compare() {
    expect(index.contradiction, nil, "invariants")
    expect(index.totals.count, model.count, "count")
    expect(index.totals.byteCount, model.byteCount, "bytes")
    expect(index.totals.allocatedByteCount, model.allocatedByteCount, "allocated bytes")
    expect(index.nextExpiry, model.nextExpiry, "next expiry")
    for (name, entry) in model.entries { expect(index.entry(named: name), entry, "entry") }
    expect(index.entriesInOrder().map(\.name), model.namesInOrder(), "order")
  }

  private mutating func expect<Value: Equatable>(_ found: Value, _ wanted: Value, _ what: String) {
    guard found != wanted else { return }
    hasFailed = true
    #expect(found == wanted, "\(what), seed \(seed)")
  }
}
