import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// What a removal of everything takes, whatever happens to the files while it walks.
@Suite(.watched)
struct `A removal of everything` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `A removal of everything` {
  /// A change by another process or a person that leaves the content of a file as it is.
  enum Touch: CaseIterable {
    case use, link, owner, attribute
  }

  private func touch(_ key: String, _ touch: Touch) throws {
    let path = scene.file(key)
    switch touch {
    case .use: try scene.touch(scene.name(key), access: scene.clock.now, modification: nil)
    case .link: try FileManager.default.linkItem(atPath: path, toPath: path + "-linked")
    case .owner: #expect(unsafe chown(path, geteuid(), getegid()) == 0)
    case .attribute:
      try scene.setAttribute(scene.name(key), scene.attribute(scene.name(key)) ?? "")
    }
  }

  /// Opens a cache with five values, whose removal waits at the first file. The walk has listed all
  /// of them. Returns the keys of the other four.
  private func held(
    _ cache: DiskCache, _ gate: Gate
  ) throws -> (progress: RemovalProgress, others: [String]) {
    for number in 0..<5 { try cache.store([1], forKey: "\(number)") }
    _ = try cache.count()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    let progress = try cache.removeAllInBackground()
    gate.waitUntilReached()
    let held = cache.engine.withState { $0.locks.held }
    let others = (0..<5).map(String.init).filter { key in
      !held.contains(DiskScene.name(of: Array(key.utf8)))
    }
    return (progress, others)
  }

  @Test(arguments: Touch.allCases)
  func `takes files that another process touches meanwhile`(kind: Touch) throws {
    let cache = try scene.open()
    let gate = Gate()
    let (progress, others) = try held(cache, gate)
    for key in others { try touch(key, kind) }
    gate.open()
    let result = try progress.wait()
    #expect(result.removed == 5 && result.failed == 0)
    for number in 0..<5 { #expect(try cache.value(forKey: "\(number)") == nil) }
    #expect(try cache.count() == 0)
    try scene.expectConsistent(cache)
  }

  @Test func `takes files whose change time shows their expiry, as on CephFS`() throws {
    scene.faults.simulate(.cephFuse)
    let cache = try scene.open()
    let gate = Gate()
    let (progress, others) = try held(cache, gate)
    for key in others {
      try scene.touch(
        scene.name(key), access: nil, modification: scene.clock.now.adding(seconds: 900_000))
    }
    gate.open()
    #expect(try progress.wait().removed == 5 && cache.count() == 0)
  }

  @Test func `takes a file that this process stamps by hand meanwhile`() throws {
    let cache = try scene.open()
    let gate = Gate()
    let (progress, others) = try held(cache, gate)
    let outcome = try cache.stamp(scene.name(others[0]).text)
    #expect(outcome == .absent)
    #expect(try cache.value(forKey: others[0]) == nil)
    gate.open()
    #expect(try progress.wait().removed == 5 && cache.count() == 0)
    try scene.expectConsistent(cache)
  }

  @Test func `takes a file whose stamping by hand it has overtaken`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    let started = Shared<[RemovalProgress]>([])
    let remove: @Sendable () -> Void = {
      do {
        let progress = try cache.removeAllInBackground()
        started.change { $0.append(progress) }
      } catch { Issue.record(error) }
    }
    scene.faults.plan(.before(remove), for: .futimens)
    #expect(try cache.stamp(scene.name("k").text) == .absent)
    #expect(try started.value.first?.wait().removed == 1)
    #expect(try cache.count() == 0 && scene.names.isEmpty)
  }

  /// Stores a value under "k" whose file gets its name after a removal has listed the directory.
  /// What is planned happens when the removal takes it at last.
  ///
  /// - Returns: The removal, held at the gate where it removes the file of "old", and the end of
  ///   the store.
  private func storeAfterWalk(
    _ cache: DiskCache, _ walking: Gate, _ fault: FaultInjector.Fault
  ) throws -> (progress: RemovalProgress, stored: Gate) {
    try cache.store([1], forKey: "old")
    try cache.flush()
    let (publishing, stored) = (Gate(), Gate())
    scene.faults.plan(.before { publishing.pass() }, for: .linkat)
    try startThread {
      do { try cache.store([2], forKey: "k") } catch { Issue.record(error) }
      stored.pass()
    }
    publishing.waitUntilReached()
    scene.faults.plan(.before { walking.pass() }, for: .unlinkat, at: 1)
    scene.faults.plan(fault, for: .unlinkat, at: 2)
    let progress = try cache.removeAllInBackground()
    walking.waitUntilReached()
    publishing.open()
    return (progress, stored)
  }

