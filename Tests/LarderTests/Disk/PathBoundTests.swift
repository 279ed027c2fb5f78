import Foundation
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// Caches on a file system such as sshfs, on which an open file gives the content of whatever file
/// has its path. A value that is read there can be a mixture of two.
struct `On a file system that finds files by their paths` {
  private static let sshfs = FileSystemKind(
    name: "fuse.sshfs", isNetwork: true, findsFilesByPath: true)
  private static let unknown = FileSystemKind(
    name: "fuse.something-new", isNetwork: true, findsFilesByPath: nil)

  private static func open(
    _ scene: DiskScene, _ mode: DiskCache.Mode = .shared, on kind: FileSystemKind = sshfs
  ) throws -> DiskCache {
    try scene.open {
      $0.fileSystem = kind
      $0.mode = mode
    }
  }

  @Test func `opening for writing is refused with a sentence, and leaves nothing`() throws {
    let scene = try DiskScene()
    let error = #expect(throws: CacheError.self) { try Self.open(scene) }
    #expect(error?.code == .writingUnsupported)
    #expect(
      error?.description.hasPrefix(
        """
        open: the file system finds open files by their paths; choose another, or open it \
        read-only
        """) == true)
    #expect(try scene.names == [])
    // The directory is free for another opener.
    try Self.open(scene, on: FileSystemKind(name: "nfs", isNetwork: true)).close()
  }

  @Test(arguments: [DiskCache.Mode.readOnly, .fixture])
  func `what is there can be read`(mode: DiskCache.Mode) throws {
    let scene = try DiskScene()
    let writer = try scene.open()
    try writer.store([1], forKey: "a")
    scene.faults.plan(.errno(.notSupported), for: .fsetxattr)
    try writer.store([2], forKey: "b")
    try writer.close()
    let cache = try Self.open(scene, mode)
    #expect(try cache.value(forKey: "a") == [1])
    #expect(try cache.value(forKey: "b") == [2])
    #expect(try cache.withFile(forKey: "b") { $0.byteCount } == 1)
    #expect(try cache.entries().count == 2)
    #expect(cache.engine.location.handle.fileSystem.findsFilesByPath == true)
  }

  @Test func `a program that is not known is tried, and leaves nothing`() throws {
    let scene = try DiskScene()
    let renames = scene.faults.count(of: .renameat)
    let cache = try Self.open(scene, on: Self.unknown)
    #expect(scene.faults.count(of: .renameat) == renames + 1)
    #expect(try scene.names == [])
    try cache.store([1], forKey: "a")
    #expect(try cache.value(forKey: "a") == [1])
  }

  @Test func `a program that shows another file in an open one is refused`() throws {
    let scene = try DiskScene()
    scene.faults.plan(.before { Self.fillTemporaries(in: scene) }, for: .renameat)
    let error = #expect(throws: CacheError.self) { try Self.open(scene, on: Self.unknown) }
    #expect(error?.code == .writingUnsupported)
    #expect(try scene.names == [])
  }

  /// Gives both files of the trial the content of the second, as a read by path finds it.
  private static func fillTemporaries(in scene: DiskScene) {
    do {
      for name in try scene.names {
        let file = try #require(FileHandle(forWritingAtPath: "\(scene.path)/\(name)"))
        try file.write(contentsOf: [1])
        try file.close()
      }
    } catch {
      Issue.record(error)
    }
  }

  @Test func `a program that numbers paths and not files is refused`() throws {
    let scene = try DiskScene()
    // The look at the second name meets another file.
    scene.faults.plan(
      .before { scene.faults.plan(.before { Self.replaceNames(in: scene) }, for: .fstatat) },
      for: .linkat)
    let error = #expect(throws: CacheError.self) { try Self.open(scene, on: Self.unknown) }
    #expect(error?.code == .writingUnsupported)
    #expect(try scene.names == [])
  }

  /// Gives each name of the file with two names a file of its own.
  private static func replaceNames(in scene: DiskScene) {
    do {
      for name in try scene.names where try scene.status(FileName(text: name)).linkCount == 2 {
        try Data().write(to: URL(fileURLWithPath: "\(scene.path)/\(name)"), options: .atomic)
      }
    } catch {
      Issue.record(error)
    }
  }

  @Test func `a program without second names is tried by a replacement alone`() throws {
    let scene = try DiskScene()
    scene.faults.plan(.errno(.notSupported), for: .linkat)
    try Self.open(scene, on: Self.unknown).close()
    #expect(scene.faults.struckCount == 1)
  }

  @Test(arguments: [Errno.staleHandle, .noSuchFile])
  func `a replaced file that cannot be read is no other file`(errno: Errno) throws {
    let scene = try DiskScene()
    // The first read of the trial, after those of the opening.
    scene.faults.plan(.before { scene.faults.plan(.errno(errno), for: .read) }, for: .renameat)
    try Self.open(scene, on: Self.unknown).store([1], forKey: "a")
    #expect(scene.faults.struckCount == 2)
  }

  @Test(arguments: [SystemCall.write, .renameat])
  func `a trial that fails is an error of opening`(call: SystemCall) throws {
    let scene = try DiskScene()
    try scene.open().close()
    scene.faults.plan(.errno(.noSpace), for: call)
    let error = #expect(throws: CacheError.self) { try Self.open(scene, on: Self.unknown) }
    #expect(error?.code == .noSpace)
    #expect(try scene.names == [])
  }

  @Test func `no known program is tried`() throws {
    let scene = try DiskScene()
    let renames = scene.faults.count(of: .renameat)
    for name in ["nfs4", "fuse.glusterfs", "fuse.ceph-fuse", "fuse.mfs", "ext4"] {
      try Self.open(scene, on: FileSystemKind(mountType: name)).close()
    }
    #expect(throws: CacheError.self) { try Self.open(scene) }
    #expect(scene.faults.count(of: .renameat) == renames)
  }

  @Test func `nothing is stored in a directory there that has taken the place of the cache's`()
    throws
  {
    let scene = try DiskScene()
    let cache = try scene.open()
    try cache.store([1], forKey: "a")
    try FileManager.default.moveItem(atPath: scene.path, toPath: "\(scene.path).moved")
    try scene.makeDirectory()
    scene.faults.simulate(Self.sshfs)
    // Makes the next call check the path, as it would a second later.
    cache.engine.location.isAstray.store(true, ordering: .relaxed)
    let error = #expect(throws: CacheError.self) { try cache.store([2], forKey: "b") }
    #expect(error?.code == .writingUnsupported)
    #expect(try scene.names == [])
  }
}
