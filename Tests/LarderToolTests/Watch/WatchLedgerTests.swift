import Foundation
import Larder
import LarderTestSupport
import Testing

@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem
@testable import LarderTool

/// The events of a ledger, for entries that a real cache wrote with a manual clock.
struct WatchLedgerTests {
  let scene: Scene
  let cache: DiskCache
  static let now = WallClock.system.now()

  init() throws {
    scene = try Scene()
    cache = try DiskCache(
      directory: scene.root.appending(path: "c").path,
      configuration: DiskCache.Configuration(sizeLimit: nil))
    // Used in the order of their numbers, an hour apart.
    var commands = ""
    for number in 0..<20 {
      _ = try cache.store(Array("value".utf8), forKey: "\(number)", expiration: .days(3))
      let time = Self.now.seconds - Int64(20 - number) * 3600
      commands += "touch -a -d @\(time) c/\(file(number))\n"
    }
    _ = try scene.shell(commands)
  }

  private func file(_ number: Int) -> String {
    String(cache.path(forKey: "\(number)").split(separator: "/").last ?? "")
  }

  private func name(_ number: Int) throws -> EntryName {
    try #require(EntryName(Array(file(number).utf8)))
  }

  /// Returns the kinds of a ledger's events when some entries are removed.
  private func kinds(removing numbers: [Int], at offset: Int64 = 0) throws -> [WatchEvent.Kind] {
    var ledger = WatchLedger(try cache.entries(), at: Self.now)
    var sightings = WatchSightings()
    for number in numbers { sightings.add(.removed(try name(number))) }
    let events = ledger.take(sightings, at: Self.now.adding(seconds: offset))
    #expect(ledger.count == 20 - numbers.count && ledger.byteCount == 5 * ledger.count)
    return Array(events.map(\.kind).prefix(numbers.count))
  }

  @Test func `the least recently used are evicted, others removed, the expired swept`() throws {
    #expect(try kinds(removing: [0, 1, 2, 3]) == Array(repeating: .evicted, count: 4))
    #expect(try kinds(removing: Array(0..<10)) == Array(repeating: .evicted, count: 10))
    #expect(try kinds(removing: [15]) == [.removed])
    #expect(try kinds(removing: [19, 0]) == [.removed, .evicted])
    #expect(try kinds(removing: [15], at: 4 * 86_400) == [.swept])
  }

  @Test func `what is published is stored or replaced, what is stamped used`() throws {
    let known = try cache.entries().filter { $0.key != CacheKey(Array("7".utf8)) }
    var ledger = WatchLedger(known, at: Self.now)
    var sightings = WatchSightings()
    for number in [7, 8] {
      sightings.add(.removed(try name(number)))
      sightings.add(.published(try name(number)))
    }
    for number in [9, 10] { sightings.add(.stamped(try name(number))) }
    _ = try scene.shell("touch -a c/\(file(10))")
    for name in sightings.order { sightings.found[name] = try cache.entry(named: name) }
    let events = ledger.take(sightings, at: Self.now)
    #expect(events.map(\.kind) == [.stored, .replaced, .used])
    #expect(events.map(\.number) == [1, 2, 3] && ledger.count == 20 && ledger.byteCount == 100)
  }

  @Test func `an expiry is told once, when it passes`() throws {
    var ledger = WatchLedger(try cache.entries(), at: Self.now)
    let nothing = WatchSightings()
    #expect(ledger.take(nothing, at: Self.now).isEmpty)
    let later = Self.now.adding(seconds: 4 * 86_400)
    #expect(ledger.take(nothing, at: later).map(\.kind) == Array(repeating: .expired, count: 20))
    #expect(ledger.take(nothing, at: later).isEmpty)
  }

