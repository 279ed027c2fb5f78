import Foundation
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// The engine's behaviour on a file system that other machines share.
struct `On a network file system` {
  private static let network = FileSystemKind(name: "nfs", isNetwork: true)

  private static func open(
    _ scene: DiskScene, _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws -> DiskCache {
    try scene.open {
      $0.fileSystem = network
      change(&$0)
    }
  }

  @Test func `it cannot be had for oneself alone`() throws {
    let scene = try DiskScene()
    let error = #expect(throws: CacheError.self) {
      try Self.open(scene) { $0.mode = .exclusive }
    }
    #expect(error?.code == .exclusiveUnsupported)
  }

  @Test func `entries are stored, used, kept and removed as anywhere`() throws {
    let scene = try DiskScene()
    let cache = try Self.open(scene) { $0.recencyGranularity = .zero }
    #expect(try cache.store([1], forKey: "a", expiration: .never) == .stored)
    #expect(try cache.storeIfAbsent([2], forKey: "a") == .rejected(.alreadyPresent))
    #expect(try cache.value(forKey: "a") == [1])
    #expect(try scene.status(scene.name("a")).modification == .never)
    #expect(try cache.remove(forKey: "a"))
    #expect(try scene.names == [])
  }

  @Test func `a signal while a value is sent to the server costs neither it nor the older one`()
    throws
  {
    let scene = try DiskScene()
    let cache = try Self.open(scene)
    try cache.store([1], forKey: "a")
    scene.faults.plan(.errno(.interrupted), for: .close)
    #expect(try cache.store([2], forKey: "a") == .stored)
    #expect(scene.faults.struckCount == 1)
    #expect(try cache.value(forKey: "a") == [2])
  }

  @Test func `a store only where nothing is needs no flag that the file system lacks`() throws {
    let scene = try DiskScene()
    let cache = try Self.open(scene)
    scene.faults.plan(.errno(.invalidArgument), for: .renameat)
    #expect(try cache.storeIfAbsent([1], forKey: "a") == .stored)
    scene.faults.plan(.errno(.invalidArgument), for: .renameat)
    #expect(try cache.storeIfAbsent([2], forKey: "a") == .rejected(.alreadyPresent))
    #expect(try cache.value(forKey: "a") == [1])
    #expect(try scene.names.count == 1)
  }

  @Test func `a rename without that flag leaves no second name of a file that goes meanwhile`()
    throws
  {
    let scene = try DiskScene()
    try scene.makeDirectory()
    try scene.plant([1], named: "old")
    let (old, new) = (FileName("old"), FileName("new"))
    let handle = try DirectoryHandle.open(path: scene.path, faults: scene.faults)
    let other = try DirectoryHandle.open(path: scene.path, faults: nil)
    scene.faults.plan(.errno(.invalidArgument), for: .renameat)
    scene.faults.plan(
      .before {
        do { try other.unlink(old) } catch { Issue.record(error) }
      }, for: .unlinkat)
    #expect(throws: Errno.noSuchFile) { try handle.renameExclusively(old, to: new) }
    #expect(try scene.names == [])
  }

  @Test func `what holds there holds from when one is mounted over the path`() throws {
    let scene = try DiskScene()
    let cache = try scene.open { $0.coherence = .events }
    let engine = cache.engine
    engine.startWatching()
    #expect(engine.hasEvents && !engine.isOnNetwork)
    let before = scene.faults.count(of: .fcntl)
    try cache.store([1], forKey: "a")
    #expect(scene.faults.count(of: .fcntl) == before)
    scene.faults.simulate(Self.network)
    try FileManager.default.moveItem(atPath: scene.path, toPath: scene.path + ".aside")
    try engine.revalidate(isUrgent: true, mayMake: true, "store")
    #expect(!engine.hasEvents && engine.isOnNetwork)
    try cache.store([2], forKey: "a")
    #expect(scene.faults.count(of: .fcntl) > before)
    try cache.close()
  }

  @Test func `near its end an entry is judged by the server's clock`() throws {
    // The system's clock acts as the server's, and this machine's clock is 5 s behind.
    let scene = try DiskScene()
    let server = WallClock.system.now()
    let cache = try Self.open(scene) { $0.extending = .off }
    scene.clock.now = server.adding(seconds: -5)
    try cache.store([1], forKey: "a", expiration: .date(server.adding(seconds: -1)))
    try cache.store([2], forKey: "b", expiration: .date(server.adding(seconds: 60)))
    #expect(try cache.value(forKey: "a") == nil)
    #expect(try cache.value(forKey: "b") == [2])
    #expect(try !cache.contains("a") && cache.entry(forKey: "a") == nil)
    #expect(try !cache.touch(forKey: "a", expiration: .days(1)))
    #expect(try cache.read(forKey: "a", allowingExpired: true)?.hasExpired == true)
    #expect(try cache.storeIfAbsent([3], forKey: "a") == .stored)
  }

