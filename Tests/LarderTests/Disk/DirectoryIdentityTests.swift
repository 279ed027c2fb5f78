import Foundation
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

@Suite(.watched)
struct `The directory's identity` {
  let scene: DiskScene
  private let manager = FileManager.default

  init() throws {
    scene = try DiskScene()
  }
}

extension `The directory's identity` {
  enum Change: CaseIterable, Sendable {
    case removed, removedAndMade, replaced
  }

  private func apply(_ change: Change) throws {
    if change == .replaced {
      try manager.moveItem(atPath: scene.path, toPath: scene.directory.path + "/aside")
    } else {
      try manager.removeItem(atPath: scene.path)
    }
    if change != .removed { try scene.makeDirectory() }
  }

  @Test func `a directory that is made again is usable, though its mode does not let it be opened`()
    throws
  {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    try apply(.removed)
    // As under a umask that takes the owner's rights.
    scene.faults.plan(
      .before { [scene] in scene.faults.plan(.errno(.permissionDenied), for: .openat) },
      for: .mkdirat)
    #expect(try cache.store([2], forKey: "k") == .stored)
    #expect(try cache.value(forKey: "k") == [2])
    let made = try DirectoryHandle.open(path: scene.path, faults: nil)
    #expect(try made.descriptor.status().permissions == 0o700)
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test(arguments: Change.allCases, [nil, 1 << 20] as [Int?])
  func `after at most one failed operation all is right again`(
    change: Change, limit: Int?
  ) throws {
    let cache = try scene.open { $0.sizeLimit = limit }
    for number in 0..<5 { try cache.store([1], forKey: "\(number)") }
    if limit != nil { _ = try cache.count() }
    try apply(change)
    if change == .replaced {
      // No call fails in this case, so the check of every second finds the change.
      try cache.engine.revalidate(isUrgent: true, mayMake: true, "test")
    }
    var failures = 0
    for number in 5..<8 {
      do {
        try cache.store([2], forKey: "\(number)")
      } catch {
        failures += 1
      }
    }
    #expect(failures == 0)
    for number in 0..<8 {
      #expect(try cache.value(forKey: "\(number)") == (number < 5 ? nil : [2]))
    }
    #expect(try scene.names == [5, 6, 7].map { scene.name("\($0)").text }.sorted())
    #expect(try cache.count() == 3)
    try scene.expectConsistent(cache)
    #expect(throws: CacheError.self, "the lock is held on the new directory") {
      try DirectoryHandle.expectUnlocked(scene.path)
    }
  }