  /// Returns the events of a look that finds the file of a number stamped.
  private func stamp(
    _ number: Int, in ledger: inout WatchLedger, at now: Timestamp
  ) throws -> [WatchEvent.Kind] {
    var sightings = WatchSightings()
    sightings.add(.stamped(try name(number)))
    sightings.found[try name(number)] = try cache.entry(named: name(number))
    return ledger.take(sightings, at: now).map(\.kind)
  }

  @Test func `an expiry is told beside a use, and anew for another expiry`() throws {
    var ledger = WatchLedger(try cache.entries(), at: Self.now)
    let later = Self.now.adding(seconds: 4 * 86_400)
    let expired = Array(repeating: WatchEvent.Kind.expired, count: 20)
    _ = try scene.shell("touch -a c/\(file(10))")
    #expect(try stamp(10, in: &ledger, at: later) == [.used] + expired)
    _ = try scene.shell("touch -a -d @0 c/\(file(10))")
    #expect(try stamp(10, in: &ledger, at: later) == [.used])
    _ = try scene.shell("touch -m -d @\(later.seconds + 9) c/\(file(10))")
    #expect(try stamp(10, in: &ledger, at: later) == [.used])
    #expect(ledger.take(WatchSightings(), at: later.adding(seconds: 8)).isEmpty)
    #expect(ledger.take(WatchSightings(), at: later.adding(seconds: 9)).map(\.kind) == [.expired])
  }

  @Test func `an expiry that is moved into the past is told once`() throws {
    var ledger = WatchLedger(try cache.entries(), at: Self.now)
    _ = try scene.shell("touch -m -d @\(Self.now.seconds - 9) c/\(file(10))")
    #expect(try stamp(10, in: &ledger, at: Self.now) == [.expired])
    #expect(try stamp(10, in: &ledger, at: Self.now) == [])
    #expect(WatchLedger(try cache.entries(), at: Self.now).tally.isEmpty)
  }

  @Test func `after lost events a walk tells what was replaced and what has expired`() throws {
    var ledger = WatchLedger(try cache.entries(), at: Self.now)
    _ = try cache.store(Array("longer".utf8), forKey: "7", expiration: .days(3))
    _ = try scene.shell("touch -a c/\(file(8))")
    let later = Self.now.adding(seconds: 4 * 86_400)
    let events = ledger.replaceAll(try cache.entries(), at: later)
    #expect(events.map(\.kind) == [.replaced] + Array(repeating: .expired, count: 20))
    let again = ledger.replaceAll(try cache.entries(), at: later)
    #expect(ledger.byteCount == 101 && again.isEmpty)
  }

  @Test func `after lost events a walk tells what came and went`() throws {
    let entries = try cache.entries()
    var ledger = WatchLedger(Array(entries.dropLast()), at: Self.now)
    let events = ledger.replaceAll(Array(entries.dropFirst()), at: Self.now)
    #expect(events.first?.kind == .stored && events.count == 2 && ledger.count == 19)
  }

  @Test func `what is not shown is counted and said`() throws {
    var ledger = WatchLedger(try cache.entries(), at: Self.now)
    var sightings = WatchSightings()
    for _ in 0..<3 { sightings.add(.published(try name(7))) }
    sightings.add(.stamped(try name(8)))
    for name in sightings.order { sightings.found[name] = try cache.entry(named: name) }
    #expect(ledger.missedText == nil)
    #expect(ledger.take(sightings, at: Self.now).map(\.kind) == [.replaced])
    let text = "not shown: 2 stores were overwritten or removed again between two looks"
    #expect(ledger.missedText == text)
    _ = ledger.replaceAll(try cache.entries(), at: Self.now)
    #expect(ledger.missedText?.contains("events were lost 1 time, so") == true)
    let screen = WatchScreen(directory: cache.directory, limit: nil, console: Console().plain)
    let lines = screen.lines(ledger, columns: 200, 24)
    #expect(lines.contains { $0.contains("not shown: 2 stores") })
    #expect(lines.last?.contains("sampled ten times a second") == true)
    let afar = WatchScreen(
      directory: cache.directory, limit: nil, console: Console().plain, blindness: "not all")
    #expect(afar.lines(ledger, columns: 200, 24).contains("not all"))
  }