  @Test func `near its end a value in memory is judged by the server's clock`() async throws {
    let scene = try DiskScene()
    let server = WallClock.system.now()
    let cache = try scene.open(Coder.bytes) {
      ($0.disk.fileSystem, $0.disk.extending) = (Self.network, .off)
    }
    scene.clock.now = server.adding(seconds: -5)
    try await cache.store([1], forKey: "b")
    let expiry = server.adding(seconds: 3_600)
    try await cache.store([1], forKey: "a", expiration: .date(expiry))
    scene.clock.now = expiry.adding(seconds: -50)
    #expect(try await cache.value(forKey: "a") == [1])
    scene.clock.now = expiry.adding(seconds: -4)
    #expect(try await cache.value(forKey: "a") == nil)
    #expect(try await cache.value(forKey: "a") { _ in .value([2]) } == [2])
  }

  @Test func `a server that answers late lets no value live longer`() throws {
    // The system's clock acts as the server's and agrees with this machine's when the stamps are
    // set. The rename takes 5 s.
    let scene = try DiskScene()
    let server = WallClock.system.now()
    scene.clock.now = server
    let cache = try Self.open(scene) { $0.extending = .off }
    try cache.store([1], forKey: "a", expiration: .date(server.adding(seconds: 1)))
    scene.faults.plan(.before { scene.clock.advance(by: .seconds(5)) }, for: .renameat)
    try cache.store([2], forKey: "b", expiration: .date(server.adding(seconds: 60)))
    scene.clock.now = server.adding(seconds: 2)
    #expect(try cache.value(forKey: "a") == nil)
  }

  @Test func `another machine's temporary is left alone for an hour`() throws {
    let scene = try DiskScene()
    try scene.makeDirectory()
    try scene.plant([1], named: ".larder-1-1")
    scene.clock.now = WallClock.system.now()
    let cache = try Self.open(scene)
    _ = try cache.count()
    #expect(try scene.names == [".larder-1-1"])
    try cache.close()
    scene.clock.advance(by: .seconds(3700))
    _ = try Self.open(scene).count()
    #expect(try scene.names == [])
  }

  /// Counts the locks that are asked for on a file which is open for reading only.
  private static func countReadOnlyLocks(of path: String, _ faults: FaultInjector) -> Counter {
    let count = Counter()
    faults.plan(
      .before {
        for _ in OpenResources.readOnlyDescriptors(of: path) { count.add() }
      }, for: .flock, onwards: true)
    return count
  }

  @Test(arguments: [0o600, 0o400])
  func `what is locked exclusively there is open for writing, because NFS refuses it otherwise`(
    mode: Int
  ) throws {
    let scene = try DiskScene()
    let cache = try Self.open(scene)
    try scene.plant([1], named: ".larder-1-1")
    try scene.plant([0], named: scene.name("k").text, expiry: scene.clock.now)
    try FileManager.default.setAttributes(
      [.posixPermissions: mode], ofItemAtPath: scene.path + "/.larder-1-1")
    let count = Self.countReadOnlyLocks(of: scene.path + "/", scene.faults)
    #expect(try cache.storeIfAbsent([1], forKey: "k") == .stored)
    try cache.close()
    scene.clock.now = WallClock.system.now().adding(seconds: 3700)
    _ = try Self.open(scene).count()
    #expect(try scene.names == [scene.name("k").text])
    // Root can open any file for writing.
    #expect(count.value == (mode == 0o400 && ProcessIdentity.user != 0 ? 1 : 0))
    let handle = try DirectoryHandle.open(path: scene.path, faults: scene.faults)
    let name = scene.name("k")
    scene.faults.plan(.errno(.readOnlyFileSystem), for: .openat)
    #expect(try handle.openForLocking(name).read(upTo: 9) == [1])
    scene.faults.plan(.errno(.ioError), for: .openat)
    #expect(throws: Errno.ioError) { _ = try handle.openForLocking(name).rawValue }
  }

  @Test func `no watcher on this machine takes a lock for a write`() throws {
    let scene = try DiskScene()
    try scene.makeDirectory()
    try scene.plant([1], named: "k")
    let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
    let file = try handle.openForLocking(FileName("k"))
    #expect(try file.tryLock(.exclusive))
    #expect(OpenResources.readOnlyDescriptors(of: scene.path + "/k") == ["\(file.rawValue)"])
  }

