import Foundation
import Glibc
import LarderTestSupport
import Synchronization
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem
@testable import LarderTool

/// The effect of `mv cache aside; mkdir cache` on caches that hold the directory.
@Suite(.watched)
struct `A replaced directory` {
  let scene: DiskScene
  private let manager = FileManager.default

  init() throws {
    scene = try DiskScene()
  }
}

extension `A replaced directory` {
  private static func aside(_ scene: DiskScene) -> String { scene.directory.path + "/aside" }

  /// Replaces the directory, and makes the next call check its path, as it would a second later.
  private static func replace(_ scene: DiskScene, under cache: DiskCache) throws {
    try FileManager.default.moveItem(atPath: scene.path, toPath: aside(scene))
    try scene.makeDirectory()
    cache.engine.location.isAstray.store(true, ordering: .relaxed)
  }

  /// Expects that a cache finds the directory that has taken its path. Closes it.
  private func expectFollowed(_ cache: DiskCache, at path: String) throws {
    #expect(try cache.engine.revalidate(isUrgent: true, mayMake: true, "test"))
    try cache.store([1], forKey: "k")
    #expect(manager.fileExists(atPath: "\(path)/\(scene.name("k").text)"))
    try cache.close()
  }

  @Test func `is looked for after events were lost`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    try manager.moveItem(atPath: scene.path, toPath: Self.aside(scene))
    try scene.makeDirectory()
    var batch = EventBatch()
    batch.add(DirectoryEvent(watch: -1, kind: .overflow, name: nil), watch: 1)
    cache.engine.act(on: batch)
    #expect(try cache.value(forKey: "k") == nil)
    try cache.close()
  }

  private static let clears: [@Sendable (DiskCache) throws -> Void] = [
    { _ = try $0.removeAll() }, { _ = try $0.removeAll { _ in true } },
    { _ = try $0.trim(toCount: 0) }, { _ = try $0.removeExpired() },
  ]

  @Test(arguments: clears.indices)
  func `is looked for before many are removed, however late the last look was`(number: Int) throws {
    let cache = try scene.open { $0.pathCheckPause = .seconds(3_600) }
    try cache.store([1], forKey: "k")
    _ = try cache.count()
    try manager.moveItem(atPath: scene.path, toPath: Self.aside(scene))
    try scene.makeDirectory()
    try Self.clears[number](cache)
    #expect(isAside("k", scene))
    try cache.close()
  }

  @Test(arguments: [Duration.zero, .seconds(3_600)])
  func `is looked for at a call after a pause, without events`(pause: Duration) throws {
    let cache = try scene.open { $0.pathCheckPause = pause }
    try cache.store([1], forKey: "k")
    try manager.moveItem(atPath: scene.path, toPath: Self.aside(scene))
    try scene.makeDirectory()
    #expect(try cache.value(forKey: "k") == (pause == .zero ? nil : [1]))
    try cache.close()
  }

  @Test func `gives up the lock of the old one, which a forked child would keep`() throws {
    let cache = try scene.open { $0.mode = .exclusive }
    let copy = dup(cache.engine.location.handle.descriptor.rawValue)
    defer { close(copy) }
    try Self.replace(scene, under: cache)
    try cache.store([1], forKey: "k")
    var configuration = scene.configuration.disk
    configuration.mode = .exclusive
    let other = try DiskCache(directory: Self.aside(scene), configuration: configuration)
    try other.close()
    try cache.close()
  }

  @Test func `that is opened where it was moved to takes its own stores`() throws {
    let first = try scene.open()
    try first.store([1], forKey: "old")
    try manager.moveItem(atPath: scene.path, toPath: Self.aside(scene))
    let second = try DiskCache(
      directory: Self.aside(scene), configuration: scene.configuration.disk)
    #expect(second.directory == Self.aside(scene))
    #expect(try second.value(forKey: "old") == [1])
    // The first makes its directory again with its next store.
    try first.store([2], forKey: "first")
    try second.store([3], forKey: "second")
    #expect(try scene.names == [scene.name("first").text])
    #expect(isAside("old", scene) && isAside("second", scene) && !isAside("first", scene))
    #expect(try first.value(forKey: "old") == nil && second.value(forKey: "first") == nil)
    try first.close()
    try second.close()
  }

  @Test func `whose place is taken by another is not shared with a cache at its new path`() throws {
    let first = try scene.open()
    try first.store([1], forKey: "old")
    try manager.moveItem(atPath: scene.path, toPath: Self.aside(scene))
    try scene.makeDirectory()
    let second = try DiskCache(
      directory: Self.aside(scene), configuration: scene.configuration.disk)
    try second.store([3], forKey: "second")
    #expect(isAside("second", scene) && first.engine !== second.engine)
    #expect(try first.value(forKey: "old") == nil)
    try first.close()
    try second.close()
  }

  @Test(arguments: [false, true])
  func `that went with its parents is made again with them`(isMadeByHand: Bool) throws {
    let (top, path) = (scene.directory.path + "/top", scene.directory.path + "/top/middle/cache")
    let cache = try DiskCache(directory: path, configuration: scene.configuration.disk)
    var configuration = scene.configuration.disk
    configuration.mode = .readOnly
    try cache.store([1], forKey: "k")
    let reader = try DiskCache(directory: path, configuration: configuration)
    try manager.removeItem(atPath: top)
    for look in [cache, reader] {
      look.engine.location.isAstray.store(true, ordering: .relaxed)
      #expect(try look.value(forKey: "k") == nil)
    }
    if isMadeByHand { try manager.createDirectory(atPath: path, withIntermediateDirectories: true) }
    cache.engine.location.isAstray.store(true, ordering: .relaxed)
    try cache.store([2], forKey: "k")
    #expect(try cache.value(forKey: "k") == [2] && cache.engine.location.isAtPath)
    reader.engine.location.isAstray.store(true, ordering: .relaxed)
    #expect(try reader.value(forKey: "k") == [2])
    try reader.close()
    try cache.close()
  }

  @Test func `goes on where a directory above it was moved`() throws {
    let (top, path) = (scene.directory.path + "/top", scene.directory.path + "/top/cache")
    let cache = try DiskCache(directory: path, configuration: scene.configuration.disk)
    try cache.store([1], forKey: "k")
    try manager.moveItem(atPath: top, toPath: Self.aside(scene))
    try manager.createDirectory(atPath: path, withIntermediateDirectories: true)
    cache.engine.location.isAstray.store(true, ordering: .relaxed)
    try cache.store([2], forKey: "k")
    let name = try #require(cache.entries().first).name
    #expect(manager.fileExists(atPath: Self.aside(scene) + "/cache/\(name)"))
    #expect(!manager.fileExists(atPath: "\(path)/\(name)"))
    try cache.close()
  }

  @Test(arguments: [Errno.permissionDenied, .readOnlyFileSystem])
  func `is found in a parent that was replaced as well, where none may be made`(
    errno: Errno
  ) throws {
    let path = scene.path + "/below"
    let cache = try DiskCache(directory: path, configuration: scene.configuration.disk)
    try manager.removeItem(atPath: scene.path)
    try manager.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    // The first attempt is made in the parent that was removed.
    scene.faults.plan(.errno(errno), for: .mkdirat, at: 2, onwards: true)
    try expectFollowed(cache, at: path)
  }

  @Test(.enabled(if: geteuid() != 0, "root reads every directory"))
  func `is followed below a parent that may be searched and not read`() throws {
    let (parent, other) = (scene.directory.path + "/top", scene.directory.path + "/other")
    let path = parent + "/cache"
    try manager.createDirectory(atPath: path, withIntermediateDirectories: true)
    try manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    try manager.setAttributes([.posixPermissions: 0o300], ofItemAtPath: parent)
    defer { _ = unsafe chmod(parent, 0o700) }
    let cache = try DiskCache(directory: path, configuration: scene.configuration.disk)
    #expect(unsafe rename(path, other) == 0)
    #expect(unsafe mkdir(path, 0o700) == 0)
    try expectFollowed(cache, at: path)
  }

  @Test(.enabled(if: geteuid() != 0, "root searches every directory"))
  func `is not looked for below a parent that may not be searched`() throws {
    let parent = scene.directory.path + "/top"
    try manager.createDirectory(atPath: parent + "/cache", withIntermediateDirectories: true)
    try manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: parent + "/cache")
    // As a service has that was started in the directory.
    let handle = try DirectoryHandle.open(path: parent + "/cache", faults: nil)
    #expect(unsafe chmod(parent, 0) == 0)
    defer { _ = unsafe chmod(parent, 0o700) }
    let cache = try DiskCache(
      directory: "/proc/self/fd/\(handle.descriptor.rawValue)",
      configuration: scene.configuration.disk)
    #expect(try !cache.engine.revalidate(isUrgent: true, mayMake: true, "test"))
    #expect(try cache.store([1], forKey: "k") == .stored)
    try cache.close()
  }

  @Test func `is made again durably`() throws {
    let cache = try scene.open { $0.durability = .durable }
    try manager.removeItem(atPath: scene.path)
    let syncs = scene.faults.count(of: .fsync)
    #expect(try cache.engine.revalidate(isUrgent: true, mayMake: true, "test"))
    // The parent's and the tag's.
    #expect(scene.faults.count(of: .fsync) == syncs + 2)
    try cache.close()
  }

  /// Replaces the directory, and returns when another thread has followed that.
  private static func follow(_ scene: DiskScene, _ cache: Cache<[UInt8]>) throws {
    let (followed, isDone) = (Happening(), Shared(false))
    try replace(scene, under: cache.disk)
    try startThread {
      #expect(throws: Never.self) { try cache.value(forKey: "l") }
      isDone.value = true
      followed.tell()
    }
    #expect(followed.wait { isDone.value } && cache.memory.count == 0)
  }

  @Test func `leaves nothing in memory of a value that is being touched in it`() throws {
    let place = scene
    let cache = try place.open(.bytes)
    try cache.store([1], forKey: "k")
    let subject = cache.disk.subject("k")
    let ceiling = place.clock.now.adding(seconds: 60)
    var request = StoreRequest(subject: subject, expiration: .days(1), extendedData: [])
    request.onChange = { (_: PublishedValue?) in
      #expect(throws: Never.self) { try Self.follow(place, cache) }
      cache.keep([1], subject, byteCount: 1, until: ceiling) { true }
      #expect(cache.memory.count == 1)
    }
    _ = try cache.disk.engine.touch(request, revives: false, nil)
    #expect(cache.memory.count == 0)
    #expect(try cache.value(forKey: "k") == nil)
    try cache.close()
  }

  @Test func `that is moved again while it is found back is not taken for found`() throws {
    let cache = try scene.open()
    let (location, faults) = (cache.engine.location, scene.faults)
    location.isAstray.store(true, ordering: .relaxed)
    // The call looks twice, and finds it. Then it is moved, and a thread follows the event.
    let found = faults.count(of: .fstatat) + 2
    faults.simulate(
      (
        kept: { $0 },
        shown: { [scene] _ in
          guard faults.count(of: .fstatat) == found else { return }
          do {
            try FileManager.default.moveItem(atPath: scene.path, toPath: Self.aside(scene))
          } catch {
            Issue.record(error)
          }
          location.isAstray.store(true, ordering: .relaxed)
        }
      ))
    try cache.engine.revalidate(isUrgent: true, mayMake: false, "test")
    #expect(manager.fileExists(atPath: Self.aside(scene)) && cache.engine.isAstray)
    try cache.close()
  }

  private func isAside(_ key: String, _ scene: DiskScene) -> Bool {
    manager.fileExists(atPath: "\(Self.aside(scene))/\(scene.name(key).text)")
  }

  @Test func `that is replaced while it is being locked leaves the lock of the next one to take`()
    throws
  {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    try Self.replace(scene, under: cache)
    let holder = Mutex(DirectoryHandle?.none)
    scene.faults.plan(
      .before { [scene] in
        do {
          try FileManager.default.moveItem(
            atPath: scene.path, toPath: scene.directory.path + "/second")
          try scene.makeDirectory()
          let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
          #expect(try handle.descriptor.tryLock(.exclusive))
          holder.withLock { $0 = handle }
        } catch {
          Issue.record(error)
        }
        // Another call follows it and finds it locked.
        cache.engine.followReplacement(isUrgent: true)
      }, for: .flock)
    for _ in 0..<2 {
      let error = #expect(throws: CacheError.self) { try cache.store([2], forKey: "k") }
      #expect(error?.code == .locked)
    }
    #expect(try scene.names.isEmpty)
    holder.withLock { $0 = nil }
    // A process that another test starts has the descriptor until it runs its program.
    try eventually("the end of the lock") {
      do {
        return try cache.store([3], forKey: "k") == .stored
      } catch let error as CacheError where error.code == .locked {
        return false
      }
    }
    #expect(try scene.names == [scene.name("k").text])
  }

  private static let removals: [@Sendable (DiskCache) throws -> Bool] = [
    { try $0.removeAll().removed == 1 }, { try $0.remove(forKey: "k") },
    { try $0.remove(DiskScene.name(of: Array("k".utf8))) == 2 },
  ]

  @Test(arguments: removals.indices)
  func `is what removals empty, and not the one that was moved away`(number: Int) throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    try Self.replace(scene, under: cache)
    try scene.plant([2, 2], named: scene.name("k").text)
    #expect(try Self.removals[number](cache))
    #expect(try scene.names.isEmpty)
    #expect(isAside("k", scene))
    try scene.expectConsistent(cache)
  }

  @Test func `is what an exclusive cache reads that knew of no such entry`() throws {
    let cache = try scene.open { $0.mode = .exclusive }
    try cache.store([1], forKey: "other")
    #expect(try cache.count() == 1)
    #expect(try cache.value(forKey: "k") == nil)
    try Self.replace(scene, under: cache)
    try scene.plant([2, 2], named: scene.name("k").text)
    #expect(try cache.value(forKey: "k") == [2, 2])
    #expect(try cache.value(forKey: "other") == nil)
    try cache.close()
  }

  @Test func `is what is stamped and repaired`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    try scene.damage("k", to: [9])
    try Self.replace(scene, under: cache)
    #expect(try cache.verify(repairs: true).removal == BulkRemoval())
    #expect(isAside("k", scene))
    let other = try DiskScene()
    let second = try other.open()
    try second.store([1], forKey: "k")
    try Self.replace(other, under: second)
    #expect(try second.stamp(other.name("k").text) == .absent)
  }

  private static let looks: [@Sendable (DiskCache) throws -> Bool] = [
    { try $0.contains("new") && !$0.contains("old") },
    { try $0.entry(forKey: "new") != nil }, { try $0.entry(forKey: "old") == nil },
    { try $0.entries().map(\.byteCount) == [2] }, { try $0.survey().byteCount == 2 },
    { try $0.names(forKeys: ["new", "old"]).map(\.count) == [1, 0] },
    { try $0.verify().unverifiableCount == 1 },
    { try $0.storeIfAbsent([3], forKey: "old") == .stored },
  ]

  @Test(arguments: looks.indices) func `is what is looked at`(number: Int) throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "old")
    try Self.replace(scene, under: cache)
    try scene.plant([2, 2], named: scene.name("new").text)
    #expect(try Self.looks[number](cache))
  }

  @Test(arguments: [DiskCache.Mode.shared, .exclusive])
  func `is not what a removal that began before it empties`(mode: DiskCache.Mode) throws {
    let cache = try scene.open {
      $0.mode = mode
      $0.sizeLimit = 1000
    }
    for number in 0..<5 { try cache.store([1], forKey: "\(number)") }
    _ = try cache.count()
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat)
    let progress = try cache.removeAllInBackground()
    gate.waitUntilReached()
    try Self.replace(scene, under: cache)
    for number in 0..<3 { try scene.plant([2, 2], named: scene.name("\(number)").text) }
    #expect(try cache.count() == 3)
    #expect(try cache.value(forKey: "0") == [2, 2])
    gate.open()
    // The file that was about to be unlinked is gone; the others in the moved directory stay.
    #expect(try progress.wait().removed <= 1)
    #expect(try cache.totalSize() == 6)
    for number in 0..<3 { #expect(try cache.value(forKey: "\(number)") == [2, 2]) }
    #expect(try manager.contentsOfDirectory(atPath: Self.aside(scene)).count >= 4)
    try scene.expectConsistent(cache)
    #expect(try cache.removeAll().removed == 3)
  }

  /// An observer that replaces the directory, and lets the engine follow, after a removal of
  /// everything has hidden the files.
  private final class Replacer: EngineObserver {
    let replace: @Sendable () -> Void
    private let clearings = Counter()

    init(_ replace: @escaping @Sendable () -> Void) { self.replace = replace }

    func hear(of change: DiskChange) {
      guard case .cleared = change else { return }
      clearings.add()
      // Called before and after the files are hidden.
      if clearings.value == 2 { replace() }
    }
  }

  @Test func `is left alone by a removal whose walk begins after it`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    let replacer = Replacer { [scene] in
      do {
        try Self.replace(scene, under: cache)
        try scene.plant([2, 2], named: scene.name("k").text)
      } catch {
        Issue.record(error)
      }
      cache.engine.followReplacement(isUrgent: true)
    }
    cache.engine.observers.add(replacer)
    #expect(try cache.removeAll() == BulkRemoval())
    #expect(try cache.value(forKey: "k") == [2, 2])
    #expect(isAside("k", scene))
  }

  // The thread that hears of the moves may set right what the other did; in some rounds it is too
  // early for that.
  @Test(arguments: 1...6)
  func `is watched although another thread was slower to watch the one before it`(
    round: Int
  ) throws {
    let cache = try scene.open { $0.coherence = .strict }
    let engine = cache.engine
    let followed = Counter()
    engine.startWatching()
    scene.faults.plan(
      .before { [scene] in
        do {
          // The directory is replaced once more before the first replacement is watched. It stays,
          // because the end of a watched directory is an event in itself.
          try FileManager.default.moveItem(atPath: scene.path, toPath: Self.aside(scene) + "2")
          try scene.makeDirectory()
        } catch {
          Issue.record(error)
        }
        engine.followReplacement(isUrgent: true)
        followed.add()
      }, for: .inotify)
    try Self.replace(scene, under: cache)
    engine.followReplacement()
    // If the watching thread was the first to follow the move, this waits for it and for all its
    // work.
    #expect(Happening().wait { followed.value == 1 })
    #expect(engine.catchUp())
    scene.faults.reset()
    try cache.store([1], forKey: "k")
    _ = try cache.count()
    #expect(engine.catchUp())
    try FileManager.default.removeItem(atPath: scene.file("k"))
    #expect(engine.catchUp())
    #expect(try cache.count() == 0)
    try cache.close()
  }

  private func cache(
    _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws -> Cache<String> {
    var configuration = CacheConfiguration()
    configuration.disk.sizeLimit = nil
    configuration.disk.faults = scene.faults
    configuration.disk.coherence = .none
    change(&configuration.disk)
    return try Cache(directory: scene.path, coder: .string, configuration: configuration)
  }

  @Test func `that may not be used is an error of a removal, and memory forgets`() throws {
    let cache = try cache()
    try cache.store("old", forKey: "k")
    try Self.replace(scene, under: cache.disk)
    try manager.setAttributes([.posixPermissions: 0o777], ofItemAtPath: scene.path)
    let error = #expect(throws: CacheError.self) { try cache.remove(forKey: "k") }
    #expect(error?.code == .unsafeDirectory)
    #expect(cache.memory.count == 0)
    #expect(throws: CacheError.self) { try cache.removeAll() }
    #expect(isAside("k", scene))
  }

  private static let choices: [@Sendable (DiskCache) throws -> Void] = [
    { _ = try $0.trim(toCount: 0) }, { _ = try $0.removeExpired() },
    { _ = try $0.removeAll { _ in true } }, { _ = try $0.removeVariants(of: "k") },
    { _ = try $0.totalSize() },
  ]

  @Test(arguments: choices.indices, [true, false])
  func `that may not be used keeps its entries, as the one that was moved away does`(
    number: Int, isLocked: Bool
  ) throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    try cache.store([1], forKey: "expired", expiration: .seconds(1))
    scene.clock.advance(by: .seconds(2))
    try Self.replace(scene, under: cache)
    try scene.plant([2, 2], named: scene.name("k").text)
    try scene.plant([2], named: scene.name("expired").text, expiry: scene.clock.now)
    let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
    if isLocked {
      #expect(try handle.descriptor.tryLock(.exclusive))
    } else {
      try manager.setAttributes([.posixPermissions: 0o777], ofItemAtPath: scene.path)
    }
    let error = #expect(throws: CacheError.self) { try Self.choices[number](cache) }
    #expect(error?.code == (isLocked ? .locked : .unsafeDirectory))
    #expect(try scene.names.count == 2)
    #expect(isAside("k", scene) && isAside("expired", scene))
  }

  @Test(arguments: [DiskCache.Mode.readOnly, .shared])
  func `that other users can write to is followed by who may use it, with a warning`(
    mode: DiskCache.Mode
  ) throws {
    try scene.makeDirectory()
    let cache = try scene.open {
      $0.mode = mode
      $0.allowsUnsafeDirectory = mode == .shared
    }
    #expect(!cache.statistics.isDirectoryUnsafe)
    try Self.replace(scene, under: cache)
    try manager.setAttributes([.posixPermissions: 0o777], ofItemAtPath: scene.path)
    try scene.plant([2, 2], named: scene.name("k").text)
    #expect(try cache.value(forKey: "k") == [2, 2])
    #expect(cache.statistics.isDirectoryUnsafe)
    #expect(cache.statistics.upkeepFailures.isEmpty)
    try FileManager.default.removeItem(atPath: Self.aside(scene))
    try Self.replace(scene, under: cache)
    #expect(try cache.value(forKey: "k") == nil)
    #expect(!cache.statistics.isDirectoryUnsafe)
  }

  @Test func `is that of its own owner, for whom root stores`() throws {
    try scene.makeDirectory()
    // Root alone can do it, and not in every container.
    guard unsafe chown(scene.path, 54_321, 54_321) == 0 else { return }
    let cache = try scene.open { $0.allowsUnsafeDirectory = true }
    try cache.store([1], forKey: "k")
    try Self.replace(scene, under: cache)
    #expect(unsafe chown(scene.path, 12_345, 12_345) == 0)
    #expect(try cache.store([2], forKey: "k") == .stored)
    #expect(try scene.status(scene.name("k")).owner == 12_345)
    #expect(try cache.value(forKey: "k") == [2])
    #expect(try cache.totalSize() == 1)
    try scene.plant([3], named: scene.name("old").text)
    #expect(unsafe chown(scene.file("old"), 54_321, 54_321) == 0)
    #expect(try cache.value(forKey: "old") == nil)
    try scene.expectConsistent(cache)
  }

  @Test func `leaves nothing in memory that was being read from the one before`() throws {
    let cache = try cache()
    try cache.store("old", forKey: "k")
    cache.memory.removeAll()
    scene.faults.plan(
      .before { [scene] in
        do {
          try Self.replace(scene, under: cache.disk)
        } catch {
          Issue.record(error)
        }
        cache.disk.engine.followReplacement(isUrgent: true)
      }, for: .read)
    #expect(try cache.value(forKey: "k") == "old")
    #expect(try cache.value(forKey: "k") == nil)
    scene.faults.reset()
  }

  @Test(arguments: [nil, 1000], [true, false])
  func `leaves nothing in memory that was being stored in the one before`(
    behind: Int?, isAgain: Bool
  ) throws {
    let cache = try cache { $0.writeBehindLimit = behind }
    scene.faults.plan(
      .before { [scene] in
        do {
          try Self.replace(scene, under: cache.disk)
          if isAgain { try scene.plant([2, 2], named: scene.name("k").text) }
        } catch {
          Issue.record(error)
        }
        cache.disk.engine.followReplacement(isUrgent: true)
      }, for: .linkat)
    try cache.store("old", forKey: "k")
    try cache.flush()
    #expect(isAside("k", scene))
    #expect(try cache.tier(forKey: "k") == (isAgain ? .disk : nil))
    #expect(try cache.disk.value(forKey: "k") == (isAgain ? [2, 2] : nil))
    try scene.expectConsistent(cache.disk)
    scene.faults.reset()
    try cache.close()
  }

  @Test func `that comes late is noticed by who begins to watch in between`() throws {
    let cache = try Cache(directory: scene.path, coder: .string)
    try manager.moveItem(atPath: scene.path, toPath: Self.aside(scene))
    #expect(try cache.value(forKey: "k") == nil)
    try scene.makeDirectory()
    // Within the second in which only an event causes a check of the path.
    try cache.store("new", forKey: "k")
    #expect(!isAside("k", scene))
    try cache.close()
  }

  @Test func `leaves nothing in memory that was read when the path led nowhere`() throws {
    let cache = try cache { $0.coherence = .strict }
    try cache.store("old", forKey: "k")
    try manager.moveItem(atPath: scene.path, toPath: Self.aside(scene))
    // The moved directory is read until there is another one at the path.
    #expect(try cache.value(forKey: "k") == "old")
    try scene.makeDirectory()
    #expect(try cache.value(forKey: "k") == nil)
    try cache.store("new", forKey: "k")
    // Not while the event of the store is being followed.
    try eventually("memory to keep the value") {
      try cache.value(forKey: "k") == "new" && cache.tier(forKey: "k") == .memory
    }
    try cache.close()
  }

  @Test(arguments: [true, false])
  func `is the one that is opened although the one before was opened first`(isThere: Bool) throws {
    try scene.makeDirectory()
    // Between opening the directory and reading its path.
    scene.faults.plan(
      .before { [scene] in
        do {
          try FileManager.default.moveItem(atPath: scene.path, toPath: Self.aside(scene))
          if isThere { try scene.makeDirectory() }
        } catch {
          Issue.record(error)
        }
      }, for: .fstat)
    let cache = try scene.open()
    #expect(scene.faults.struckCount == 1)
    #expect(cache.directory == scene.path)
    try cache.store([1], forKey: "k")
    #expect(!isAside("k", scene))
    try cache.close()
  }

  @Test func `is noticed by who begins to watch when it has happened`() throws {
    let cache = try Cache(directory: scene.path, coder: .string)
    try manager.moveItem(atPath: scene.path, toPath: Self.aside(scene))
    try scene.makeDirectory()
    // Within the second in which only an event causes a check of the path.
    try cache.store("new", forKey: "k")
    #expect(!isAside("k", scene))
    #expect(manager.fileExists(atPath: cache.disk.path(forKey: "k")))
    try cache.close()
  }

  /// An observer that releases a cache when it hears of a replacement, as the last reference may be
  /// released then.
  private final class Dropper: EngineObserver {
    let cache: Shared<DiskCache?>

    init(_ cache: DiskCache) { self.cache = Shared(cache) }

    func hear(of change: DiskChange) {
      if case .anyChanged = change { cache.value = nil }
    }
  }

  @Test(arguments: [true, false])
  func `lets a cache go while an opener follows it`(isShared: Bool) throws {
    let first = isShared ? try scene.open() : nil
    let dropper = Dropper(try scene.open())
    let engine = try #require(dropper.cache.value?.engine)
    engine.observers.add(dropper)
    try manager.moveItem(atPath: scene.path, toPath: Self.aside(scene))
    try scene.makeDirectory()
    let opened = try scene.open()
    #expect(dropper.cache.value == nil)
    #expect((opened.engine === engine) == isShared)
    try opened.store([1], forKey: "k")
    try opened.close()
    try first?.close()
    #expect(try scene.open { $0.mode = .exclusive }.value(forKey: "k") == [1])
  }
}
