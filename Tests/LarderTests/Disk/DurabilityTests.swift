import Foundation
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// The syncs that keep the promises of the configured durability after a power cut.
struct `Before a power cut` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }

  /// Returns the number of calls of a kind that a body makes.
  private func count(of call: SystemCall, during body: () throws -> Void) rethrows -> Int {
    let before = scene.faults.count(of: call)
    try body()
    return scene.faults.count(of: call) - before
  }

  @Test func `a durable removal syncs the directory although the file is gone`() throws {
    let cache = try scene.open { $0.durability = .durable }
    try cache.store([1], forKey: "k")
    // As by another process that has unlinked the file and not synced the directory yet.
    try FileManager.default.removeItem(atPath: scene.file("k"))
    let syncs = try count(of: .fsync) { () throws in
      #expect(try !cache.remove(forKey: "k"))
    }
    #expect(syncs == 1)
  }

  @Test func `a durable removal syncs what another thread has unlinked and not synced`() throws {
    let cache = try scene.open { $0.durability = .durable }
    try cache.store([1], forKey: "k")
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .fsync, at: 1)
    let name = DiskScene.name(of: Array("k".utf8))
    let status = try scene.status(name.fileName)
    cache.engine.removeInBackground(damaged: name, status)
    // The other thread has unlinked the file and is about to sync.
    gate.waitUntilReached()
    #expect(try scene.names.isEmpty)
    let syncs = try count(of: .fsync) { _ = try cache.remove(forKey: "k") }
    #expect(syncs == 1)
    gate.open()
    try cache.flush()
  }

  @Test func `a durable trim syncs what another thread has evicted and not synced`() throws {
    let cache = try scene.open { $0.durability = .durable }
    try cache.store([1], forKey: "k")
    _ = try cache.count()
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .fsync, at: 1)
    let other = inBackground { try cache.trim(toCount: 0).removed }
    gate.waitUntilReached()
    let syncs = try count(of: .fsync) { () throws in
      #expect(try cache.trim(toCount: 0).removed == 0)
    }
    #expect(syncs == 1)
    gate.open()
    #expect(try other().get() == 1)
  }

  @Test func `a durable removal of chosen entries syncs what another thread has evicted`() throws {
    let cache = try scene.open { $0.durability = .durable }
    try cache.store([1], forKey: "k")
    // As by another thread that has unlinked the file and not synced the directory yet.
    try FileManager.default.removeItem(atPath: scene.file("k"))
    let syncs = try count(of: .fsync) { () throws in
      #expect(try cache.removeVariants(of: "k").removed == 0)
      #expect(try cache.removeAll { _ in true }.removed == 0)
    }
    #expect(syncs == 2)
  }

  private static let removals: [(String, @Sendable (DiskCache) throws -> Void)] = [
    ("trim", { _ = try $0.trim(toCount: 0) }), ("removeExpired", { _ = try $0.removeExpired() }),
    ("removeAll", { _ = try $0.removeAll { _ in true } }),
    ("remove", { _ = try $0.remove(forKey: "k") }),
    ("verify", { _ = try $0.verify(repairs: true) }), ("flush", { try $0.flush() }),
  ]

  @Test(arguments: removals.indices)
  func `a durable removal whose sync fails throws`(number: Int) throws {
    let cache = try scene.open { $0.durability = .durable }
    try cache.store([1, 2, 3], forKey: "k", expiration: .seconds(1))
    // The end of a scan removes what has expired.
    _ = try cache.count()
    let (operation, remove) = Self.removals[number]
    if operation == "verify" { try scene.damage("k", to: [3, 2, 1]) }
    if operation == "removeExpired" { scene.clock.advance(by: .seconds(2)) }
    scene.faults.plan(.errno(.ioError), for: .fsync)
    let error = #expect(throws: CacheError.self) { try remove(cache) }
    #expect(error?.errno == .ioError && error?.operation == operation)
    #expect(cache.statistics.upkeepFailures.isEmpty)
  }

  @Test func `a durable store that is rejected syncs the absence of what it was to replace`()
    throws
  {
    let cache = try scene.open {
      $0.durability = .durable
      $0.sizeLimit = 4
    }
    try cache.store([1], forKey: "k")
    try FileManager.default.removeItem(atPath: scene.file("k"))
    let syncs = try count(of: .fsync) { () throws in
      #expect(try cache.store([1, 2, 3, 4, 5], forKey: "k") == .rejected(.tooLarge))
    }
    #expect(syncs == 1)
  }

  @Test func `a durable repair syncs the directory once for all that it removes`() throws {
    let cache = try scene.open { $0.durability = .durable }
    // The end of a scan removes what has expired, as a file has while it is being damaged.
    _ = try cache.count()
    for key in ["a", "b"] {
      try cache.store([1, 2, 3], forKey: key)
      try scene.damage(key, to: [3, 2, 1])
    }
    let syncs = try count(of: .fsync) { () throws in
      #expect(try cache.verify(repairs: true).removal.removed == 2)
    }
    #expect(syncs == 1)
  }

  @Test(arguments: [nil, Errno.ioError])
  func `a durable removal of everything syncs what a store takes back after the walk`(
    failure: Errno?
  ) throws {
    let cache = try scene.open { $0.durability = .durable }
    try cache.store([1], forKey: "gone")
    _ = try cache.count()
    // The walk does not meet it, so it counts as there until the walk has read all names.
    try FileManager.default.removeItem(atPath: scene.file("gone"))
    let publishing = Gate()
    scene.faults.plan(.before { publishing.pass() }, for: .renameat)
    let storing = inBackground { try cache.store([2], forKey: "k") }
    publishing.waitUntilReached()
    let calls = Mutex<[SystemCall]>([])
    scene.faults.plan(
      .before { calls.withLock { $0.append(.unlinkat) } }, for: .unlinkat, onwards: true)
    if let failure {
      // The first sync is that of the store.
      scene.faults.plan(.errno(failure), for: .fsync, at: 2)
    } else {
      scene.faults.plan(
        .before { calls.withLock { $0.append(.fsync) } }, for: .fsync, onwards: true)
    }
    let progress = try cache.removeAllInBackground()
    try eventually("the walk to have read all names") {
      cache.engine.withState { $0.clearing.remaining.count == 0 }
    }
    publishing.open()
    _ = try storing().get()
    if let failure {
      let error = #expect(throws: CacheError.self) { try progress.wait() }
      #expect(error?.errno == failure && error?.operation == "removeAll")
    } else {
      try progress.wait()
      #expect(calls.withLock { $0 } == [.fsync, .unlinkat, .fsync])
    }
    #expect(try scene.names.isEmpty)
  }

  @Test func `a relaxed removal syncs nothing`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    let syncs = try count(of: .fsync) {
      try cache.remove(forKey: "k")
      try cache.remove(forKey: "k")
    }
    #expect(syncs == 0)
  }

  @Test(arguments: [false, true])
  func `the tag is synced when it is made`(isDurable: Bool) throws {
    let tag = scene.path + "/CACHEDIR.TAG"
    let texts = Mutex<[String]>([])
    let look: @Sendable () -> Void = {
      do {
        let text = try String(contentsOfFile: tag, encoding: .utf8)
        texts.withLock { $0.append(text) }
      } catch {
        Issue.record(error)
      }
    }
    try scene.makeDirectory()
    scene.faults.plan(.before(look), for: .fsync)
    let cache = try scene.open { $0.durability = isDurable ? .durable : .relaxed }
    #expect(texts.withLock { $0 } == [DirectoryMaking.tagText])
    try cache.close()
  }

  @Test(arguments: [[], [UInt8](repeating: 0, count: 129), [0, 0, 0]])
  func `a tag that a cut left without its text is written anew`(content: [UInt8]) throws {
    try scene.open().close()
    let tag = FileName(text: "CACHEDIR.TAG")
    try Data(content).write(to: URL(filePath: scene.path + "/CACHEDIR.TAG"))
    try scene.plant([1], named: "other")
    #expect(try DirectoryKind(ofDirectory: scene.path) == .cache)
    let inode = try scene.status(tag).inode
    try scene.open { $0.mode = .readOnly }.close()
    #expect(try Data(contentsOf: URL(filePath: scene.path + "/CACHEDIR.TAG")) == Data(content))
    let syncs = try count(of: .fsync) { () throws in try scene.open().close() }
    #expect(syncs == 1)
    let text = try String(contentsOfFile: scene.path + "/CACHEDIR.TAG", encoding: .utf8)
    #expect(text == DirectoryMaking.tagText)
    // Evictors of other processes hold the tag's lock.
    #expect(try scene.status(tag).inode == inode)
  }

  @Test func `a directory with a tag is opened without a look at its names`() throws {
    try scene.open().close()
    try scene.plant([1], named: "other")
    let readings = try count(of: .readdir) { () throws in try scene.open().close() }
    #expect(readings == 0)
  }

  @Test(arguments: [[1], [UInt8](repeating: 0, count: 130), Array("Signature: 8a".utf8)])
  func `a tag that others wrote stays as it is`(content: [UInt8]) throws {
    try scene.makeDirectory()
    try scene.plant(content, named: "CACHEDIR.TAG")
    #expect(try DirectoryKind(ofDirectory: scene.path) == .foreign)
    try scene.open().close()
    #expect(try Data(contentsOf: URL(filePath: scene.path + "/CACHEDIR.TAG")) == Data(content))
  }

  @Test func `an empty file with a second name is no tag that is written to`() throws {
    try scene.makeDirectory()
    let other = scene.directory.path + "/other"
    try Data().write(to: URL(filePath: other))
    try FileManager.default.linkItem(atPath: other, toPath: scene.path + "/CACHEDIR.TAG")
    try scene.open().close()
    #expect(try Data(contentsOf: URL(filePath: other)).isEmpty)
  }

  /// Makes the file system refuse attributes, or accept them again.
  private func refuseAttributes(_ mustRefuse: Bool = true) {
    scene.faults.reset()
    guard mustRefuse else { return }
    for call in [SystemCall.fsetxattr, .fgetxattr] {
      scene.faults.plan(.errno(.notSupported), for: call, onwards: true)
    }
  }

  @Test(arguments: [SystemCall.linkat, .renameat], [false, true])
  func `without attributes the content is synced before it gets its name`(
    naming: SystemCall, isStream: Bool
  ) throws {
    let cache = try scene.open()
    if naming == .renameat { try cache.store([1], forKey: "k") }
    refuseAttributes()
    let faults = scene.faults
    let syncs = Mutex(0)
    let note: @Sendable () -> Void = {
      let count = faults.count(of: .fdatasync)
      syncs.withLock { $0 = count }
    }
    faults.plan(.before(note), for: naming)
    if isStream {
      try cache.store(forKey: "k") { try $0.write([2, 3]) }
    } else {
      try cache.store([2, 3], forKey: "k")
    }
    #expect(faults.count(of: naming) == 1)
    #expect(syncs.withLock { $0 } == 1)
  }

  @Test func `a durable file has a name when it is synced`() throws {
    let cache = try scene.open { $0.durability = .durable }
    let path = scene.path
    let names = Mutex<[String]>([])
    let note: @Sendable () -> Void = {
      do {
        let found = try FileManager.default.contentsOfDirectory(atPath: path)
        names.withLock { $0 = found.filter { $0.hasPrefix(".larder-") } }
      } catch {
        Issue.record(error)
      }
    }
    scene.faults.plan(.before(note), for: .fdatasync)
    #expect(try cache.store([1], forKey: "k") == .stored)
    #expect(names.withLock { $0.count } == 1)
    #expect(try cache.storeIfAbsent([2], forKey: "l") == .stored)
    #expect(scene.faults.count(of: .linkat) == 0)
    #expect(try scene.names == [scene.name("k").text, scene.name("l").text].sorted())
  }

  @Test func `with attributes a relaxed store syncs nothing`() throws {
    let cache = try scene.open()
    let syncs = try count(of: .fdatasync) { () throws in try cache.store([1], forKey: "k") }
    #expect(syncs == 0)
  }

  @Test func `without attributes an empty value is found by every process`() throws {
    var cache = try scene.open()
    refuseAttributes()
    try cache.store([], forKey: "k")
    try cache.close()
    cache = try scene.open()
    #expect(try cache.value(forKey: "k") == [])
    #expect(try cache.contains("k"))
    #expect(try cache.storeIfAbsent([1], forKey: "k") == .rejected(.alreadyPresent))
    #expect(try cache.verify().unverifiableCount == 1)
    try cache.close()
    // If the file system has attributes and the file none, a power cut may have emptied the file.
    refuseAttributes(false)
    cache = try scene.open()
    #expect(try !cache.contains("k"))
    #expect(try cache.verify().damaged == [scene.name("k").text])
    #expect(try cache.value(forKey: "k") == nil)
    #expect(cache.statistics.misses == [.damaged: 1])
  }

  @Test func `extended data without the entry's attribute is damage`() throws {
    try scene.makeDirectory()
    // As `e2fsck` leaves a file when it drops the one attribute that was in a block of its own.
    try scene.plant([1, 2], named: scene.name("k").text)
    let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
    try handle.openForReading(scene.name("k")).setAttribute(.data, to: [5])
    let reopened = try scene.open()
    #expect(try !reopened.contains("k"))
    #expect(try reopened.verify().damaged == [scene.name("k").text])
    #expect(try reopened.read(forKey: "k") == nil)
    #expect(reopened.statistics.misses == [.damaged: 1])
    try reopened.flush()
    #expect(try scene.names.isEmpty)
  }
}