  @Test func `what was left behind goes at once where locks reach other machines`() throws {
    let scene = try DiskScene()
    try scene.makeDirectory()
    for name in [".larder-1-1", ".larder-1-2"] { try scene.plant([1], named: name) }
    let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
    let held = try handle.openForReading(FileName(text: ".larder-1-2"))
    #expect(try held.tryLock(.exclusive))
    // The files were changed just now.
    scene.clock.now = WallClock.system.now()
    let ceph = FileSystemKind(name: "fuse.ceph-fuse", isNetwork: true)
    _ = try scene.open { $0.fileSystem = ceph }.count()
    #expect(try scene.names == [".larder-1-2"])
    try held.unlock()
    _ = consume held
    _ = try scene.open { $0.fileSystem = ceph }.count()
    #expect(try scene.names == [])
  }

  @Test(arguments: [true, false])
  func `no two temporaries have one name where a scan elsewhere may still know the first by it`(
    isOnNetwork: Bool
  ) throws {
    let scene = try DiskScene()
    if isOnNetwork { scene.faults.simulate(Self.network) }
    let cache = try scene.open()
    try cache.store([0], forKey: "a")
    let seen = Mutex<Set<String>>([])
    scene.faults.plan(
      .before {
        do {
          let names = try scene.names.filter { $0.hasPrefix(".larder-") }
          seen.withLock { $0.formUnion(names) }
        } catch {
          Issue.record(error)
        }
      }, for: .renameat, onwards: true)
    for value in 1...3 as ClosedRange<UInt8> { try cache.store([value], forKey: "a") }
    // Other tests of this process take numbers as well.
    let names = seen.withLock { $0 }
    #expect(isOnNetwork ? names.count == 3 : !names.isEmpty)
    #expect(try scene.names == [scene.name("a").text])
  }

  @Test func `an empty temporary stays for an hour, because its writer may be about to lock it`()
    throws
  {
    let scene = try DiskScene()
    try scene.makeDirectory()
    try scene.plant([], named: ".larder-1-1")
    scene.clock.now = WallClock.system.now()
    let moose = FileSystemKind(name: "fuse.mfs", isNetwork: true)
    let cache = try scene.open { $0.fileSystem = moose }
    _ = try cache.count()
    #expect(try scene.names == [".larder-1-1"])
    try cache.close()
    scene.clock.advance(by: .seconds(3700))
    _ = try scene.open { $0.fileSystem = moose }.count()
    #expect(try scene.names == [])
  }

  @Test(arguments: [Errno.notConnected, .shutDown, .connectionAborted])
  func `a lost mount is a miss for a read and an error with its cure for a store`(
    errno: Errno
  ) throws {
    let scene = try DiskScene()
    let cache = try Self.open(scene)
    try cache.store([1], forKey: "a")
    scene.faults.plan(.errno(errno), for: .openat, onwards: true)
    #expect(try cache.value(forKey: "a") == nil)
    #expect(cache.statistics.misses == [.unreadable: 1])
    let error = #expect(throws: CacheError.self) { try cache.store([2], forKey: "a") }
    #expect(error?.code == .mountLost)
    #expect(error?.description.contains("mount it anew") == true)
  }

  @Test func `a touch of a file that another machine replaces finds nothing`() throws {
    let scene = try DiskScene()
    let cache = try Self.open(scene)
    try cache.store([1], forKey: "a", expiration: .seconds(100))
    for call in [SystemCall.fsetxattr, .futimens] {
      scene.faults.plan(.errno(.staleHandle), for: call)
      #expect(try cache.touch(forKey: "a", expiration: .seconds(200)) == false)
    }
    #expect(scene.faults.struckCount == 2)
    #expect(try cache.touch(forKey: "a", expiration: .seconds(200)))
  }

  @Test func `a durable store syncs the stamps as well`() throws {
    let scene = try DiskScene()
    let cache = try Self.open(scene) { $0.durability = .durable }
    try cache.store([1], forKey: "first")
    let before = scene.faults.count(of: .fsync)
    try cache.store([1], forKey: "a")
    // The file and the directory.
    #expect(scene.faults.count(of: .fsync) == before + 2)
    #expect(scene.faults.count(of: .fdatasync) == 0)
  }

  @Test func `what a server could not take is an error and is not served`() throws {
    let scene = try DiskScene()
    let cache = try Self.open(scene)
    try cache.store([1], forKey: "a")
    scene.faults.plan(.errno(.ioError), for: .fcntl)
    #expect(throws: CacheError.self) { try cache.store([2], forKey: "a") }
    #expect(try scene.names.allSatisfy { !$0.hasPrefix(".larder-") })
    #expect(try cache.value(forKey: "a") != [2])
  }

  @Test func `content that does not match is a miss, and the file stays for who sees it whole`()
    throws
  {
    let scene = try DiskScene()
    let cache = try Self.open(scene)
    try cache.store([1, 2, 3], forKey: "a")
    try scene.damage("a", to: [1, 2])
    #expect(try cache.value(forKey: "a") == nil)
    #expect(cache.statistics.misses == [.damaged: 1])
    try cache.flush()
    #expect(try scene.names == [scene.name("a").text])
  }
}
