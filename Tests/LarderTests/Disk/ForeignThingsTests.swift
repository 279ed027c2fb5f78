import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

@Suite(.watched)
struct `Foreign things` {
  let scene: DiskScene
  private static let digits = "900150983cd24fb0d6963f7d28e17f72"

  init() throws {
    scene = try DiskScene()
    try scene.makeDirectory()
  }
}

extension `Foreign things` {
  enum Thing: CaseIterable, Sendable {
    case directory, link, danglingLink, fifo, socket
  }

  private func make(_ thing: Thing, _ path: String) throws {
    let manager = FileManager.default
    switch thing {
    case .directory:
      try manager.createDirectory(atPath: path, withIntermediateDirectories: false)
    case .link:
      let target = scene.directory.path + "/target"
      try Data("secret".utf8).write(to: URL(fileURLWithPath: target))
      try manager.createSymbolicLink(atPath: path, withDestinationPath: target)
    case .danglingLink:
      try manager.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
    case .fifo: #expect(unsafe mkfifo(path, 0o600) == 0)
    case .socket: #expect(unsafe mknod(path, S_IFSOCK | 0o600, 0) == 0)
    }
  }

  private func isThere(_ key: String) -> Bool {
    var status = stat()
    return unsafe lstat(scene.file(key), &status) == 0
  }

  @Test(arguments: Thing.allCases)
  func `with an entry's name they are misses, never counted, followed, blocked on or deleted`(
    thing: Thing
  ) throws {
    let cache = try scene.open { $0.sizeLimit = 1 << 20 }
    try make(thing, scene.file("k"))
    #expect(try cache.value(forKey: "k") == nil)
    #expect(cache.statistics.misses == [.foreign: 1])
    #expect(try !cache.contains("k"))
    #expect(try cache.entry(forKey: "k") == nil)
    #expect(try cache.count() == 0)
    #expect(cache.statistics.foreignCount == 1)
    #expect(try cache.survey().foreignCount == 1)
    #expect(try !cache.remove(forKey: "k"))
    #expect(try cache.removeAll() == BulkRemoval())
    #expect(try cache.trim(toCount: 0) == BulkRemoval())
    #expect(try cache.verify(repairs: true).damaged == [])
    #expect(isThere("k"))
  }

  @Test(arguments: Thing.allCases, [true, false])
  func `a store takes the place of all but a directory`(thing: Thing, isExclusive: Bool) throws {
    let cache = try scene.open()
    try make(thing, scene.file("k"))
    if thing == .directory {
      let error = #expect(throws: CacheError.self) {
        try isExclusive ? cache.storeIfAbsent([1], forKey: "k") : cache.store([1], forKey: "k")
      }
      #expect(error?.code == .nameOccupied)
      #expect(isThere("k"))
    } else {
      let outcome =
        try isExclusive ? cache.storeIfAbsent([1], forKey: "k") : cache.store([1], forKey: "k")
      #expect(outcome == .stored)
      #expect(try cache.value(forKey: "k") == [1])
    }
    if thing == .link {
      let target = URL(fileURLWithPath: scene.directory.path + "/target")
      #expect(try Data(contentsOf: target) == Data("secret".utf8))
    }
    try scene.expectConsistent(cache)
  }

  private static let names = [
    digits.uppercased(), String(digits.dropLast()), digits + "0", digits + ".", digits + ".a.b",
    ".nfs0000000000000001", "README.md", "larder-1-1", ".larder-x-1", "\(digits)~",
    String(repeating: "n", count: 255),
  ]

  @Test func `files of other names are left alone`() throws {
    for name in Self.names {
      try Data([1]).write(to: URL(fileURLWithPath: "\(scene.path)/\(name)"))
    }
    try make(.directory, scene.path + "/lost+found")
    let cache = try scene.open { $0.sizeLimit = 1 << 20 }
    #expect(try cache.count() == 0)
    #expect(cache.statistics.foreignCount == Self.names.count + 1)
    #expect(try cache.removeAll() == BulkRemoval())
    try cache.flush()
    #expect(try scene.names == (Self.names + ["lost+found"]).sorted())
    #expect(!FileManager.default.fileExists(atPath: scene.path + "/CACHEDIR.TAG"))
  }

  @Test func `every name of the grammar counts, whatever its extension`() throws {
    let cache = try scene.open { $0.fileExtension = "json" }
    try cache.store([1], forKey: "abc")
    try scene.plant([1, 2], named: Self.digits)
    try scene.plant([1, 2, 3], named: Self.digits + ".Zip")
    #expect(try cache.count() == 3)
    #expect(try cache.totalSize() == 6)
    #expect(try cache.value(forKey: "abc") == [1])
    #expect(try cache.trim(toCount: 0).removed == 3)
  }

  @Test func `left-over temporaries go unless their writer lives`() throws {
    try scene.plant([1], named: ".larder-1-1")
    try scene.plant([1], named: ".larder-999999-7")
    try make(.directory, scene.path + "/.larder-2-2")
    let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
    let live = try handle.openForReading(FileName(text: ".larder-1-1"))
    #expect(try live.tryLock(.exclusive))
    let cache = try scene.open()
    #expect(try cache.count() == 0)
    try cache.flush()
    #expect(try scene.names == [".larder-1-1", ".larder-2-2"])
    _ = try live.status()
  }

  @Test func `a write in progress survives a scan of the same process`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    try cache.store(forKey: "k") { stream in
      try stream.write([2])
      let other = try DirectoryScan(
        cache.engine.location.handle, trust: cache.engine.reader.trust
      ).nextOfAll()
      #expect(other.temporaries.count == 1)
      _ = try cache.count()
      try stream.write([3])
    }
    #expect(try cache.value(forKey: "k") == [2, 3])
    try scene.expectConsistent(cache)
  }
}

extension DirectoryScan {
  fileprivate consuming func nextOfAll() throws -> Piece { try next() }
}
