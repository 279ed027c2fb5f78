import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// Stores whose value is the content of a file.
struct `Storing a file` {
  private let scene: DiskScene
  private let source: String

  init() throws {
    scene = try DiskScene()
    source = scene.directory.path + "/source"
  }

  private func write(_ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: source))
  }

  @Test(arguments: [0, 1, 4_096, 300_000, 3_000_001])
  func `gives the file's bytes and leaves the file alone`(byteCount: Int) throws {
    let cache = try scene.open()
    let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    try write(bytes)
    #expect(try cache.store(contentsOfFile: source, forKey: "a") == .stored)
    #expect(try cache.value(forKey: "a") == bytes)
    #expect(try Array(Data(contentsOf: URL(fileURLWithPath: source))) == bytes)
    // Bytes written to the source after the store are not the entry's.
    try write([9])
    #expect(try cache.value(forKey: "a") == bytes)
    #expect(try cache.verify().damaged.isEmpty)
  }

  @Test(arguments: [
    Errno(rawValue: EXDEV), .invalidArgument, .notSupported, .noSuchSystemCall, .ioError,
  ])
  func `takes the way through memory where the kernel does not copy`(errno: Errno) throws {
    let cache = try scene.open()
    try write([1, 2, 3])
    scene.faults.plan(.errno(errno), for: .copyFileRange, onwards: true)
    scene.faults.plan(.errno(errno), for: .ioctl, onwards: true)
    #expect(try cache.store(contentsOfFile: source, forKey: "a") == .stored)
    #expect(try cache.value(forKey: "a") == [1, 2, 3])
  }

  @Test func `starts again where the kernel stops in the middle`() throws {
    let cache = try scene.open()
    let bytes = [UInt8](repeating: 7, count: 100_000)
    try write(bytes)
    // The first call copies everything. The second, which would find the end, fails.
    scene.faults.plan(.errno(.notSupported), for: .ioctl, onwards: true)
    scene.faults.plan(.errno(.ioError), for: .copyFileRange, at: 2)
    #expect(try cache.store(contentsOfFile: source, forKey: "a") == .stored)
    #expect(try cache.value(forKey: "a") == bytes)
  }

  @Test func `reads what the kernel makes up, whose length is said to be 0`() throws {
    let cache = try scene.open()
    #expect(try cache.store(contentsOfFile: "/proc/self/status", forKey: "a") == .stored)
    let text = String(decoding: try cache.value(forKey: "a") ?? [], as: UTF8.self)
    #expect(text.hasPrefix("Name:"))
  }

  @Test func `a full disk evicts once and tries again`() throws {
    let cache = try scene.open { $0.sizeLimit = 1_000 }
    try cache.store([UInt8](repeating: 1, count: 600), forKey: "old")
    _ = try cache.count()
    try write([1, 2, 3])
    scene.faults.plan(.errno(.noSpace), for: .copyFileRange)
    scene.faults.plan(.errno(.notSupported), for: .ioctl, onwards: true)
    #expect(try cache.store(contentsOfFile: source, forKey: "a") == .stored)
    #expect(try cache.value(forKey: "a") == [1, 2, 3])
  }

  @Test(arguments: 1...4)
  func `a disk that fills up in the middle leaves no gap`(n: Int) throws {
    let cache = try scene.open { $0.sizeLimit = 10_000_000 }
    try cache.store([1], forKey: "old")
    _ = try cache.count()
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 7) }
    try write(bytes)
    for call in [SystemCall.ioctl, .copyFileRange] {
      scene.faults.plan(.errno(Errno(rawValue: EXDEV)), for: call, onwards: true)
    }
    scene.faults.plan(.errno(.noSpace), for: .write, at: n)
    #expect(try cache.store(contentsOfFile: source, forKey: "a") == .stored)
    #expect(try cache.value(forKey: "a") == bytes)
  }

  @Test func `a FIFO is refused and not waited for`() throws {
    let cache = try scene.open()
    let path = scene.directory.path + "/fifo"
    let isMade = unsafe mkfifo(path, 0o600) == 0
    try #require(isMade)
    #expect(throws: CacheError.self) { try cache.store(contentsOfFile: path, forKey: "a") }
  }

  @Test func `a file longer than the limit is rejected and ends the older value`() throws {
    let cache = try scene.open { $0.sizeLimit = 10 }
    try cache.store([1], forKey: "a")
    try write([UInt8](repeating: 1, count: 11))
    #expect(try cache.store(contentsOfFile: source, forKey: "a") == .rejected(.tooLarge))
    #expect(try cache.value(forKey: "a") == nil)
  }

  @Test(arguments: ["/no/such/file", "/"])
  func `what is no readable file is an error that names it`(path: String) throws {
    let cache = try scene.open()
    let error = #expect(throws: CacheError.self) {
      try cache.store(contentsOfFile: path, forKey: "a")
    }
    #expect(error?.path == path)
    #expect(error?.code == .invalidArgument)
    #expect(try scene.names == [])
  }

  @Test func `a process out of descriptors is told so`() throws {
    let cache = try scene.open()
    try write([1])
    scene.faults.plan(.errno(.tooManyOpenFiles), for: .open)
    let error = #expect(throws: CacheError.self) {
      try cache.store(contentsOfFile: source, forKey: "a")
    }
    #expect(error?.path == source && error?.code == .resourcesExhausted)
  }
}