  @Test(arguments: [nil, 1 << 20])
  func `takes the file of a store begun before it, which no read finds`(
    writeBehindLimit: Int?
  ) throws {
    let cache = try scene.open { $0.writeBehindLimit = writeBehindLimit }
    let (walking, removing) = (Gate(), Gate())
    let (progress, stored) = try storeAfterWalk(cache, walking, .before { removing.pass() })
    stored.waitUntilReached()
    stored.open()
    #expect(try cache.value(forKey: "k") == nil)
    walking.open()
    removing.waitUntilReached()
    #expect(try cache.value(forKey: "k") == nil)
    removing.expectToHold { _ = try progress.wait() }
    #expect(progress.result.removed == 2)
    #expect(try cache.value(forKey: "k") == nil && scene.names.isEmpty)
    #expect(cache.statistics.removals == [.explicit: 2])
    try scene.expectConsistent(cache)
  }

  @Test func `counts the file of a store begun before it, if it cannot be unlinked`() throws {
    let cache = try scene.open()
    _ = try cache.count()
    let walking = Gate()
    let (progress, stored) = try storeAfterWalk(cache, walking, .errno(.ioError))
    stored.waitUntilReached()
    stored.open()
    walking.open()
    let result = try progress.wait()
    #expect(result.removed == 1 && result.failed == 1)
    #expect(try cache.count() == 1)
    #expect(try cache.value(forKey: "k") == [2])
    #expect(cache.statistics.removals == [.explicit: 1])
    try scene.expectConsistent(cache)
  }

  @Test func `puts a value back that waits over the file of a store begun before it`() throws {
    let cache = try scene.open { $0.writeBehindLimit = 1 << 20 }
    let (staging, publishing) = (Gate(), Gate())
    scene.faults.plan(.before { staging.pass() }, for: .write)
    scene.faults.plan(.before { publishing.pass() }, for: .linkat)
    #expect(try cache.store([1], forKey: "k") == .pending)
    staging.waitUntilReached()
    #expect(try cache.store([2], forKey: "k") == .pending)
    staging.open()
    publishing.waitUntilReached()
    scene.faults.plan(.errno(.ioError), for: .unlinkat)
    let progress = try cache.removeAllInBackground()
    publishing.open()
    let result = try progress.wait()
    #expect(result.removed == 0 && result.failed == 1)
    #expect(try cache.value(forKey: "k") == [2])
    try scene.expectConsistent(cache)
    #expect(try cache.value(forKey: "k") == [2])
    try cache.close()
  }

  @Test func `takes the file of a store begun before it, whoever stamps the file`() throws {
    let cache = try scene.open()
    let (gate, happening, stored) = (Gate(), Happening(), Counter())
    let path = scene.file("k")
    scene.faults.plan(.before { gate.pass() }, for: .linkat)
    try startThread {
      do { try cache.store([1], forKey: "k") } catch { Issue.record(error) }
      stored.add()
      happening.tell()
    }
    gate.waitUntilReached()
    let progress = try cache.removeAllInBackground()
    // Moves the change time between the store's own look and its removal.
    scene.faults.plan(.before { _ = unsafe chmod(path, 0o640) }, for: .fstatat, onwards: true)
    gate.open()
    #expect(happening.wait { stored.value == 1 })
    try progress.wait()
    #expect(try scene.names.isEmpty && cache.value(forKey: "k") == nil)
  }

  @Test func `does not wait for itself where the caller's clock stores and a limit is reached`()
    throws
  {
    let (opened, isArmed) = (Shared<DiskCache?>(nil), Shared(false))
    let clock = scene.clock
    let cache = try scene.open {
      $0.sizeLimit = 3_000
      $0.clock = WallClock {
        if isArmed.value {
          isArmed.value = false
          do {
            _ = try opened.value?.store(Array(repeating: 2, count: 2_500), forKey: "new")
          } catch { Issue.record(error) }
        }
        return clock.now
      }
    }
    opened.value = cache
    for number in 0..<3 { try cache.store(Array(repeating: 1, count: 1_000), forKey: "\(number)") }
    _ = try cache.count()
    // The walk has listed the files and holds the name of the first.
    scene.faults.plan(.before { isArmed.value = true }, for: .unlinkat, at: 1)
    #expect(try cache.removeAll().removed == 3)
    opened.value = nil
    try cache.close()
  }

