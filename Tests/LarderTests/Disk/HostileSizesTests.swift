import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// Files of extreme sizes that another user plants or swaps, and their effects.
struct HostileSizesTests {
  @Test func `totals of files that claim to be enormous stop at the most there is`() {
    var total = 0
    total.addSaturating(.max)
    total.addSaturating(1)
    #expect(total == .max)
    var removal = BulkRemoval()
    removal.byteCount = .max
    removal.add(removal)
    #expect(removal.byteCount == .max)
  }

  @Test func `what a broken filesystem tells stops at the most there is`() {
    var status = stat()
    status.st_blocks = .max
    status.st_size = .min
    #expect(FileStatus(status).allocatedByteCount == .max)
    #expect(FileStatus(status).byteCount == 0)
    #expect((UInt64.max / 2).multipliedSaturating(by: 2) == UInt64.max - 1)
    #expect((UInt64.max / 2).multipliedSaturating(by: 3) == UInt64.max)
  }

  @Test func `a planted sparse file traps nobody, however often it is read`() throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    let name = scene.name("key").text
    try scene.plant([1], named: name)
    let file = "\(scene.path)/\(name)"
    guard unsafe truncate(file, off_t.max) == 0 || truncateHuge(scene, name) else { return }
    try scene.touch(
      scene.name("key"), access: scene.clock.now,
      modification: scene.clock.now.adding(seconds: 60))
    for _ in 0..<3 {
      _ = try cache.withFile(forKey: "key") { $0.byteCount }
    }
    let length = try Int(clamping: scene.status(scene.name("key")).byteCount)
    #expect(try cache.totalSize() <= length && cache.survey().byteCount <= length)
  }

  @Test(arguments: [false, true])
  func `a planted sparse file is not hashed for ever`(hasAttribute: Bool) throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    try cache.store([1], forKey: "other")
    let name = scene.name("key")
    if hasAttribute {
      try cache.store([1], forKey: "key")
    } else {
      try scene.plant([1], named: name.text)
    }
    // Only a little too long, so that an older library ends here as well.
    let byteCount = SystemEnvironment.memoryLimit / 2 + (1 << 30)
    guard unsafe truncate("\(scene.path)/\(name.text)", byteCount) == 0 else { return }
    try scene.touch(
      name, access: scene.clock.now, modification: scene.clock.now.adding(seconds: 60))
    let verification = try cache.verify(repairs: true)
    #expect(verification.unreadable == (hasAttribute ? [name.text] : []))
    #expect(verification.damaged.isEmpty && verification.checkedCount == 1)
    let error = #expect(throws: CacheError.self) { try cache.stamp(name.text) }
    #expect(error?.code == .resourcesExhausted)
    if hasAttribute {
      #expect(throws: CacheError.self) { try cache.withFile(forKey: "key") { $0.byteCount } }
    }
    #expect(try cache.storeIfAbsent([2], forKey: "other") == .rejected(.alreadyPresent))
  }

  private func truncateHuge(_ scene: DiskScene, _ name: String) -> Bool {
    // ext4 takes up to 16 TiB in one file.
    unsafe truncate("\(scene.path)/\(name)", 1 << 43) == 0
  }

  @Test func `many openers of a path that is missing all get in`() async throws {
    let directory = try TemporaryDirectory()
    for round in 0..<20 {
      let path = "\(directory.path)/\(round)/a/b/cache"
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask { try DiskCache(directory: path).close() }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test func `extended data that does not fit is no full disk`() throws {
    let scene = try DiskScene()
    let cache = try scene.open { $0.sizeLimit = 1000 }
    for number in 0..<10 { try cache.store([1], forKey: "\(number)") }
    #expect(try cache.count() == 10)
    scene.faults.plan(.errno(.noSpace), for: .fsetxattr)
    let error = #expect(throws: CacheError.self) {
      try cache.store([1], forKey: "new", extendedData: [1, 2, 3])
    }
    #expect(error?.code == .extendedDataUnsupported)
    #expect(try cache.count() == 10)
  }

  @Test func `durable removals of many are synced`() throws {
    let scene = try DiskScene()
    let cache = try scene.open { $0.durability = .durable }
    try cache.store([1], forKey: "a")
    try cache.store([1], forKey: "b")
    _ = try cache.count()
    var before = scene.faults.count(of: .fsync)
    try cache.trim(toCount: 1)
    #expect(scene.faults.count(of: .fsync) > before)
    before = scene.faults.count(of: .fsync)
    try cache.removeAll()
    #expect(scene.faults.count(of: .fsync) > before)
  }
}
