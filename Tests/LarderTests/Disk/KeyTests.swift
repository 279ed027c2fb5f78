import Foundation
import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

struct `Keys on disk` {
  private static let keys: [[UInt8]] = [
    [], [0], Array("a\u{0}b".utf8), Array("/".utf8), Array("../../etc/passwd".utf8), [0xff, 0xfe],
    Array("é".utf8), Array("e\u{301}".utf8), Array("\u{1b}[2J\n".utf8), Array(" ".utf8),
    [UInt8](repeating: 65, count: 2000), [UInt8](repeating: 65, count: 2001),
    [UInt8](repeating: 66, count: 1 << 20),
  ]

  @Test func `any bytes are a key, each its own`() throws {
    let scene = try DiskScene()
    let cache = try scene.open { $0.recordKeys = .always }
    for (number, key) in Self.keys.enumerated() {
      try cache.store(Array("\(number)".utf8), forKey: CacheKey(key))
    }
    for (number, key) in Self.keys.enumerated() {
      #expect(try cache.value(forKey: CacheKey(key)) == Array("\(number)".utf8))
      #expect(cache.path(forKey: CacheKey(key)).hasSuffix(DiskScene.name(of: key).description))
    }
    #expect(try cache.count() == Self.keys.count)
    let again = try cache.entries().compactMap(\.key)
    #expect(again.count == Self.keys.count { $0.count <= 2000 })
    try scene.expectConsistent(cache)
  }

  private static let stem = "TEXTCOLLBYfGiJUETHQ4h"
  private static let tail = "cKSMd5zYpgqf1YRDhkmxHkhPWptrkoyz28wnI9V0aHeAuaKnak"
  static let twins = (stem + "A" + tail, stem + "E" + tail)

  @Test(arguments: [true, false], [DiskCache.KeyRecording.automatic, .always, .never])
  func `two keys of one MD5 never get each other's value`(
    isSwapped: Bool, recordKeys: DiskCache.KeyRecording
  ) throws {
    let (first, second) = isSwapped ? (Self.twins.1, Self.twins.0) : Self.twins
    let scene = try DiskScene()
    let ext4 = FileSystemKind(name: "ext4", isNetwork: false)
    #expect(scene.name(first).text == scene.name(second).text)
    let cache = try scene.open { ($0.recordKeys, $0.fileSystem) = (recordKeys, ext4) }
    try cache.store([1], forKey: first)
    for _ in 0..<3 {
      #expect(try cache.value(forKey: second) == nil)
      #expect(try cache.value(forKey: first) == [1])
      #expect(try !cache.contains(second))
      #expect(try cache.entry(forKey: second) == nil)
    }
    #expect(cache.statistics.misses == [.otherKey: 3])
    #expect(try cache.storeIfAbsent([2], forKey: second) == .stored)
    for _ in 0..<3 {
      #expect(try cache.value(forKey: first) == nil)
      #expect(try cache.value(forKey: second) == [2])
    }
    try cache.close()
    let reopened = try scene.open { ($0.recordKeys, $0.fileSystem) = (recordKeys, ext4) }
    #expect(try reopened.value(forKey: first) == nil)
    #expect(try reopened.value(forKey: second) == [2])
  }

  @Test func `keys that shall not be recorded appear nowhere`() throws {
    let scene = try DiskScene()
    let cache = try scene.open { $0.recordKeys = .never }
    try cache.store([1], forKey: "secret token")
    let long = String(repeating: "secret token ", count: 9)
    try cache.store([UInt8](repeating: 1, count: 1 << 20), forKey: long, extendedData: [1])
    #expect(try scene.attribute(scene.name(long))?.contains("secret") == false)
    try cache.remove(forKey: long)
    let attribute = try #require(try scene.attribute(scene.name("secret token")))
    #expect(attribute.contains(" #") && !attribute.contains("secret"))
    #expect(attribute.utf8.count <= 64)
    #expect(try cache.entries().map(\.key) == [nil])
    #expect(try cache.entries().map(\.keyHint) == [nil])
    let other = try DiskScene()
    let recording = try other.open()
    try recording.store([1], forKey: "secret token")
    #expect(try other.attribute(other.name("secret token"))?.hasSuffix(" =secret token") == true)
  }

  @Test func `without an attribute a value is served unless proof is required`() throws {
    let scene = try DiskScene()
    try scene.makeDirectory()
    try scene.plant(Array("by hand".utf8), named: scene.name("k").text)
    let lenient = try scene.open()
    #expect(try lenient.value(forKey: "k") == Array("by hand".utf8))
    #expect(try lenient.contains("k"))
    try lenient.close()
    let strict = try scene.open { $0.requireProof = true }
    #expect(try strict.value(forKey: "k") == nil)
    #expect(try !strict.contains("k"))
    #expect(strict.statistics.misses == [.unproven: 1])
    #expect(try scene.names == [scene.name("k").text])
    #expect(try strict.store([1], forKey: "k") == .stored)
    #expect(try strict.value(forKey: "k") == [1])
  }

  @Test func `an attribute without a proof is a miss only where proof is required`() throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    let whole = try #require(try scene.attribute(scene.name("k")))
    let open = whole.replacing("=k", with: "-")
    try scene.setAttribute(scene.name("k"), open)
    #expect(try cache.value(forKey: "k") == [1])
    try cache.close()
    let strict = try scene.open { $0.requireProof = true }
    #expect(try strict.value(forKey: "k") == nil)
  }

  @Test func `two objects that differ in how keys are kept do not share silently`() throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    #expect(throws: CacheError.self) { try scene.open { $0.recordKeys = .never } }
    #expect(throws: CacheError.self) { try scene.open { $0.requireProof = true } }
    try cache.close()
  }
}
