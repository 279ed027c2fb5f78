import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// A scan that two threads share.
@Suite(.serialized, .watched)
struct `A scan by two threads` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }

  /// Returns a cache with a directory of so many entries and some foreign files.
  private func filled(_ count: Int) throws -> DiskCache {
    let cache = try scene.open()
    try scene.plant([1], named: "a foreign file")
    // Links, because creating thousands of files takes a minute on some disks.
    for number in 0..<count {
      try FileManager.default.linkItem(
        atPath: "\(scene.path)/a foreign file", toPath: scene.file("key \(number)"))
    }
    let longName = String(repeating: "long", count: 40)
    #expect(FileManager.default.createFile(atPath: "\(scene.path)/\(longName)", contents: nil))
    return cache
  }

  private func scan(_ cache: DiskCache) throws -> ParallelScan {
    ParallelScan(
      try DirectoryScan(cache.engine.location.handle, trust: cache.engine.reader.trust))
  }

  @Test(arguments: [0, 1, 511, 512, 513, 1_600])
  func `finds every name once`(count: Int) throws {
    let cache = try filled(count)
    for _ in 0..<3 {
      let scan = try scan(cache)
      var names: [EntryName] = []
      var foreignCount = 0
      while let piece = try scan.next() {
        names += piece.entries.map(\.name)
        foreignCount += piece.foreignCount
      }
      #expect(names.count == count && Set(names).count == count)
      #expect(foreignCount == 2)
      #expect(try scan.next() == nil)
    }
  }

  @Test func `does not need the other thread`() throws {
    let cache = try filled(1_600)
    let gate = Gate()
    defer { gate.open() }
    // Occupies all threads of the upkeep, as scans of other directories do.
    for _ in 0..<IOExecutor.upkeep.threadLimit { IOExecutor.upkeep.submit { gate.pass() } }
    for _ in 0..<IOExecutor.upkeep.threadLimit { gate.waitUntilReached() }
    let scan = try scan(cache)
    var count = 0
    while let piece = try scan.next() { count += piece.entries.count }
    #expect(count == 1_600)
  }

  @Test func `ends for both when the names cannot be read`() throws {
    let cache = try filled(1_600)
    scene.faults.plan(.errno(.ioError), for: .readdir, at: 1_500)
    let scan = try scan(cache)
    var count = 0
    #expect(throws: Errno.ioError) {
      while let piece = try scan.next() { count += piece.entries.count }
    }
    #expect(count <= 1_500)
    while let piece = try scan.next() { count += piece.entries.count }
    #expect(count <= 1_500 && scene.faults.count(of: .readdir) == 1_500, "read on after a failure")
  }

  @Test func `leaves the rest when nobody wants it`() throws {
    let cache = try filled(2_600)
    let scan = try scan(cache)
    _ = try scan.next()
    scan.end()
    // The pieces that the other thread has finished still come, at most four; no more is read.
    var count = 0
    while let piece = try scan.next() { count += piece.entries.count }
    #expect(count <= 4 * 512)
  }

  @Test func `does all of it alone while the cache is in use`() throws {
    let cache = try filled(1_600)
    let scan = try scan(cache)
    let before = scene.faults.count(of: .readdir)
    var (count, pieceCount) = (0, 0)
    while let piece = try scan.next(alone: true) {
      count += piece.entries.count
      pieceCount += 1
      // Nobody has read on. The names of the directory itself and of its parent are passed over.
      #expect(scene.faults.count(of: .readdir) - before <= 4 * pieceCount + 2)
    }
    #expect(count == 1_600)
  }
}