  @Test(arguments: [(80, 24), (200, 50), (48, 10), (80, 3)])
  func `the screen stays within the terminal`(columns: Int, height: Int) throws {
    let ledger = WatchLedger(try cache.entries(), at: Self.now)
    let screen = WatchScreen(directory: cache.directory, limit: 1000, console: Console().plain)
    let lines = screen.lines(ledger, columns: columns, height)
    #expect(lines.count <= height && lines.allSatisfy { $0.visibleWidth <= columns })
    #expect(lines[1].hasPrefix("20 entries, 100 B") && lines[1].hasSuffix("10 % of 1000 B"))
  }

  /// 792 loads into a cache of 4 MiB with uses between them that the disk never gets to know,
  /// looked at every so many loads.
  @Test(arguments: [8, 40])
  func `the evictions of a cache at its limit are known as such`(loadsPerLook: Int) throws {
    let path = scene.root.appending(path: "full").path
    let cache = try DiskCache(
      directory: path, configuration: DiskCache.Configuration(sizeLimit: 4 << 20))
    var random = SeededRandom(seed: 4)
    var ledger = WatchLedger([], at: Self.now)
    var kinds: [WatchEvent.Kind: Int] = [:]
    var known: Set<EntryName> = []
    var published: [EntryName] = []
    var evictions = 0
    for load in 0..<792 {
      let size = Int.random(in: 1 << 10...60 << 10, using: &random)
      let key = CacheKey("\(load)")
      _ = try cache.store([UInt8](repeating: 0, count: size), forKey: key)
      published.append(EntryName(key))
      // Recent values are read again often, and a few of the first ones always.
      for _ in 0..<4 {
        let recent = Int.random(in: max(0, load - 60)...load, using: &random)
        _ = try cache.value(forKey: "\(Bool.random(using: &random) ? recent : recent % 20)")
      }
      guard load % loadsPerLook == 0 else { continue }
      try cache.flush()
      evictions = cache.statistics.removals[.evicted] ?? 0
      let left = Set(try cache.entries().compactMap { EntryName(Array($0.name.utf8)) })
      var sightings = WatchSightings()
      for name in published { sightings.add(.published(name)) }
      for name in known.subtracting(left) { sightings.add(.removed(name)) }
      for name in sightings.order { sightings.found[name] = try cache.entry(named: name) }
      for event in ledger.take(sightings, at: Self.now) { kinds[event.kind, default: 0] += 1 }
      (known, published) = (left, [])
    }
    let seen = kinds[.evicted] ?? 0, missed = kinds[.removed] ?? 0
    // The others were stored and evicted between two looks.
    #expect(evictions > 600 && seen + missed + ledger.unseenStoreCount >= evictions)
    #expect(seen * 100 >= (seen + missed) * 95)
  }

  @Test func `a removal of several by their keys is no purge`() throws {
    // Without a store, or below the limit, or of little.
    #expect(try kinds(removing: [15, 16, 17, 18]) == Array(repeating: .removed, count: 4))
    let cases: [(isStoring: Bool, limit: Int64?, kind: WatchEvent.Kind)] = [
      (true, nil, .evicted), (true, 200, .removed), (false, nil, .removed),
    ]
    for (isStoring, limit, kind) in cases {
      var ledger = WatchLedger(try cache.entries(), at: Self.now, limit: limit)
      var sightings = WatchSightings()
      if isStoring { sightings.add(.published(try name(0))) }
      for number in 15...18 { sightings.add(.removed(try name(number))) }
      sightings.found[try name(0)] = try cache.entry(named: try name(0))
      let kinds = ledger.take(sightings, at: Self.now).map(\.kind).filter { $0 != .replaced }
      #expect(kinds == Array(repeating: kind, count: 4))
    }
  }
}
