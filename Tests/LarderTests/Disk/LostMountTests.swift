import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// A cache whose mount is lost and comes back while it is open. Directories that are renamed stand
/// for mounts; the plan of failures shows their file systems and fails the calls on a lost one.
struct `After a lost mount` {
  private static let ceph = FileSystemKind(name: "fuse.ceph-fuse", isNetwork: true)
  private let scene: DiskScene
  private let mount: String

  init() throws {
    scene = try DiskScene()
    mount = "\(scene.directory.path)/mount"
    scene.faults.simulate(Self.ceph)
    try Self.make(mount)
  }

  private static func make(_ path: String) throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  private func names(in path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != "CACHEDIR.TAG" }
  }

  private func open(_ path: String) throws -> DiskCache {
    var configuration = scene.configuration.disk
    configuration.recencyGranularity = .zero
    return try DiskCache(directory: path, configuration: configuration)
  }

  /// Leaves the directory that the mount covered at its path.
  private func lose() throws {
    try FileManager.default.moveItem(atPath: mount, toPath: "\(scene.directory.path)/lost")
    try Self.make(mount)
    scene.faults.simulate(FileSystemKind?.none)
  }

  /// Mounts another file system at the path, with an empty directory of the cache.
  private func mountAnew(_ path: String, as kind: FileSystemKind = ceph) throws {
    try FileManager.default.removeItem(atPath: mount)
    try Self.make(path)
    scene.faults.simulate(kind)
  }

  @Test(arguments: [Errno.notConnected, .shutDown, .connectionAborted, .staleHandle])
  func `the path is followed from its beginning`(errno: Errno) throws {
    let path = "\(mount)/cache"
    let cache = try open(path)
    try cache.store([1], forKey: "a")
    try lose()
    try mountAnew(path)
    scene.faults.plan(.errno(errno), for: .fstatat)
    try cache.engine.revalidate(isUrgent: true, mayMake: true, "test")
    #expect(scene.faults.struckCount == 1)
    #expect(try cache.value(forKey: "a") == nil)
    try cache.store([2], forKey: "b")
    #expect(try names(in: path) == [scene.name("b").text])
    // The new parent is held, so that the directory is made again in it.
    try FileManager.default.removeItem(atPath: path)
    try cache.engine.revalidate(isUrgent: true, mayMake: true, "test")
    try cache.store([3], forKey: "c")
    #expect(try names(in: path) == [scene.name("c").text])
    try cache.close()
  }

  @Test func `nothing is stored or made in what the mount covered`() throws {
    let path = "\(mount)/cache"
    let cache = try open(path)
    try lose()
    scene.faults.plan(.errno(.shutDown), for: .fstatat, onwards: true)
    let error = #expect(throws: CacheError.self) {
      try cache.engine.revalidate(isUrgent: true, mayMake: true, "test")
    }
    #expect(error?.code == .mountLost)
    // Every call looks from then on, without waiting for a second to pass.
    #expect(cache.engine.isAstray)
    // The lost parent directory fails, and no other.
    scene.faults.reset()
    scene.faults.plan(.errno(.shutDown), for: .fstatat)
    #expect(throws: CacheError.self) {
      try cache.engine.revalidate(isUrgent: false, mayMake: true, "test")
    }
    #expect(try names(in: mount) == [])
    try mountAnew(path)
    scene.faults.plan(.errno(.shutDown), for: .fstatat)
    #expect(try cache.store([2], forKey: "a") == .stored)
    #expect(try names(in: path) == [scene.name("a").text])
    try cache.close()
  }

  @Test func `a mount's own directory is not mixed up with what it covered`() throws {
    let cache = try open(mount)
    try cache.store([1], forKey: "a")
    try lose()
    // The parent is no directory of the mount, so asking it does not fail.
    let error = #expect(throws: CacheError.self) {
      try cache.engine.revalidate(isUrgent: true, mayMake: true, "test")
    }
    #expect(error?.code == .mountLost)
    #expect(throws: CacheError.self) { try cache.store([1], forKey: "a") }
    #expect(try names(in: mount) == [])
    // By the kernel's own client this time.
    try mountAnew(mount, as: FileSystemKind(name: "ceph", isNetwork: true))
    #expect(try cache.store([2], forKey: "a") == .stored)
    #expect(try names(in: mount) == [scene.name("a").text])
    try cache.close()
  }

  @Test func `a network file system over a local directory is followed`() throws {
    scene.faults.simulate(FileSystemKind?.none)
    let cache = try open(mount)
    try cache.store([1], forKey: "a")
    try lose()
    try mountAnew(mount)
    try cache.engine.revalidate(isUrgent: true, mayMake: true, "test")
    #expect(cache.engine.isOnNetwork)
    #expect(try cache.store([2], forKey: "b") == .stored)
    #expect(try names(in: mount) == [scene.name("b").text])
    try cache.close()
  }
}
