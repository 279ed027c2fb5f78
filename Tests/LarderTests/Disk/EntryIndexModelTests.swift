import Testing

@testable import Larder

/// What the index does, done in the plainest way: an array in the order of last access.
private struct NaiveIndex {
  var order: [IndexedEntry] = []
  var strays: [IndexedEntry] = []

  var all: [IndexedEntry] { order + strays }

  mutating func remove(_ name: EntryName) {
    order.removeAll { $0.name == name }
    strays.removeAll { $0.name == name }
  }

  mutating func upsert(_ entry: IndexedEntry, _ placement: EntryIndex.Placement) {
    remove(entry.name)
    if placement == .mostRecent || order.last.map({ $0.lastAccess < entry.lastAccess }) ?? true {
      order.append(entry)
    } else {
      strays.append(entry)
    }
  }

  /// Every stray goes before the first in the order that does not come before it.
  mutating func settle() {
    var merged: [IndexedEntry] = []
    var waiting = strays.sorted(by: Self.comesBefore)[...]
    for entry in order {
      while let stray = waiting.first, Self.comesBefore(stray, entry) {
        merged.append(waiting.removeFirst())
      }
      merged.append(entry)
    }
    order = merged + waiting
    strays = []
  }

  private static func comesBefore(_ a: IndexedEntry, _ b: IndexedEntry) -> Bool {
    a.lastAccess == b.lastAccess ? a.name < b.name : a.lastAccess < b.lastAccess
  }

  mutating func takeExpired(at now: Timestamp, except name: EntryName?) -> Set<EntryName> {
    let gone = all.filter { $0.expiry < .never && $0.expiry <= now && $0.name != name }
    for entry in gone { remove(entry.name) }
    return Set(gone.map(\.name))
  }

  mutating func takeVictims(
    bytes: UInt64?, count: Int?, oldest: Timestamp?, except name: EntryName?
  ) -> [EntryName] {
    settle()
    var victims: [EntryName] = []
    for entry in order {
      let fits =
        order.map(\.byteCount).reduce(0, +) <= bytes ?? .max && order.count <= count ?? .max
        && oldest.map { entry.lastAccess >= $0 } ?? true
      if fits { break }
      if entry.name == name { continue }
      victims.append(entry.name)
      remove(entry.name)
    }
    return victims
  }
}

struct `The index` {
  private static func name(_ number: Int) -> EntryName {
    let extensions = ["", "json", "b"].compactMap { FileExtension(Array($0.utf8)) }
    return EntryName(
      digest: MD5Digest(high: UInt64(number / 3) << 60, low: UInt64(number)),
      fileExtension: extensions[number % 3])
  }

  private static let lifetimes: [Lifetime?] = [nil, .never, .fixed, .unknown, .seconds(9)]

  private static func entry(_ random: inout SeededRandom) -> IndexedEntry {
    let expiry = Timestamp(seconds: .random(in: 1000...1200, using: &random))
    return IndexedEntry(
      name: name(.random(in: 0..<60, using: &random)),
      byteCount: .random(in: 0...100, using: &random),
      allocatedByteCount: 512 * .random(in: 0...8, using: &random),
      lastAccess: Timestamp(seconds: .random(in: 1000...1030, using: &random)),
      expiry: Bool.random(using: &random) ? .never : expiry,
      inode: .random(in: 1...5, using: &random), changeTime: Timestamp(seconds: 1),
      lifetime: lifetimes[.random(in: 0..<5, using: &random)],
      isVerified: .random(using: &random), keyTag: .random(in: 0..<1 << 28, using: &random))
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `random operations give what a plain array gives`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var index = EntryIndex()
    var model = NaiveIndex()
    for step in 0..<400 {
      let comment: Comment = "seed \(seed), step \(step)"
      let number = Int.random(in: 0..<100, using: &random)
      let name = Self.name(.random(in: 0..<60, using: &random))
      switch number {
      case 0..<50:
        let entry = Self.entry(&random)
        let placement: EntryIndex.Placement = number < 25 ? .mostRecent : .byLastAccess
        let wasThere = model.all.contains { $0.name == entry.name }
        model.upsert(entry, placement)
        #expect(index.upsert(entry, order: placement) == wasThere, comment)
      case 50..<70:
        let expected = model.all.first { $0.name == name }
        model.remove(name)
        #expect(index.remove(name) == expected, comment)
      case 70..<80: restamp(name, &index, &model, &random)
      case 80..<86: take(&index, &model, &random, comment)
      case 86..<90:
        let now = Timestamp(seconds: .random(in: 990...1060, using: &random))
        let expected = model.takeExpired(at: now, except: name)
        let taken = index.takeExpired(at: now, except: name)
        #expect(Set(taken.map(\.name)) == expected, comment)
      case 90: (index, model) = (EntryIndex(), NaiveIndex())
      default: #expect(index.entry(named: name) == model.all.first { $0.name == name }, comment)
      }
      expectSame(&index, &model, step % 16 == 0, comment)
    }
  }

