import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

extension DiskCache {
  /// Waits for the end of a scan that goes on, and of the one that is to follow it.
  fileprivate func waitForScans() {
    engine.wait { state in
      let scans = state.catalog.scans
      return !scans.isOngoing && !scans.hasMissedChanges ? () : nil
    }
  }

  /// Scans the directory again and waits for the end.
  func rescan() {
    engine.startScan()
    engine.wait { !$0.catalog.scans.isOngoing ? () : nil }
  }
}

/// Tests of which some hold a scan. They run one at a time, because the upkeep has few threads.
@Suite(.serialized, .watched)
struct `A scan after the first` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `A scan after the first` {
  @Test(arguments: 0..<UInt64(rounds(2)))
  func `changes nothing in a directory that one process uses`(seed: UInt64) throws {
    let without = try Sequence(seed: seed, rescans: false).run()
    let with = try Sequence(seed: seed, rescans: true).run()
    #expect(without.hits == with.hits, "seed \(seed)")
    #expect(without.order == with.order, "seed \(seed)")
    #expect(without.purges == with.purges && without.purges > 3, "seed \(seed)")
    #expect(without.evicted == with.evicted, "seed \(seed)")
  }

  @Test func `finds what neighbours stored, removed, replaced and stamped`() throws {
    let cache = try scene.open()
    for key in ["a", "b", "c", "d"] { try cache.store([1], forKey: key) }
    _ = try cache.count()
    try scene.plant([1, 2, 3], named: scene.name("new").text)
    try FileManager.default.removeItem(atPath: scene.file("a"))
    try FileManager.default.removeItem(atPath: scene.file("b"))
    try scene.plant([1, 2], named: scene.name("b").text)
    try scene.touch(
      scene.name("c"), access: nil, modification: scene.clock.now.adding(seconds: 9))
    cache.rescan()
    #expect(try cache.count() == 4)
    #expect(try cache.totalSize() == 7)
    try scene.expectConsistent(cache)
    #expect(try cache.value(forKey: "a") == nil)
    #expect(try cache.value(forKey: "b") == [1, 2])
    scene.clock.advance(by: .seconds(10))
    #expect(try cache.value(forKey: "c") == nil)
  }

