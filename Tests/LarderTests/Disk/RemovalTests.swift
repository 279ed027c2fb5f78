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
struct `Removals` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `Removals` {
  @Test func `a removal says whether there was something`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    try cache.store([1], forKey: "short", expiration: .seconds(1))
    scene.clock.advance(by: .seconds(2))
    #expect(try cache.remove(forKey: "k"))
    #expect(try !cache.remove(forKey: "k"))
    #expect(try cache.remove(forKey: "short"))
    #expect(cache.statistics.removals == [.explicit: 2])
    #expect(try cache.count() == 0)
  }

  @Test func `removing all leaves what is foreign`() throws {
    let cache = try scene.open()
    for number in 0..<700 { try cache.store([1, 2], forKey: "\(number)") }
    try scene.plant([1], named: "README")
    let result = try cache.removeAll()
    #expect(result.removed == 700 && result.failed == 0 && result.byteCount == 1400)
    #expect(try scene.names == ["README"])
    #expect(try cache.removeAll() == BulkRemoval())
    try scene.expectConsistent(cache)
  }

  /// A memory tier that records the engine's messages.
  private final class Tier: EngineObserver {
    let heard = Mutex<[String]>([])
    /// What happens when the tier hears that a value is about to be replaced.
    let meanwhile = Mutex<(@Sendable () throws -> Void)?>(nil)

    func hear(of change: DiskChange) {
      if case .entryWillChange = change, let act = meanwhile.withLock({ $0.take() }) {
        do { try act() } catch { Issue.record(error) }
      }
      let text =
        switch change {
        case .entryWillChange: "changes"
        case .entryChanged, .variantsRemoved: "changed"
        case .filesChanged, .anyChanged: "file changed"
        case .cleared: "cleared"
        }
      heard.withLock { $0.append(text) }
    }
  }

  @Test func `memory hears of a value that the removal of everything has taken at once`() throws {
    let cache = try scene.open()
    let (engine, tier) = (cache.engine, Tier())
    engine.observers.add(tier)
    // The store has its name, and the value is not visible yet.
    tier.meanwhile.withLock { $0 = { _ = try engine.startClearing() } }
    #expect(try engine.store([1].span, cache.request(CacheKey("k"), .never, [])) == .stored)
    // So that no load which began before it is stored after it.
    #expect(tier.heard.withLock { $0 } == ["cleared", "cleared", "changes", "changed"])
    engine.wait { $0.clearing.hidesFiles ? nil : () }
    #expect(try cache.value(forKey: "k") == nil)
    try scene.expectConsistent(cache)
  }

  @Test func `memory forgets what it kept while everything was being removed`() throws {
    let cache = try scene.open()
    let (engine, tier) = (cache.engine, Tier())
    engine.observers.add(tier)
    var request = cache.request(CacheKey("k"), .never, [])
    request.origin = ObjectIdentifier(tier)
    // The index has the value, and the tier that stores it does not have it yet.
    request.onChange = { _ in
      do {
        _ = try engine.startClearing()
      } catch {
        Issue.record(error)
      }
      tier.heard.withLock { $0.append("kept") }
    }
    #expect(try engine.store([1, 2].span, request) == .stored)
    #expect(tier.heard.withLock { $0.suffix(3) } == ["cleared", "kept", "changed"])
    engine.wait { $0.clearing.hidesFiles ? nil : () }
    #expect(try cache.value(forKey: "k") == nil)
    try scene.expectConsistent(cache)
  }

  @Test func `bulk removals go on past a failure and say so`() throws {
    let cache = try scene.open()
    for number in 0..<20 { try cache.store([1], forKey: "\(number)") }
    scene.faults.plan(.errno(.ioError), for: .unlinkat, at: 3)
    scene.faults.plan(.errno(.notPermitted), for: .unlinkat, at: 5)
    var result = try cache.removeAll()
    #expect(result.removed == 18 && result.failed == 2)
    #expect(try cache.count() == 2)
    try scene.expectConsistent(cache)
    scene.faults.plan(.errno(.ioError), for: .unlinkat, at: 1)
    result = try cache.trim(toCount: 0)
    #expect(result.removed == 1 && result.failed == 1)
    #expect(try cache.count() == 1)
    #expect(cache.statistics.upkeepFailures == [.ioError: 2, .notPermitted: 1])
    try scene.expectConsistent(cache)
  }

  @Test func `everything older is gone at once while it is being removed`() throws {
    let cache = try scene.open()
    for number in 0..<50 { try cache.store([1], forKey: "\(number)") }
    _ = try cache.count()
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    let progress = try cache.removeAllInBackground()
    gate.waitUntilReached()
    #expect(try cache.count() == 0)
    #expect(try cache.totalSize() == 0)
    for number in 0..<50 {
      #expect(try cache.value(forKey: "\(number)") == nil)
      #expect(try !cache.contains("\(number)"))
    }
    #expect(try cache.entries().isEmpty)
    #expect(!progress.isFinished)
    gate.open()
    #expect(try progress.wait().removed == 50)
    try scene.expectConsistent(cache)
  }

  @Test func `what others store while all is removed stays`() throws {
    let cache = try scene.open()
    for number in 0..<5 { try cache.store([1], forKey: "\(number)") }
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    let progress = try cache.removeAllInBackground()
    gate.waitUntilReached()
    // The walk has listed all files. The first one has passed its check and is removed.
    let held = cache.engine.withState { $0.locks.held }
    let others = (0..<5).filter { !held.contains(DiskScene.name(of: Array("\($0)".utf8))) }
    let kept = "\(others[0])"
    try FileManager.default.removeItem(atPath: scene.file(kept))
    try scene.plant([7, 7], named: scene.name(kept).text)
    gate.open()
    let result = try progress.wait()
    #expect(result.removed == 4 && result.failed == 0)
    #expect(try cache.value(forKey: kept) == [7, 7])
    #expect(try cache.count() == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `a stamp of our own does not save an entry from a removal of all`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    scene.clock.advance(by: .seconds(100))
    _ = try cache.value(forKey: "k")
    let (stamping, walking) = (Gate(), Gate())
    scene.faults.plan(.before { stamping.pass() }, for: .futimens, at: 1)
    Thread.detachNewThread { cache.engine.drainStamps() }
    stamping.waitUntilReached()
    scene.faults.plan(.before { walking.pass() }, for: .readdir, at: 5)
    let progress = try cache.removeAllInBackground()
    // The walk has listed the file, and its removal waits for the stamp.
    walking.waitUntilReached()
    walking.open()
    stamping.open()
    #expect(try progress.wait().removed == 1)
    #expect(try cache.count() == 0)
    try scene.expectConsistent(cache)
  }

  @Test func `what is stored while all is removed stays`() throws {
    let cache = try scene.open()
    for number in 0..<600 { try cache.store([1], forKey: "\(number)") }
    let progress = try cache.removeAllInBackground()
    for number in 590..<650 { try cache.store([2], forKey: "\(number)") }
    try progress.wait()
    #expect(try cache.count() == 60)
    for number in 0..<650 {
      #expect(try cache.value(forKey: "\(number)") == (number < 590 ? nil : [2]))
    }
    try scene.expectConsistent(cache)
  }

  @Test func `a second removal of all does not wait for the first, and takes what came since`()
    throws
  {
    let cache = try scene.open()
    for number in 0..<5 { try cache.store([1], forKey: "\(number)") }
    _ = try cache.count()
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    let first = try cache.removeAllInBackground()
    gate.waitUntilReached()
    let held = cache.engine.withState { $0.locks.held }
    let others = (0..<5).filter { !held.contains(DiskScene.name(of: Array("\($0)".utf8))) }
    // The walk has listed the older file of this name.
    let (again, new) = ("\(others[0])", "new")
    for key in [again, new] { try cache.store([2], forKey: key) }
    let (begun, progress) = (DispatchSemaphore(value: 0), Shared<[RemovalProgress]>([]))
    Thread.detachNewThread {
      do {
        let second = try cache.removeAllInBackground()
        progress.change { $0.append(second) }
      } catch { Issue.record(error) }
      begun.signal()
    }
    begun.wait(for: "the beginning of a second removal")
    #expect(!first.isFinished)
    #expect(try cache.count() == 0 && cache.value(forKey: new) == nil)
    #expect(try cache.value(forKey: again) == nil && !cache.contains(again))
    try cache.store([3], forKey: "kept")
    gate.open()
    let removed = try first.wait().removed + (progress.value.first?.wait().removed ?? 0)
    #expect(removed == 6)
    #expect(try scene.names == [scene.name("kept").text] && cache.count() == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `a second removal of all leaves the directory alone that takes the path meanwhile`()
    throws
  {
    let cache = try scene.open()
    for number in 0..<3 { try cache.store([1], forKey: "\(number)") }
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    let first = try cache.removeAllInBackground()
    gate.waitUntilReached()
    let second = try cache.removeAllInBackground()
    try FileManager.default.moveItem(atPath: scene.path, toPath: scene.path + "-moved")
    try FileManager.default.createDirectory(
      atPath: scene.path, withIntermediateDirectories: false)
    let new = scene.path + "/" + scene.name("new").text
    #expect(FileManager.default.createFile(atPath: new, contents: Data([2])))
    // The other directory is held, and the index has not heard of it yet.
    _ = try cache.engine.location.revalidate(isUrgent: true, mayMake: false, "read")
    gate.open()
    try first.wait()
    try second.wait()
    #expect(FileManager.default.fileExists(atPath: new))
  }

  @Test func `removals of all from many threads lose nothing stored after the last`() throws {
    let cache = try scene.open()
    for round in 0..<20 {
      for number in 0..<20 { try cache.store([1], forKey: "\(number)") }
      inThreads(4) { thread in
        do {
          try cache.removeAll()
          try cache.store([UInt8(thread)], forKey: "thread \(thread)")
        } catch {
          Issue.record(error)
        }
      }
      let left = try cache.entries().count
      #expect(left >= 1 && left <= 4, "round \(round)")
      try scene.expectConsistent(cache, "round \(round)")
      try cache.removeAll()
    }
  }

  @Test func `a removal of all that cannot read the directory says so and forgets nothing`() throws
  {
    let cache = try scene.open()
    for number in 0..<5 { try cache.store([1], forKey: "\(number)") }
    _ = try cache.count()
    scene.faults.plan(.errno(.ioError), for: .readdir, at: 1)
    #expect(throws: CacheError.self) { try cache.removeAll() }
    #expect(try cache.count() == 5)
    #expect(try cache.value(forKey: "0") == [1])
    try scene.expectConsistent(cache)
  }

  @Test func `files of strangers are not removed`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    // Root alone can do it, and not in every container.
    guard unsafe chown(scene.file("k"), 54_321, 54_321) == 0 else { return }
    #expect(try cache.value(forKey: "k") == nil)
    #expect(cache.statistics.misses == [.otherOwner: 1])
    #expect(try !cache.remove(forKey: "k"))
    #expect(try cache.removeAll().removed == 0)
    #expect(try scene.names == [scene.name("k").text])
    #expect(try cache.store([2], forKey: "k") == .stored)
    #expect(try cache.value(forKey: "k") == [2])
  }

  @Test func `an entry removed by hand is a miss and no longer counts`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    #expect(try cache.count() == 1)
    try FileManager.default.removeItem(atPath: scene.file("k"))
    #expect(try cache.value(forKey: "k") == nil)
    #expect(try cache.count() == 0)
    try scene.expectConsistent(cache)
  }

  @Test func `extended data that is too large removes the old value as any failure does`() throws {
    let cache = try scene.open()
    let large = [UInt8](repeating: 0, count: 1025)
    let stores: [(DiskCache) throws -> Void] = [
      { try $0.store([2], forKey: "k", extendedData: large) },
      { try $0.store(forKey: "k", extendedData: large) { _ in } },
    ]
    for store in stores {
      try cache.store([1], forKey: "k", extendedData: Array(large.dropLast()))
      let error = #expect(throws: CacheError.self) { try store(cache) }
      #expect(error?.code == .invalidArgument && error?.oldValueRemains == false)
      #expect(try cache.value(forKey: "k") == nil)
    }
    try cache.store([1], forKey: "k")
    let error = #expect(throws: CacheError.self) {
      try cache.storeIfAbsent([2], forKey: "k", extendedData: large)
    }
    #expect(error?.code == .invalidArgument && error?.oldValueRemains == true)
    #expect(try cache.value(forKey: "k") == [1])
  }

  @Test func `a store that is cancelled before it begins says that the old value stays`()
    async throws
  {
    let cache = try scene.open()
    let pages = try Cache(directory: scene.path + "/pages", coder: .bytes)
    try await cache.store([1], forKey: "k")
    try await pages.store([1], forKey: "k")
    let stores: [@Sendable () async throws -> Void] = [
      { try await cache.store([2], forKey: "k") }, { try await pages.store([2], forKey: "k") },
      { try await cache.storeIfAbsent([2], forKey: "k") },
      { try await cache.store(forKey: "k") { _ in } },
      { for outcome in await pages.store(contentsOf: [("k", [2])]) { _ = try outcome.get() } },
    ]
    for (number, store) in stores.enumerated() {
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        try await store()
      }
      task.cancel()
      let error = await #expect(throws: CacheError.self) { try await task.value }
      #expect(error?.code == .cancelled && error?.oldValueRemains == true, "\(number)")
    }
    #expect(try await cache.value(forKey: "k") == [1])
    #expect(try await pages.value(forKey: "k") == [1])
  }

  @Test func `an old value that cannot be removed is admitted`() throws {
    let cache = try scene.open { $0.sizeLimit = 100 }
    try cache.store([1], forKey: "k")
    scene.faults.plan(.errno(.ioError), for: .unlinkat, at: 1, onwards: true)
    let large = [UInt8](repeating: 0, count: 101)
    let rejected = #expect(throws: CacheError.self) { try cache.store(large, forKey: "k") }
    #expect(rejected?.oldValueRemains == true)
    scene.faults.plan(.errno(.ioError), for: .write, at: 1, onwards: true)
    let failed = #expect(throws: CacheError.self) { try cache.store([2], forKey: "k") }
    #expect(failed?.oldValueRemains == true)
    scene.faults.reset()
    #expect(try cache.value(forKey: "k") == [1])
    try cache.close()
    // The temporary file that could not be removed either stays for the next scan. A program that
    // another test begins may have a copy of its descriptor, and so its lock, for a moment.
    try eventually("the temporary file to be free") {
      let again = try scene.open()
      _ = try again.count()
      defer { try? again.close() }
      return try again.survey().temporaryCount == 0
    }
    try scene.expectConsistent(scene.open())
  }
}