  @Test(arguments: [Change.removed, .removedAndMade])
  func `a store in pieces outlives its directory`(change: Change) throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "old")
    for number in 0..<3 {
      // The first store finds the change before it begins, the later ones in the middle.
      if number == 0 { try apply(change) }
      try cache.store(forKey: "\(number)") { stream in
        try stream.write([2, 3])
        if number > 0 { try apply(change) }
        try stream.write([4])
      }
      #expect(try cache.value(forKey: "\(number)") == [2, 3, 4])
    }
    #expect(try scene.names == [scene.name("2").text])
    try scene.expectConsistent(cache)
  }

  @Test func `a store in pieces goes to the directory that took the place of its own`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    try cache.store(forKey: "k") { stream in
      try stream.write([2])
      try apply(.replaced)
      try cache.engine.revalidate(isUrgent: true, mayMake: true, "test")
      try stream.write([3])
    }
    #expect(try cache.value(forKey: "k") == [2, 3])
    let left = try scene.contentOfAside("k")
    #expect(left == [1])
    try scene.expectConsistent(cache)
  }

  @Test(arguments: Removal.allCases)
  func `a removal leaves a directory alone that was moved away`(removal: Removal) throws {
    let cache = try scene.open { $0.countLimit = 10 }
    try cache.store([1], forKey: "k", expiration: .seconds(1))
    _ = try cache.count()
    try manager.moveItem(atPath: scene.path, toPath: scene.directory.path + "/aside")
    // As the event of the move does, which comes at another time.
    cache.engine.location.isAstray.store(true, ordering: .relaxed)
    scene.clock.advance(by: .seconds(864_000))
    switch removal {
    case .key: try cache.remove(forKey: "k")
    case .all: try cache.removeAll()
    case .chosen: try cache.removeAll { _ in true }
    case .variants: try cache.removeVariants(of: "k")
    case .expired: try cache.removeExpired()
    case .trim: try cache.trim(toCount: 0)
    }
    #expect(try scene.contentOfAside("k") == [1])
    try cache.store([2], forKey: "k")
    #expect(try cache.value(forKey: "k") == [2])
  }

  @Test func `the limit on free space leaves a directory alone that was moved away`() throws {
    let cache = try scene.open { ($0.freeSpaceLimit, $0.freeSpacePause) = (1, .nanoseconds(1)) }
    for key in ["k", "l"] { try cache.store([1], forKey: key) }
    _ = try cache.count()
    try manager.moveItem(atPath: scene.path, toPath: scene.directory.path + "/aside")
    scene.faults.plan(.short(0), for: .fstatvfs, onwards: true)
    // As every five seconds.
    #expect(!cache.engine.checkLimits() && cache.statistics.purges == 0)
    #expect(try scene.contentOfAside("k") == [1])
  }

  @Test func `a limit leaves a directory alone that was moved away`() throws {
    let cache = try scene.open { $0.countLimit = 2 }
    for key in ["k", "l"] { try cache.store([1], forKey: key) }
    _ = try cache.count()
    let aside = scene.directory.path + "/aside"
    try manager.moveItem(atPath: scene.path, toPath: aside)
    // As the events of the move, and of what others put there, do.
    cache.engine.location.isAstray.store(true, ordering: .relaxed)
    try manager.copyItem(
      atPath: "\(aside)/\(scene.name("l").text)", toPath: "\(aside)/\(scene.name("m").text)")
    cache.engine.lookAgain(at: DiskScene.name(of: Array("m".utf8)))
    cache.engine.checkLimits()
    cache.engine.finishPurge()
    #expect(cache.statistics.removals[.evicted, default: 0] == 0)
    #expect(try scene.contentOfAside("k") == [1])
  }

  enum Removal: CaseIterable, Sendable { case key, all, chosen, variants, expired, trim }

  @Test func `a directory that was put there by others is not marked`() throws {
    let cache = try scene.open()
    try manager.moveItem(atPath: scene.path, toPath: scene.directory.path + "/aside")
    try scene.makeDirectory()
    try Data([1]).write(to: URL(fileURLWithPath: scene.path + "/theirs"))
    try cache.engine.revalidate(isUrgent: true, mayMake: true, "test")
    try cache.store([1], forKey: "k")
    #expect(!manager.fileExists(atPath: scene.path + "/CACHEDIR.TAG"))
  }

  @Test func `who only reads follows a replacement too`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    try manager.moveItem(atPath: scene.path, toPath: scene.directory.path + "/aside")
    try scene.makeDirectory()
    try scene.plant([2], named: scene.name("k").text)
    cache.engine.followReplacement(isUrgent: true)
    #expect(try cache.value(forKey: "k") == [2])
  }

  @Test func `a directory whose name is not UTF-8 is used through a link`() throws {
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = [
      "-c", #"d="$1/caf$(printf '\351\314\201')"; mkdir "$d"; ln -s "$d" "$1/link""#, "sh",
      scene.directory.path,
    ]
    try shell.run()
    shell.waitUntilExit()
    let link = scene.directory.path + "/link"
    let cache = try Cache<[UInt8]>(directory: link, coder: .bytes)
    try cache.store([1], forKey: "k")
    cache.disk.engine.location.isAstray.store(true, ordering: .relaxed)
    #expect(try cache.disk.value(forKey: "k") == [1])
    let second = try DiskCache(directory: link, configuration: cache.disk.configuration)
    #expect(try second.value(forKey: "k") == [1])
    #expect(try manager.contentsOfDirectory(atPath: scene.directory.path).count == 2)
    try cache.close()
    try second.close()
  }

  @Test func `objects on one directory share one engine, however the path is spelled`() throws {
    let first = try scene.open()
    let link = scene.directory.path + "/link"
    try manager.createSymbolicLink(atPath: link, withDestinationPath: scene.path)
    var configuration = first.configuration
    configuration.fileExtension = "json"
    let second = try DiskCache(directory: link + "/../link/", configuration: configuration)
    #expect(first.engine === second.engine)
    try first.store([1], forKey: "k")
    try second.store([2], forKey: "k")
    #expect(try first.value(forKey: "k") == [1])
    #expect(try second.value(forKey: "k") == [2])
    #expect(try first.count() == 2)
    try first.close()
    #expect(try second.value(forKey: "k") == [2])
    try second.close()
  }

  @Test func `each object on one directory has its own admission and extension`() throws {
    let first = try scene.open()
    let second = try scene.open {
      $0.shouldStore = { _, byteCount in byteCount > 1 }
      $0.extending = .off
    }
    #expect(try first.store([1], forKey: "k", expiration: .seconds(1000)) == .stored)
    #expect(try second.store([1], forKey: "other") == .rejected(.declined))
    let expiry = scene.clock.now.adding(seconds: 1000)
    scene.clock.advance(by: .seconds(500))
    #expect(try second.read(forKey: "k")?.expiry == expiry)
    #expect(try first.read(forKey: "k")?.expiry == scene.clock.now.adding(seconds: 1000))
  }

  @Test func `each object on one directory tells its own settings beside the shared`() throws {
    let first = try scene.open {
      $0.expiration = .seconds(5)
      $0.expiredGrace = .seconds(9)
      $0.allowsUnsafeDirectory = true
    }
    let second = try scene.open {
      $0.expiration = .seconds(6)
      $0.expiredGrace = .seconds(9)
      $0.extending = .off
      $0.coherence = .strict
      $0.fileExtension = "json"
      $0.shouldStore = { _, _ in true }
      $0.threadCount = 2
    }
    #expect(first.configuration.expiration == .seconds(5))
    #expect(first.configuration.shouldStore == nil && first.configuration.threadCount == 4)
    let own = second.configuration
    #expect(own.expiration == .seconds(6) && own.extending == .off && own.coherence == .strict)
    #expect(own.fileExtension == "json" && own.shouldStore != nil && own.threadCount == 2)
    #expect(own.expiredGrace == .seconds(9) && own.allowsUnsafeDirectory)
  }

  @Test func `after a replacement a second opener still shares the engine`() throws {
    let first = try scene.open()
    try manager.moveItem(atPath: scene.path, toPath: scene.directory.path + "/aside")
    let second = try scene.open()
    #expect(first.engine === second.engine)
    try second.store([1], forKey: "k")
    #expect(try first.value(forKey: "k") == [1])
  }

  private static let conflicts: [(String, @Sendable (inout DiskCache.Configuration) -> Void)] = [
    ("sizeLimit", { $0.sizeLimit = 5 }), ("countLimit", { $0.countLimit = 5 }),
    ("ageLimit", { $0.ageLimit = .seconds(5) }), ("freeSpaceLimit", { $0.freeSpaceLimit = 5 }),
    ("trimTarget", { $0.trimTarget = 0.4 }), ("durability", { $0.durability = .durable }),
    ("sizeMeasure", { $0.sizeMeasure = .allocatedBytes }), ("mode", { $0.mode = .exclusive }),
    ("clock", { $0.clock = .system }), ("recordKeys", { $0.recordKeys = .never }),
    ("clock", { $0.clock = WallClock { Timestamp(seconds: 1) } }),
    ("recencyGranularity", { $0.recencyGranularity = .zero }),
    ("sharesWithGroup", { $0.sharesWithGroup = true }),
    ("evictionOrder", { $0.evictionOrder = .leastValuable }),
    ("sweepInterval", { $0.sweepInterval = .seconds(5) }),
    ("requireProof", { $0.requireProof = true }),
    ("writeBehindLimit", { $0.writeBehindLimit = 5 }),
    ("expiredGrace", { $0.expiredGrace = .seconds(5) }),
    ("mode, sizeLimit", { ($0.sizeLimit, $0.mode) = (5, .exclusive) }),
  ]

  @Test func `settings that conflict are a clear error, and the first stays in force`() throws {
    let first = try scene.open()
    for (names, change) in Self.conflicts {
      let error = #expect(throws: CacheError.self, "\(names)") { try scene.open(change) }
      #expect(error?.code == .configurationConflict, "\(names)")
      #expect(error?.underlying == "different: \(names)")
    }
    try first.store([1], forKey: "k")
    #expect(try scene.open { $0.expiration = .seconds(1) }.value(forKey: "k") == [1])
    try first.close()
  }

  @Test func `an exclusive holder keeps others out until it closes`() throws {
    let holder = try scene.open { $0.mode = .exclusive }
    try holder.store([1], forKey: "k")
    #expect(try holder.count() == 1)
    #expect(try holder.value(forKey: "absent") == nil)
    let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
    #expect(try !handle.descriptor.tryLock(.shared))
    try holder.close()
    #expect(try handle.descriptor.tryLock(.shared))
    let error = #expect(throws: CacheError.self) { try scene.open { $0.mode = .exclusive } }
    #expect(error?.code == .locked)
    // The lock belongs to this process, through another descriptor.
    #expect(error?.underlying?.contains("\(ProcessIdentity.pid)") != false)
    try handle.descriptor.unlock()
    let again = try scene.open { $0.mode = .exclusive }
    #expect(try again.value(forKey: "k") == [1])
    try again.close()
  }
}

extension DirectoryHandle {
  /// Throws if any process holds a lock on the directory.
  fileprivate static func expectUnlocked(_ path: String) throws {
    let handle = try open(path: path, faults: nil)
    guard try handle.descriptor.tryLock(.exclusive) else {
      throw CacheError(.locked, operation: "test", path: path)
    }
  }
}

extension DiskScene {
  /// The content of a key's file in the directory that was moved away.
  fileprivate func contentOfAside(_ key: String) throws -> [UInt8] {
    let path = "\(directory.path)/aside/\(name(key).text)"
    return try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
  }
}
