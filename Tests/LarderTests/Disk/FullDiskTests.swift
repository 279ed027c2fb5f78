import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

@Suite(.serialized, .watched)
struct `A full disk` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `A full disk` {
  private func filled(
    _ count: Int, fullDiskPause: Duration = .seconds(30),
    isDurable: Bool = false
  ) throws -> DiskCache {
    let cache = try scene.open {
      $0.sizeLimit = 1000
      $0.durability = isDurable ? .durable : .relaxed
      $0.fullDiskPause = fullDiskPause
    }
    _ = try cache.count()
    for number in 0..<count {
      scene.clock.advance(by: .seconds(1))
      try cache.store([UInt8](repeating: 1, count: 100), forKey: "\(number)")
    }
    return cache
  }

  @Test(
    arguments: [Errno.noSpace, .quotaExceeded],
    [SystemCall.write, .linkat, .renameat, .fsetxattr].flatMap { [($0, true), ($0, false)] })
  func `a full disk evicts once and the store is tried again`(
    errno: Errno, step: (call: SystemCall, isStream: Bool)
  ) throws {
    let (call, isStream) = step
    let cache = try filled(call == .renameat ? 9 : 10)
    if call == .renameat { try cache.store([6], forKey: "new") }
    // A shorter attribute is tried before the disk counts as full.
    for n in 1...(call == .fsetxattr ? 2 : 1) { scene.faults.plan(.errno(errno), for: call, at: n) }
    let outcome =
      isStream
      ? try cache.store(forKey: "new") { try $0.write([7]) } : try cache.store([7], forKey: "new")
    #expect(outcome == .stored)
    #expect(try cache.value(forKey: "new") == [7])
    #expect(cache.statistics.purges == 1)
    #expect(try cache.count() < 11)
    try scene.expectConsistent(cache)
  }

