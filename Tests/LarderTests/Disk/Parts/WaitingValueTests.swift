import Foundation
import LarderTestSupport
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// What readers find while a value waits over an older file and the name is changed. The writer is
/// blocked, so that the value waits.
@Suite(.watched)
struct `A value that waits over a file` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `A value that waits over a file` {
  /// Opens a cache with the value 1 on the disk and the value 2 waiting.
  private func open(_ change: (inout DiskCache.Configuration) -> Void = { _ in }) throws
    -> DiskCache
  {
    let cache = try scene.open {
      $0.writeBehindLimit = 1 << 20
      change(&$0)
    }
    try cache.store([1], forKey: "k")
    try cache.flush()
    cache.blockWriter()
    #expect(try cache.store([2], forKey: "k") == .pending)
    return cache
  }

  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let answer: String
    /// The value that is there in the end; nil for none.
    let outcome: [UInt8]?
    let make: @Sendable (DiskCache) throws -> String

    init(
      _ name: String, _ answer: String, _ outcome: [UInt8]?,
      _ make: @escaping @Sendable (DiskCache) throws -> String
    ) {
      (testDescription, self.answer, self.outcome, self.make) = (name, answer, outcome, make)
    }
  }

  private static let large = [UInt8](repeating: 3, count: 1 << 20)

  private static let changes = [
    Change("remove", "true", nil) { "\(try $0.remove(forKey: "k"))" },
    Change("removeValue", "[2]", nil) { "\(try $0.removeValue(forKey: "k") ?? [])" },
    Change("removeAll", "1", nil) { "\(try $0.removeAll().removed)" },
    Change("stream", "stored", [3, 3]) { cache in
      "\(try cache.store(forKey: "k") { try $0.write([3, 3]) })"
    },
    Change("large store", "stored", large) { "\(try $0.store(large, forKey: "k"))" },
    Change("rejected store", "rejected: expired already", nil) {
      "\(try $0.store([3], forKey: "k", expiration: .expired))"
    },
    Change("flush", "()", [2]) { "\(try $0.flush())" },
    Change("touch", "true", [2]) { "\(try $0.touch(forKey: "k"))" },
  ]

  @Test(arguments: changes, [DiskCache.Durability.relaxed, .durable])
  func `hides it at every moment of a change, and is not found after it`(
    change: Change, durability: DiskCache.Durability
  ) throws {
    let cache = try open { $0.durability = durability }
    let found = Shared<[[UInt8]?]>([])
    let isReading = Shared(false)
    let read: @Sendable () -> Void = {
      // The read makes calls as well.
      if isReading.value { return }
      isReading.value = true
      defer { isReading.value = false }
      do {
        found.value += [try cache.value(forKey: "k")]
      } catch {
        Issue.record(error)
      }
    }
    for call in [
      SystemCall.unlinkat, .renameat, .linkat, .fstat, .fstatat, .futimens, .fsetxattr, .fsync,
      .fdatasync, .write,
    ] {
      scene.faults.plan(.before(read), for: call, onwards: true)
    }
    #expect(try change.make(cache) == change.answer)
    scene.faults.reset()
    let outcome = try cache.value(forKey: "k")
    #expect(outcome == change.outcome)
    #expect(!found.value.isEmpty)
    // The value first, then the outcome, and never the older file.
    let rest = found.value.drop { $0 == [2] }
    #expect(rest.allSatisfy { $0 == change.outcome })
    try scene.expectConsistent(cache)
    #expect(try cache.value(forKey: "k") == change.outcome)
    try cache.close()
  }

  @Test func `comes back where everything was removed and its directory could not be read`()
    throws
  {
    let cache = try open()
    #expect(try cache.store([3], forKey: "other") == .pending)
    scene.faults.plan(.errno(.ioError), for: .readdir)
    #expect(throws: CacheError.self) { try cache.removeAll() }
    #expect(try cache.value(forKey: "k") == [2])
    #expect(try cache.value(forKey: "other") == [3])
    try scene.expectConsistent(cache)
    #expect(try cache.value(forKey: "k") == [2])
    try cache.close()
  }

  @Test func `goes with everything, and what comes after that stays`() throws {
    let cache = try open()
    try cache.store([3], forKey: "alone")
    let walk = Gate()
    scene.faults.plan(.before { walk.pass() }, for: .unlinkat, at: 1)
    let removal = try cache.removeAllInBackground()
    walk.waitUntilReached()
    #expect(try cache.value(forKey: "k") == nil && cache.value(forKey: "alone") == nil)
    #expect(try cache.store([4], forKey: "alone") == .pending)
    #expect(try cache.value(forKey: "alone") == [4])
    walk.open()
    #expect(try removal.wait().removed == 2)
    #expect(try cache.value(forKey: "k") == nil && cache.value(forKey: "alone") == [4])
    try scene.expectConsistent(cache)
    #expect(try scene.names == [scene.name("alone").text])
    try cache.close()
  }

  @Test func `stays away where its file stays, but a second removal of everything has begun`()
    throws
  {
    let cache = try open()
    let (second, begun) = (Shared<RemovalProgress?>(nil), Counter())
    // Between the beginning of the first walk and its attempt to remove the file.
    let begin: @Sendable () -> Void = {
      guard begun.value == 0, cache.engine.withState({ $0.clearing.isRunning }) else { return }
      begun.add()
      do {
        second.value = try cache.removeAllInBackground()
      } catch {
        Issue.record(error)
      }
    }
    scene.faults.plan(.before(begin), for: .fstatat, onwards: true)
    scene.faults.plan(.errno(.ioError), for: .unlinkat, at: 1)
    #expect(try cache.removeAll().failed == 1)
    #expect(try second.value?.wait().removed == 1)
    #expect(try cache.value(forKey: "k") == nil)
    try scene.expectConsistent(cache)
    #expect(try scene.names.isEmpty)
    try cache.close()
  }

  @Test func `is read by every object on the directory, and its loss is thrown once`() throws {
    let cache = try open()
    let other = try scene.open { $0.writeBehindLimit = 1 << 20 }
    #expect(try other.value(forKey: "k") == [2])
    #expect(try other.storeIfAbsent([3], forKey: "k") == .rejected(.alreadyPresent))
    #expect(try other.store([3], forKey: "l") == .pending)
    #expect(try cache.value(forKey: "l") == [3])
    scene.faults.plan(.errno(.ioError), for: .futimens, onwards: true)
    #expect(throws: CacheError.self) { try other.flush() }
    scene.faults.reset()
    try cache.flush()
    #expect(cache.statistics.lostStores == 2)
    #expect(try cache.value(forKey: "k") == nil && other.value(forKey: "l") == nil)
    #expect(try other.store([4], forKey: "k") == .pending)
    // The last object writes it.
    try other.close()
    try cache.close()
    #expect(try scene.names == [scene.name("k").text])
  }

  @Test func `stays when the older entry was chosen to go before it came`() throws {
    let cache = try open()
    let removal = try cache.removeAll { _ in
      do {
        try cache.store([3], forKey: "k")
      } catch {
        Issue.record(error)
      }
      return true
    }
    #expect(removal.removed == 0)
    #expect(try cache.value(forKey: "k") == [3])
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `reaches the directory that has replaced the one of the file`() throws {
    let cache = try open()
    try FileManager.default.moveItem(
      atPath: scene.path, toPath: scene.directory.path + "/aside")
    try scene.makeDirectory()
    cache.engine.location.isAstray.store(true, ordering: .relaxed)
    #expect(try cache.value(forKey: "k") == [2])
    try cache.flush()
    #expect(try scene.names == [scene.name("k").text])
    #expect(try cache.value(forKey: "k") == [2])
    try cache.close()
  }
}