  private func restamp(
    _ name: EntryName, _ index: inout EntryIndex, _ model: inout NaiveIndex,
    _ random: inout SeededRandom
  ) {
    let inode = UInt64.random(in: 1...5, using: &random)
    let expiry = Timestamp(seconds: .random(in: 1000...1200, using: &random))
    let change = Timestamp(seconds: 2)
    index.restamp(name, inode: inode, changeTime: change, expiry: expiry)
    func stamped(_ entry: IndexedEntry) -> IndexedEntry {
      guard entry.name == name, entry.inode == inode else { return entry }
      var entry = entry
      (entry.changeTime, entry.expiry) = (change, expiry)
      return entry
    }
    model.order = model.order.map(stamped)
    model.strays = model.strays.map(stamped)
  }

  private func take(
    _ index: inout EntryIndex, _ model: inout NaiveIndex, _ random: inout SeededRandom,
    _ comment: Comment
  ) {
    let protected = Self.name(.random(in: 0..<60, using: &random))
    var plan = TrimPlan(now: Timestamp(seconds: 0), protected: protected)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: plan.maximumByteCount = .random(in: 0...2000, using: &random)
    case 1: plan.maximumCount = .random(in: 0...50, using: &random)
    default: plan.oldestAccess = Timestamp(seconds: .random(in: 1000...1030, using: &random))
    }
    let expected = model.takeVictims(
      bytes: plan.maximumByteCount, count: plan.maximumCount, oldest: plan.oldestAccess,
      except: protected)
    #expect(index.takeVictims(of: plan).map(\.name) == expected, comment)
  }

  private func expectSame(
    _ index: inout EntryIndex, _ model: inout NaiveIndex, _ settles: Bool, _ comment: Comment
  ) {
    index.checkInvariants()
    #expect(index.count == model.all.count, comment)
    #expect(index.byteCount == model.all.map(\.byteCount).reduce(0, +), comment)
    let earliest = model.all.map(\.expiry).filter { $0 < .never }.min()
    #expect(index.nextExpiry == earliest, comment)
    guard settles else { return }
    model.settle()
    #expect(index.entriesInOrder() == model.order, comment)
  }

  @Test func `forty thousand entries keep their invariants while they come and go`() {
    var random = SeededRandom(seed: 5)
    var index = EntryIndex()
    for number in 0..<40_000 {
      var entry = Self.entry(&random)
      entry.name = EntryName(
        digest: MD5Digest(high: random.next(), low: UInt64(number)), fileExtension: .none)
      index.upsert(entry, order: number % 3 == 0 ? .byLastAccess : .mostRecent)
    }
    index.checkInvariants()
    var plan = TrimPlan(now: Timestamp(seconds: 0), protected: nil)
    plan.maximumCount = 100
    #expect(index.takeVictims(of: plan).count == 39_900)
    index.checkInvariants()
  }

  @Test func `ties of last access go by name`() {
    var index = EntryIndex()
    var random = SeededRandom(seed: 1)
    for number in (0..<30).shuffled(using: &random) {
      var entry = Self.entry(&random)
      entry.name = Self.name(number)
      entry.lastAccess = Timestamp(seconds: 7)
      index.upsert(entry, order: .byLastAccess)
    }
    let names = index.entriesInOrder().map(\.name)
    #expect(names == names.sorted())
  }
}