  @Test func `gives up a scan, whose files it removes`() throws {
    let cache = try scene.open()
    for number in 0..<5 { try cache.store([1], forKey: "\(number)") }
    let (scanning, walking) = (Gate(), Gate())
    scene.faults.plan(.before { scanning.pass() }, for: .readdir, at: 1)
    cache.engine.startScanIfNeeded()
    scanning.waitUntilReached()
    scene.faults.plan(.before { walking.pass() }, for: .unlinkat, at: 1)
    let progress = try cache.removeAllInBackground()
    #expect(cache.engine.withState { !$0.catalog.scans.isOngoing })
    walking.waitUntilReached()
    #expect(try cache.count() == 0)
    scanning.open()
    walking.open()
    #expect(try progress.wait().removed == 5 && cache.count() == 0)
    try scene.expectConsistent(cache)
  }

  @Test func `counts a file that it cannot unlink once, beside a store that waits for room`() throws
  {
    let cache = try scene.open { $0.sizeLimit = 1000 }
    for number in 0..<5 { try cache.store([UInt8](repeating: 1, count: 150), forKey: "\(number)") }
    _ = try cache.count()
    scene.faults.plan(.errno(.ioError), for: .unlinkat, at: 1)
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 2)
    let progress = try cache.removeAllInBackground()
    gate.waitUntilReached()
    let total = cache.engine.withState { $0.totalsOnDisk.byteCount }
    #expect(total == 750)
    gate.open()
    let result = try progress.wait()
    #expect(result.removed == 4 && result.failed == 1)
    #expect(try cache.totalSize() == 150)
    try scene.expectConsistent(cache)
  }

  /// Calls a closure when it is told that everything was removed.
  private final class Listener: EngineObserver {
    let onClearing: @Sendable () throws -> Void

    init(_ onClearing: @escaping @Sendable () throws -> Void) { self.onClearing = onClearing }

    func hear(of change: DiskChange) {
      guard case .cleared = change else { return }
      do { try onClearing() } catch { Issue.record(error) }
    }
  }

  @Test(arguments: [nil, 1 << 20])
  func `leaves nothing in memory that a read of the disk misses`(writeBehindLimit: Int?) throws {
    let disk = try scene.open { $0.writeBehindLimit = writeBehindLimit }
    let (opened, found) = (Shared<Cache<String>?>(nil), Shared<[String?]>([]))
    // This one is told before memory is emptied, the other one after that.
    let reader = Listener {
      guard let cache = opened.value else { return }
      let missed = try cache.disk.value(forKey: "k") == nil
      if missed { found.change { $0.append(cache.memory.value(forKey: "k")) } }
    }
    disk.engine.observers.add(reader)
    opened.value = try scene.open(.string) { $0.disk.writeBehindLimit = writeBehindLimit }
    let writer = Listener { try opened.value?.store("v", forKey: "k") }
    disk.engine.observers.add(writer)
    try opened.value?.removeAll()
    // Everything is hidden when they are told for the second time.
    #expect(found.value == [nil, nil])
    opened.value = nil
    _ = (reader, writer)
  }

  @Test func `makes room for a store that finds the disk full`() throws {
    let cache = try scene.open { $0.sizeLimit = 1 << 20 }
    let gate = Gate()
    let (progress, _) = try held(cache, gate)
    try cache.store([2], forKey: "new")
    scene.faults.plan(.errno(.noSpace), for: .write)
    let struckCount = scene.faults.struckCount
    gate.expectToHold(once: { scene.faults.struckCount > struckCount }) {
      let outcome = try cache.store([3], forKey: "newer")
      #expect(outcome == .stored)
    }
    try progress.wait()
    #expect(try cache.value(forKey: "new") == [2] && cache.value(forKey: "newer") == [3])
    #expect(cache.statistics.purges == 0)
    try scene.expectConsistent(cache)
  }
}
