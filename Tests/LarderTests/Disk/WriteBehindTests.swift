import Foundation
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

@Suite(.watched)
struct `Writing behind` {}

extension `Writing behind` {
  private func open(
    _ scene: DiskScene, limit: Int = 1 << 20, sizeLimit: Int? = nil
  ) throws -> DiskCache {
    try scene.open {
      $0.writeBehindLimit = limit
      $0.sizeLimit = sizeLimit
    }
  }

  @Test func `a pending value is read, found, counted and listed like any other`() throws {
    let scene = try DiskScene()
    let cache = try open(scene)
    #expect(try cache.store([1, 2, 3], forKey: "a", extendedData: [9]) == .pending)
    #expect(try cache.value(forKey: "a") == [1, 2, 3])
    #expect(try cache.store([4], forKey: "b") == .pending)
    #expect(try cache.contains("b"))
    #expect(try cache.store([5], forKey: "c") == .pending)
    #expect(try cache.read(forKey: "a")?.extendedData == [9])
    #expect(try cache.entry(forKey: "c")?.byteCount == 1)
    #expect(try cache.store([6, 6], forKey: "d") == .pending)
    #expect(try cache.count() == 4)
    #expect(try cache.store([7], forKey: "e") == .pending)
    #expect(try cache.entries().count == 5)
    #expect(try cache.totalSize() == 8)
    #expect(try cache.withFile(forKey: "d") { $0.byteCount } == 2)
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `flushing and closing put everything on the disk`() throws {
    let scene = try DiskScene()
    let cache = try open(scene)
    for number in 0..<100 { try cache.store([UInt8(number)], forKey: "key \(number)") }
    try cache.flush()
    #expect(try scene.names.count == 100)
    try cache.store([1], forKey: "one more")
    try cache.close()
    #expect(try scene.names.count == 101)
  }

  @Test func `of several values of one key the last is written, and only it`() throws {
    let scene = try DiskScene()
    let cache = try open(scene)
    cache.blockWriter()
    for number in 0..<50 { try cache.store([UInt8(number)], forKey: "k") }
    try cache.flush()
    #expect(try cache.value(forKey: "k") == [49])
    #expect(cache.statistics.stores == 1)
    try cache.close()
  }

  @Test func `many removals of all beside a slow one keep no more than the limit and one backlog`()
    throws
  {
    let scene = try DiskScene()
    let limit = 20 * Backlog.cost(of: 1, "key 00", [])
    let cache = try open(scene, limit: limit)
    try cache.store([1], forKey: "on the disk")
    try cache.flush()
    // The walk is held at its first file, and the writer at its first value.
    let (walk, writer) = (Gate(), Gate())
    scene.faults.plan(.before { walk.pass() }, for: .unlinkat, at: 1)
    let first = try cache.removeAllInBackground()
    walk.waitUntilReached()
    scene.faults.plan(.before { writer.pass() }, for: .fsetxattr, onwards: true)
    var rounds = 0
    while cache.withBacklog({ $0.hiddenCost <= limit }) && rounds < 10 {
      for number in 10..<28 { try cache.store([1], forKey: "key \(rounds)\(number)") }
      _ = try cache.removeAllInBackground()
      rounds += 1
    }
    #expect(rounds == 2 && !first.isFinished)
    walk.open()
    writer.open()
    try cache.removeAll()
    #expect(try cache.count() == 0)
    #expect(cache.withBacklog { $0.hiddenCost == 0 && $0.hidden.isEmpty })
    try cache.close()
  }

  @Test func `a removal takes what is pending and what is on the disk`() throws {
    let scene = try DiskScene()
    let cache = try open(scene)
    try cache.store([1], forKey: "k")
    #expect(try cache.remove(forKey: "k"))
    #expect(try cache.value(forKey: "k") == nil)
    try cache.store([2], forKey: "k")
    try cache.flush()
    try cache.store([3], forKey: "k")
    #expect(try cache.remove(forKey: "k"))
    #expect(try !cache.remove(forKey: "k"))
    try cache.store([4], forKey: "k")
    try cache.removeAll()
    #expect(try cache.value(forKey: "k") == nil)
    try scene.expectConsistent(cache)
    try cache.close()
    #expect(try scene.names.isEmpty)
  }

  @Test func `a pending value is there for who stores only where there is none`() throws {
    let scene = try DiskScene()
    let cache = try open(scene)
    try cache.store([1], forKey: "k")
    #expect(try cache.storeIfAbsent([2], forKey: "k") == .rejected(.alreadyPresent))
    #expect(try cache.value(forKey: "k") == [1])
    try cache.close()
  }

  @Test func `a stream, and a value larger than the backlog, are written at once and last`() throws
  {
    let scene = try DiskScene()
    let cache = try open(scene, limit: Backlog.recordByteCount + 10)
    try cache.store([1], forKey: "k")
    #expect(try cache.store([UInt8](repeating: 2, count: 11), forKey: "k") == .stored)
    try cache.flush()
    #expect(try cache.value(forKey: "k")?.count == 11)
    try cache.store([1], forKey: "k")
    try cache.store(forKey: "k") { try $0.write([3, 3]) }
    try cache.flush()
    #expect(try cache.value(forKey: "k") == [3, 3])
    try cache.close()
  }

  @Test func `a full backlog makes stores wait and loses nothing`() throws {
    let scene = try DiskScene()
    let cache = try open(scene, limit: 2000)
    inThreads(4) { thread in
      for number in 0..<100 {
        let outcome = try? cache.store(
          [UInt8](repeating: UInt8(thread), count: 400), forKey: "\(thread) \(number)")
        #expect(outcome == .pending)
        #expect(cache.withBacklog { $0.cost } <= 2000)
      }
    }
    #expect(try cache.count() == 400)
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `a store that waits for room takes what a smaller value has left`() throws {
    let scene = try DiskScene()
    let cache = try open(scene, limit: 3000)
    cache.blockWriter()
    let large = [UInt8](repeating: 1, count: 1000)
    try cache.store(large, forKey: "k")
    let cost = cache.withBacklog { $0.cost }
    let (smaller, waiting) = try cache.engine.changing(cache.subject("k").name) { _ in
      let smaller = inBackground { try cache.store([2], forKey: "k") }
      try eventually("a store that has room and waits for the name") {
        cache.withBacklog { $0.cost } > cost
      }
      let waiting = inBackground { try cache.store(large, forKey: "l") }
      try eventually("a store that waits for room") { cache.withBacklog { !$0.line.isEmpty } }
      return (smaller, waiting)
    }
    for store in [smaller, waiting] { #expect(try store().get() == .pending) }
    #expect(try cache.value(forKey: "k") == [2])
    try cache.close()
  }

  @Test func `a backlog is full of values that are nothing but keys and extended data`() throws {
    let scene = try DiskScene()
    let cache = try open(scene, limit: 64 << 10)
    // No other thread writes.
    cache.blockWriter()
    Thread.detachNewThread {
      do {
        for number in 0..<100 {
          let data = [UInt8](repeating: 1, count: 900)
          try cache.store([], forKey: "key \(number)", extendedData: data)
        }
      } catch {
        Issue.record(error)
      }
    }
    try eventually("a store that waits for room") {
      cache.withBacklog { !$0.line.isEmpty }
    }
    // 64 KiB of 900 bytes of data, 5 or 6 of a key and 512 of a record: 46 values.
    #expect(cache.withBacklog { $0.cost } == 65_218)
    try eventually("room for the rest") {
      try cache.flush()
      return cache.withBacklog { $0.isEmpty } && cache.statistics.stores == 100
    }
    #expect(try cache.count() == 100)
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test(arguments: [SystemCall.write, .futimens, .linkat, .renameat])
  func `a write that fails later is counted, told by the flush, and leaves no older value`(
    call: SystemCall
  ) throws {
    let scene = try DiskScene()
    let cache = try open(scene)
    try cache.store([1], forKey: "k")
    try cache.flush()
    if call == .linkat { try cache.remove(forKey: "k") }
    scene.faults.plan(.errno(.ioError), for: call, onwards: true)
    #expect(try cache.store([2], forKey: "k") == .pending)
    #expect(throws: CacheError.self) { try cache.flush() }
    scene.faults.reset()
    #expect(cache.statistics.lostStores == 1)
    #expect(try cache.value(forKey: "k") == nil)
    // The failure is thrown once.
    try cache.flush()
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `of several lost values the flush tells of one whose older value remains`() throws {
    let scene = try DiskScene()
    let cache = try open(scene)
    try cache.store([1], forKey: "old")
    try cache.flush()
    scene.faults.plan(.errno(.permissionDenied), for: .futimens, onwards: true)
    scene.faults.plan(.errno(.permissionDenied), for: .unlinkat, onwards: true)
    #expect(try cache.store([2], forKey: "new") == .pending)
    #expect(try cache.store([2], forKey: "old") == .pending)
    #expect { try cache.flush() } throws: { ($0 as? CacheError)?.oldValueRemains == true }
    #expect(try cache.value(forKey: "old") == [1])
    scene.faults.reset()
    try cache.close()
  }

  @Test func `a write that fails late leaves what was stored since`() throws {
    let scene = try DiskScene()
    let cache = try open(scene, limit: Backlog.recordByteCount + 8)
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .write, at: 1)
    #expect(try cache.store([1], forKey: "k") == .pending)
    gate.waitUntilReached()
    let newer = [UInt8](repeating: 2, count: 16)
    #expect(try cache.store(newer, forKey: "k") == .stored)
    scene.faults.plan(.errno(.ioError), for: .fsetxattr, at: 1)
    gate.open()
    cache.behind?.wait { $0.hasWriter ? nil : () }
    #expect(try cache.value(forKey: "k") == newer)
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `a flush waits for what was accepted before it, and not for what comes meanwhile`()
    throws
  {
    let scene = try DiskScene()
    let cache = try open(scene)
    // No other thread writes.
    cache.blockWriter()
    try cache.store([1], forKey: "before")
    let counter = Counter()
    let store: @Sendable () -> Void = {
      // Each written value causes another store, so the test stops at 100.
      counter.add()
      guard counter.value <= 100 else { return }
      do {
        try cache.store([2], forKey: "meanwhile \(counter.value)")
      } catch {
        Issue.record(error)
      }
    }
    scene.faults.plan(.before(store), for: .write, onwards: true)
    try cache.flush()
    #expect(counter.value == 1)
    #expect(cache.statistics.stores == 1)
    scene.faults.reset()
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `a value that is replaced while it is written reaches the disk all the same`() throws {
    let scene = try DiskScene()
    let cache = try open(scene)
    cache.blockWriter()
    try cache.store([1], forKey: "k")
    let store: @Sendable () -> Void = {
      do {
        try cache.store([2], forKey: "k")
      } catch {
        Issue.record(error)
      }
    }
    scene.faults.plan(.before(store), for: .write, at: 1)
    try cache.flush()
    // Otherwise a name that is stored faster than it is written would never reach the disk.
    #expect(cache.statistics.stores == 1)
    #expect(try scene.names.count == 1)
    #expect(try cache.value(forKey: "k") == [2])
    try cache.flush()
    #expect(cache.statistics.stores == 2)
    #expect(try cache.value(forKey: "k") == [2])
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `a newer value stands for one that could not be written`() throws {
    let scene = try DiskScene()
    let cache = try open(scene)
    cache.blockWriter()
    try cache.store([1], forKey: "k")
    let store: @Sendable () -> Void = {
      do {
        try cache.store([2], forKey: "k")
      } catch {
        Issue.record(error)
      }
    }
    scene.faults.plan(.before(store), for: .write, at: 1)
    scene.faults.plan(.errno(.ioError), for: .fsetxattr, at: 1)
    try cache.flush()
    #expect(cache.statistics.lostStores == 0)
    #expect(cache.withBacklog { $0.isEmpty })
    #expect(try cache.value(forKey: "k") == [2])
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `a value stays in memory when it has been written`() throws {
    let directory = try TemporaryDirectory()
    var configuration = CacheConfiguration()
    configuration.disk.writeBehindLimit = 1 << 20
    // With events, one that comes while the name is held makes memory forget the value.
    configuration.disk.coherence = .none
    let cache = try Cache(
      directory: directory.path + "/cache", coder: .string, configuration: configuration)
    #expect(try cache.store("v", forKey: "k") == .pending)
    try cache.flush()
    #expect(try cache.tier(forKey: "k") == .memory)
    #expect(cache.statistics.memory.removals[.replaced, default: 0] == 0)
    try cache.close()
  }

  @Test func `a reader does not put an older value over one that was accepted meanwhile`() throws {
    let directory = try TemporaryDirectory()
    let faults = FaultInjector()
    var configuration = CacheConfiguration()
    configuration.disk.writeBehindLimit = 1 << 20
    configuration.disk.faults = faults
    let cache = try Cache(
      directory: directory.path + "/cache", coder: .string, configuration: configuration)
    try cache.store("old", forKey: "k")
    try cache.flush()
    cache.memory.removeAll()
    // The reader has already checked the waiting values when the new value is accepted.
    cache.disk.engine.location.isAstray.store(true, ordering: .relaxed)
    let accepted = Counter()
    let accept: @Sendable () -> Void = {
      do {
        _ = try cache.store("new", forKey: "k")
      } catch {
        Issue.record(error)
      }
      accepted.add()
    }
    faults.plan(.before(accept), for: .fstatat, at: 1)
    _ = try cache.value(forKey: "k")
    // On a busy machine another thread of the cache may have made the call instead of the reader.
    try eventually("the new value to be accepted") { accepted.value == 1 }
    #expect(try cache.value(forKey: "k") == "new")
    try cache.close()
  }

  @Test func `a limit holds for what is written later`() throws {
    let scene = try DiskScene()
    let cache = try open(scene, sizeLimit: 1000)
    _ = try cache.count()
    for number in 0..<50 {
      try cache.store([UInt8](repeating: 0, count: 100), forKey: "\(number)")
    }
    #expect(try cache.totalSize() <= 1000)
    #expect(try cache.value(forKey: "49") != nil)
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `random operations leave what a dictionary has`() throws {
    let scene = try DiskScene()
    var random = SystemRandomNumberGenerator()
    let seed = random.next()
    var generator = SplitMix(state: seed)
    let cache = try open(scene, limit: 4 * Backlog.recordByteCount)
    var model: [String: [UInt8]] = [:]
    for step in 0..<3000 {
      let key = "\(generator.next() % 12)"
      switch generator.next() % 12 {
      case 0..<6:
        let value = [UInt8](repeating: UInt8(step % 251), count: Int(generator.next() % 20))
        try cache.store(value, forKey: key)
        model[key] = value
      case 6..<9: #expect(try cache.value(forKey: key) == model[key], "seed \(seed), step \(step)")
      case 9: #expect(try cache.remove(forKey: key) == (model.removeValue(forKey: key) != nil))
      case 10:
        let outcome = try cache.storeIfAbsent([1], forKey: key)
        #expect((outcome == .stored) == (model[key] == nil), "seed \(seed), step \(step)")
        if model[key] == nil { model[key] = [1] }
      default:
        if step % 97 == 0 {
          try cache.removeAll()
          model = [:]
        } else {
          #expect(try cache.count() == model.count, "seed \(seed), step \(step)")
        }
      }
    }
    try cache.close()
    let again = try scene.open()
    for number in 0..<12 { #expect(try again.value(forKey: "\(number)") == model["\(number)"]) }
  }

  private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var word = state
      word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
      word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
      return word ^ word >> 31
    }
  }
}