  @Test func `forgets what another machine has removed`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "a")
    _ = try cache.count()
    try FileManager.default.removeItem(atPath: scene.file("a"))
    scene.faults.plan(.errno(.staleHandle), for: .fstatat, onwards: true)
    cache.rescan()
    #expect(scene.faults.struckCount > 0)
    #expect(try cache.count() == 0)
  }

  @Test func `keeps the order of use, which the disk trails`() throws {
    let cache = try scene.open()
    for number in 0..<10 {
      scene.clock.advance(by: .seconds(1))
      try cache.store([1], forKey: "\(number)")
    }
    _ = try cache.count()
    for number in [3, 1, 8] {
      scene.clock.advance(by: .seconds(1))
      _ = try cache.value(forKey: "\(number)")
    }
    let before = cache.engine.withState { $0.catalog.index.entriesInOrder() }
    cache.rescan()
    #expect(cache.engine.withState { $0.catalog.index.entriesInOrder() } == before)
  }

  /// Returns a cache whose second scan is held at its first names.
  @Test func `forgets an entry that a neighbour has replaced by what is none`() throws {
    let cache = try scene.open { $0.coherence = .none }
    for key in ["a", "b", "c"] { try cache.store([1], forKey: key) }
    _ = try cache.count()
    try FileManager.default.removeItem(atPath: scene.file("a"))
    try FileManager.default.createDirectory(
      atPath: scene.file("a"), withIntermediateDirectories: false)
    try FileManager.default.removeItem(atPath: scene.file("b"))
    try FileManager.default.createSymbolicLink(
      atPath: scene.file("b"), withDestinationPath: "/dev/null")
    cache.rescan()
    #expect(try cache.count() == 1)
    #expect(try cache.totalSize() == 1)
  }

  private func held(
    _ gate: Gate, _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws -> DiskCache {
    let cache = try scene.open(change)
    for number in 0..<9 {
      scene.clock.advance(by: .seconds(1))
      try cache.store([UInt8](repeating: 1, count: 100), forKey: "\(number)")
    }
    _ = try cache.count()
    scene.faults.plan(.before { gate.pass() }, for: .fstatat, at: 5)
    cache.engine.startScan()
    gate.waitUntilReached()
    return cache
  }

  @Test func `keeps nobody waiting, and limits are kept meanwhile`() throws {
    let gate = Gate()
    let cache = try held(gate) { $0.sizeLimit = 1000 }
    #expect(cache.statistics.scan == .finished)
    for number in 10..<12 {
      scene.clock.advance(by: .seconds(1))
      try cache.store([UInt8](repeating: 1, count: 100), forKey: "\(number)")
    }
    #expect(cache.statistics.purges == 1)
    #expect(try cache.totalSize() == 500)
    gate.open()
    cache.engine.wait { !$0.catalog.scans.isOngoing ? () : nil }
    #expect(try cache.totalSize() == 500)
    #expect(cache.statistics.purges == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `loses to what happens meanwhile`() throws {
    let gate = Gate()
    let cache = try held(gate)
    for number in 0..<3 { try cache.remove(forKey: "\(number)") }
    for number in 3..<6 { try cache.store([2], forKey: "\(number)") }
    try cache.store([3], forKey: "new")
    gate.open()
    cache.engine.wait { !$0.catalog.scans.isOngoing ? () : nil }
    #expect(try cache.count() == 7)
    try scene.expectConsistent(cache)
  }

  @Test func `meets at last what was hidden while everything was being removed`() throws {
    let cache = try scene.open()
    for number in 0..<5 { try cache.store([1], forKey: "\(number)") }
    _ = try cache.count()
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat)
    let progress = try cache.removeAllInBackground()
    gate.waitUntilReached()
    // The removal has read all names, and may not hear of a file that is stored now.
    try scene.plant([1, 2, 3], named: scene.name("neighbour's").text)
    let number = cache.engine.withState(\.catalog.scans.number)
    for _ in 0..<5 { cache.rescan() }
    gate.open()
    #expect(try progress.wait().removed == 5)
    cache.engine.wait { !$0.catalog.scans.isOngoing ? () : nil }
    #expect(try cache.totalSize() == 3)
    // None of them starts another one; the end of the removal does.
    #expect(cache.engine.withState(\.catalog.scans.number) == number + 6)
    try scene.expectConsistent(cache)
  }

  @Test func `forgets what a read found missing after the scan had met it`() throws {
    let gate = Gate()
    let cache = try held(gate)
    for number in 0..<9 {
      try FileManager.default.removeItem(atPath: scene.file("\(number)"))
      #expect(try cache.value(forKey: "\(number)") == nil)
    }
    // These take the slots of the entries that are gone. An entry that came back in one of them
    // would be missed at the end of the scan, and forgotten.
    for number in 10..<19 { try cache.store([2], forKey: "\(number)") }
    gate.open()
    cache.engine.wait { !$0.catalog.scans.isOngoing ? () : nil }
    #expect(try cache.count() == 9)
    try scene.expectConsistent(cache)
  }

  @Test func `that fails leaves the index as it was`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    _ = try cache.count()
    scene.faults.plan(.errno(.ioError), for: .readdir)
    cache.rescan()
    #expect(cache.statistics.scan == .finished)
    #expect(cache.statistics.upkeepFailures[.ioError] == 1)
    #expect(try cache.count() == 1)
    cache.rescan()
    try scene.expectConsistent(cache)
  }

  @Test(arguments: [1000, nil])
  func `comes by itself where there are no events`(limit: Int?) throws {
    scene.faults.plan(.errno(.tooManyOpenFiles), for: .inotify)
    let cache = try scene.open {
      $0.coherence = .events
      $0.sizeLimit = limit
      $0.rescanDelay = .milliseconds(20)
    }
    _ = try cache.count()
    #expect(cache.statistics.upkeepFailures[.tooManyOpenFiles] == 1)
    try scene.plant([1, 2, 3], named: scene.name("planted").text)
    try cache.store([1], forKey: "k")
    let found = cache.engine.wait { $0.catalog.index.totals.count == 2 ? true : nil }
    #expect(found)
  }
}