  @Test(arguments: [(Errno.noSpace, false), (.noSpace, true), (.quotaExceeded, false)])
  func `a full disk evicts once for extended data as well`(errno: Errno, isStream: Bool) throws {
    let cache = try filled(10)
    scene.faults.plan(.errno(errno), for: .fsetxattr)
    scene.faults.plan(.short(4096), for: .fstatvfs)
    let outcome =
      isStream
      ? try cache.store(forKey: "new", extendedData: [1, 2]) { try $0.write([7]) }
      : try cache.store([7], forKey: "new", extendedData: [1, 2])
    #expect(outcome == .stored && cache.statistics.purges == 1)
    let found = try cache.read(forKey: "new")
    #expect(found?.value == [7] && found?.extendedData == [1, 2])
    try scene.expectConsistent(cache)
    scene.faults.plan(.errno(errno), for: .fsetxattr, onwards: true)
    scene.faults.plan(.short(4096), for: .fstatvfs, onwards: true)
    let error = #expect(throws: CacheError.self) {
      try cache.store([7], forKey: "new", extendedData: [1, 2])
    }
    #expect(error?.code == .noSpace && error?.errno == errno)
  }

  @Test func `a value of which a flush lost bytes is written once more to another file`() throws {
    let cache = try scene.open { ($0.sizeLimit, $0.durability) = (1000, .durable) }
    // There is no eviction before the first scan is over.
    _ = try cache.count()
    for number in 0..<5 {
      scene.clock.advance(by: .seconds(1))
      try cache.store([UInt8](repeating: 1, count: 100), forKey: "\(number)")
    }
    let writeCount = scene.faults.count(of: .write)
    scene.faults.plan(.errno(.noSpace), for: .fdatasync)
    #expect(try cache.store([7], forKey: "new") == .stored)
    #expect(scene.faults.count(of: .write) == writeCount + 2)
    // The pieces of a stream cannot be written again.
    scene.faults.plan(.errno(.noSpace), for: .fdatasync)
    let error = #expect(throws: CacheError.self) {
      try cache.store(forKey: "pieces") { try $0.write([1]) }
    }
    #expect(error?.code == .noSpace)
    #expect(try cache.value(forKey: "pieces") == nil)
    try scene.expectConsistent(cache)
  }

  @Test(arguments: [Errno.notSupported, .noData])
  func `a stream without attributes of which a flush lost bytes is not stored`(errno: Errno) throws
  {
    let cache = try filled(10)
    for call in [SystemCall.fsetxattr, .fgetxattr] {
      scene.faults.plan(.errno(errno), for: call, onwards: true)
    }
    scene.faults.plan(.errno(.noSpace), for: .fdatasync)
    let error = #expect(throws: CacheError.self) {
      try cache.store(forKey: "pieces") { try $0.write([1]) }
    }
    #expect(error?.code == .noSpace && cache.statistics.purges == 0)
    #expect(try cache.value(forKey: "pieces") == nil)
  }

  @Test func `what stores only if absent writes nothing and evicts for nothing`() throws {
    let cache = try filled(10)
    let count = scene.faults.count(of: .write)
    scene.faults.plan(.errno(.noSpace), for: .write, onwards: true)
    #expect(try cache.storeIfAbsent([7], forKey: "0") == .rejected(.alreadyPresent))
    #expect(scene.faults.count(of: .write) == count && cache.statistics.purges == 0)
  }

  @Test func `what cannot be removed counts for the target`() throws {
    let cache = try filled(10)
    let names = (0..<6).map { cache.subject("\($0)").name }
    cache.engine.withState { state in
      for name in names { state.catalog.index.stick(name) }
    }
    scene.faults.plan(.errno(.noSpace), for: .write)
    #expect(try cache.store([7], forKey: "new") == .stored)
    #expect(try cache.count() == 9)
  }

  @Test func `a stream that meets a full disk goes on after an eviction`() throws {
    let cache = try filled(10)
    scene.faults.plan(.short(2), for: .write, at: 2)
    scene.faults.plan(.errno(.noSpace), for: .write, at: 3)
    try cache.store(forKey: "new") { stream in
      try stream.write([1, 2, 3, 4])
      try stream.write([5, 6, 7, 8])
    }
    #expect(try cache.value(forKey: "new") == [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(cache.statistics.purges == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `an eviction that helped a stream was not in vain`() throws {
    let cache = try filled(10)
    for n in [1, 3, 4, 5] { scene.faults.plan(.errno(.noSpace), for: .write, at: n) }
    let error = #expect(throws: CacheError.self) {
      try cache.store(forKey: "late") { late in
        try cache.store(forKey: "helped") { try $0.write([1]) }
        try late.write([2])
      }
    }
    #expect(error?.code == .noSpace)
    #expect(try cache.value(forKey: "helped") == [1])
    #expect(try cache.store([3], forKey: "next") == .stored)
  }

  @Test func `an eviction before a piece that fitted counts for no piece after it`() throws {
    let cache = try filled(10)
    for n in [1, 4] { scene.faults.plan(.errno(.noSpace), for: .write, at: n) }
    try cache.store(forKey: "late") { late in
      try cache.store(forKey: "helped") { try $0.write([1]) }
      try late.write([2])
      try late.write([3])
    }
    #expect(try cache.value(forKey: "late") == [2, 3])
    #expect(cache.statistics.purges == 2 && cache.statistics.vainEvictions == 0)
  }

  @Test func `a disk that stays full is an error after one eviction`() throws {
    let cache = try filled(10)
    scene.faults.plan(.errno(.noSpace), for: .write, at: 1, onwards: true)
    let error = #expect(throws: CacheError.self) { try cache.store([7], forKey: "new") }
    #expect(error?.code == .noSpace && error?.oldValueRemains == false)
    #expect(cache.statistics.purges == 1)
    try scene.expectConsistent(cache)
  }

  @Test func `a disk that stays full costs the cache one eviction and not one a store`() throws {
    let cache = try filled(10)
    scene.faults.plan(.errno(.noSpace), for: .write, at: 1, onwards: true)
    for number in 0..<10 {
      #expect(throws: CacheError.self) { try cache.store([7], forKey: "new \(number)") }
    }
    #expect(throws: CacheError.self) {
      try cache.store(forKey: "in pieces") { try $0.write([1]) }
    }
    #expect(cache.statistics.purges == 1)
    #expect(cache.statistics.vainEvictions == 1)
    #expect(try cache.count() == 5)
    try scene.expectConsistent(cache)
  }

  @Test func `a disk that is full again when streams are published costs one eviction`() throws {
    let cache = try filled(10, isDurable: true)
    for n in [1, 3, 4, 5] { scene.faults.plan(.errno(.noSpace), for: .write, at: n) }
    scene.faults.plan(.errno(.noSpace), for: .fdatasync, at: 1, onwards: true)
    for number in 0..<4 {
      #expect(throws: CacheError.self) {
        try cache.store(forKey: "new \(number)") { try $0.write([1]) }
      }
    }
    #expect(cache.statistics.purges == 1 && cache.statistics.vainEvictions == 1)
    #expect(try cache.count() == 5)
  }

  @Test func `a full disk that a process finds first is scanned for the store`() throws {
    try filled(10).close()
    let cache = try scene.open { ($0.sizeLimit, $0.scanPatience) = (1000, .seconds(3_600)) }
    scene.faults.plan(.errno(.noSpace), for: .write, at: 1)
    #expect(try cache.store([7], forKey: "new") == .stored)
    #expect(cache.statistics.purges == 1)
    #expect(cache.statistics.upkeepFailures == [.noSpace: 1])
  }

  @Test func `a store for which a process scans a full disk counts what has expired there`() throws
  {
    try filled(10).close()
    scene.clock.advance(by: .seconds(8 * 86_400))
    let cache = try scene.open { ($0.sizeLimit, $0.scanPatience) = (1000, .seconds(3_600)) }
    scene.faults.plan(.errno(.noSpace), for: .write, at: 1)
    #expect(try cache.store([7], forKey: "new") == .stored)
    #expect(cache.statistics.removals == [.expired: 10])
    try cache.close()
  }

  @Test func `what a full disk refuses to cut is written over by the next try`() throws {
    let cache = try filled(10)
    // A part of the bytes, then none, and the file keeps the part.
    scene.faults.plan(.short(5), for: .write, at: 1)
    scene.faults.plan(.errno(.noSpace), for: .write, at: 2)
    scene.faults.plan(.errno(.noSpace), for: .ftruncate, at: 1)
    let value = [UInt8](0..<100)
    #expect(try cache.store(forKey: "new") { try $0.write(value) } == .stored)
    #expect(try cache.value(forKey: "new") == value)
    #expect(try cache.verify().damaged.isEmpty)
  }

  @Test func `a store that may not make room on a full disk leaves all files there`() throws {
    try filled(10).close()
    scene.clock.advance(by: .seconds(8 * 86_400))
    let cache = try scene.open {
      ($0.sizeLimit, $0.scanPatience, $0.makesRoom) = (nil, .seconds(3_600), false)
    }
    scene.faults.plan(.errno(.noSpace), for: .write, at: 1)
    #expect(throws: CacheError.self) { try cache.store([7], forKey: "new") }
    #expect(try scene.names.count == 10)
    try cache.close()
  }

  @Test func `after a while a full disk is worth another eviction`() throws {
    let cache = try filled(10, fullDiskPause: .zero)
    scene.faults.plan(.errno(.noSpace), for: .write, at: 1, onwards: true)
    for number in 0..<2 {
      #expect(throws: CacheError.self) { try cache.store([7], forKey: "new \(number)") }
    }
    #expect(cache.statistics.purges == 2)
    #expect(cache.statistics.vainEvictions == 2)
  }

  @Test func `stores that find the disk full at once make one eviction`() throws {
    let cache = try filled(10)
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    for n in 1...2 { scene.faults.plan(.errno(.noSpace), for: .write, at: n) }
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      #expect(throws: Never.self) { try cache.store([7], forKey: "first") }
      done.signal()
    }
    gate.waitUntilReached()
    let faults = scene.faults
    gate.expectToHold(once: { faults.struckCount == 3 }) { try cache.store([8], forKey: "second") }
    done.wait(for: "the first store")
    #expect(cache.statistics.purges == 1 && cache.statistics.vainEvictions == 0)
    #expect(try cache.value(forKey: "first") == [7])
    #expect(try cache.value(forKey: "second") == [8])
    try scene.expectConsistent(cache)
  }

  @Test func `a key that does not fit beside the inode is not a full disk`() throws {
    let cache = try filled(5)
    scene.faults.plan(.errno(.noSpace), for: .fsetxattr, at: 1)
    #expect(try cache.store([7], forKey: "new") == .stored)
    #expect(cache.statistics.purges == 0)
    #expect(try scene.attribute(scene.name("new"))?.contains(" #") == true)
    #expect(try cache.value(forKey: "new") == [7])
  }
}