extension `A scan after the first` {
  @Test func `comes after a store that came during the first`() throws {
    scene.faults.plan(.errno(.tooManyOpenFiles), for: .inotify)
    let cache = try scene.open {
      ($0.coherence, $0.rescanDelay) = (.events, .milliseconds(20))
      $0.sizeLimit = 1000
    }
    try cache.store([1], forKey: "k")
    let number = cache.engine.wait { state in
      let scans = state.catalog.scans
      return scans.number > 1 ? scans.number : nil
    }
    #expect(number == 2)
  }

  @Test func `counts what was stored by the measure of the limit`() throws {
    let cache = try scene.open { $0.sizeMeasure = .allocatedBytes }
    _ = try cache.count()
    try cache.store([1], forKey: "k")
    let (stored, total) = cache.engine.withState { state in
      (state.catalog.scans.rescans.byteCount, state.catalog.index.totals.allocatedByteCount)
    }
    #expect(stored == total)
  }
}

/// A seeded sequence of reads and stores under a limit, like a trace.
private struct Sequence {
  struct History: Equatable {
    var hits: [Bool] = []
    var order: [EntryName] = []
    var purges = 0
    var evicted = 0
  }

  let seed: UInt64
  let rescans: Bool

  func run() throws -> History {
    var random = SeededRandom(seed: seed)
    // A separate generator, so that both runs of a seed take the same steps.
    var moments = SeededRandom(seed: ~seed)
    let scene = try DiskScene()
    let cache = try scene.open {
      $0.sizeLimit = 20_000
      $0.expiration = .never
      // No use is stamped by itself, because a purge passes over a name that is being stamped.
      $0.recencyGranularity = .seconds(3_600)
    }
    _ = try cache.count()
    var history = History()
    for _ in 0..<1_000 {
      scene.clock.advance(by: .seconds(Int.random(in: 0...600, using: &random)))
      let number = Int.random(in: 0..<160, using: &random)
      let key = "\(number * number / 160)"
      let isHit = try cache.value(forKey: key) != nil
      history.hits.append(isHit)
      let count = Int.random(in: 0..<1_000, using: &random)
      // A purge also passes over a name that a scan has to look at again.
      if try !isHit && cache.totalSize() + count > 20_000 { cache.waitForScans() }
      if !isHit { try cache.store([UInt8](repeating: 7, count: count), forKey: key) }
      // A purge goes on in the background; how far it has come is the machine's affair.
      if cache.statistics.purges != history.purges {
        try cache.flush()
        history.purges = cache.statistics.purges
      }
      // Some uses are written to disk, which changes the results of a scan.
      if Int.random(in: 0..<100, using: &random) == 0 { cache.engine.drainStamps() }
      guard rescans else { continue }
      switch Int.random(in: 0..<40, using: &moments) {
      case 0: cache.rescan()
      case 1..<4: cache.engine.startScan()
      default: break
      }
    }
    cache.engine.wait { !$0.catalog.scans.isOngoing ? () : nil }
    try cache.flush()
    history.order = cache.engine.withState { $0.catalog.index.entriesInOrder().map(\.name) }
    history.evicted = cache.statistics.removals[.evicted, default: 0]
    try scene.expectConsistent(cache)
    try cache.close()
    return history
  }
}
