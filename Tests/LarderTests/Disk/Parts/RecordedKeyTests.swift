import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

@Suite(
  .enabled("no attributes under the temporary folder") { FileSystemFeatures.hasAttributes })
struct `A recorded key` {
  private static let ext4 = FileSystemKind(name: "ext4", isNetwork: false)
  /// 57 bytes, as many as an address often has.
  private static let url = "https://api.example.org/v1/accounts/users/1234567?full=1&"

  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `A recorded key` {
  private func open(
    on fileSystem: FileSystemKind = ext4,
    _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws -> DiskCache {
    try scene.open {
      $0.fileSystem = fileSystem
      change(&$0)
    }
  }

  private func attribute(_ key: String) throws -> String {
    try #require(try scene.attribute(scene.name(key)))
  }

  @Test(arguments: [0, 1024, (16 << 10) - 1, 16 << 10, 100_000])
  func `is in clear where that costs at most a quarter of the value, and else in 64 bytes`(
    byteCount: Int
  ) throws {
    let cache = try open()
    let value = [UInt8](repeating: 7, count: byteCount)
    for count in 1...300 {
      let key = String(repeating: "k", count: count)
      try cache.store(value, forKey: key)
      let bytes = try attribute(key).utf8.count
      let entry = try #require(try cache.entry(forKey: key))
      let isRecorded = count <= 46 || byteCount >= 16 << 10
      #expect(isRecorded || bytes <= 64, "\(count)")
      #expect(entry.key == (isRecorded ? CacheKey(key) : nil), "\(count)")
      #expect((entry.keyHint == nil) == isRecorded, "\(count)")
      #expect(try cache.value(forKey: key)?.count == byteCount)
      try cache.remove(forKey: key)
    }
  }

  @Test func `is a digest and the end of the key where it has no room`() throws {
    let cache = try open()
    try cache.store([1], forKey: Self.url)
    let entry = try #require(try cache.entries().first)
    #expect(entry.keyHint == "\u{2026}" + Self.url.suffix(29))
    #expect(try attribute(Self.url).hasSuffix(" \(Self.url.suffix(29))"))
    #expect(try cache.value(forKey: Self.url) == [1])
    #expect(try cache.verify().damaged == [])
  }

  @Test func `is in clear where file systems have the room for it`() throws {
    let key = String(repeating: "k", count: 200)
    for (name, isRecorded) in [
      ("ext4", false), ("xfs", true), ("btrfs", true), ("bcachefs", true), ("tmpfs", true),
      ("zfs", false), ("nfs", false), ("overlay", false),
    ] {
      let cache = try open(on: FileSystemKind(name: name, isNetwork: false))
      try cache.store([1], forKey: key)
      #expect((try cache.entry(forKey: key)?.key != nil) == isRecorded, "\(name)")
      try cache.close()
    }
  }

  @Test func `is in clear beside extended data, which cost the block in any case`() throws {
    let cache = try open()
    try cache.store([1], forKey: Self.url, extendedData: [1])
    #expect(try cache.entry(forKey: Self.url)?.key == CacheKey(Self.url))
  }

  @Test func `is in clear for what was written in pieces or from a file`() throws {
    let cache = try open()
    let half = [UInt8](repeating: 1, count: 8 << 10)
    try cache.store(forKey: Self.url) { writer throws(CacheError) in
      try writer.write(half)
      try writer.write(half)
    }
    #expect(try cache.entry(forKey: Self.url)?.key == CacheKey(Self.url))
  }

  @Test(arguments: [DiskCache.KeyRecording.automatic, .never])
  func `lets the variants of a value be found, and the value itself`(
    recordKeys: DiskCache.KeyRecording
  ) throws {
    let cache = try open { $0.recordKeys = recordKeys }
    let variants = ["small", "large"].map { CacheKey(Self.url, variant: $0) }
    for key in [CacheKey(Self.url), CacheKey(Self.url + "2")] + variants {
      try cache.store([1], forKey: key)
    }
    #expect(try cache.entry(forKey: Self.url)?.key == nil)
    let isFound = recordKeys == .automatic
    #expect(try cache.removeVariants(of: Self.url).removed == (isFound ? 3 : 1))
    #expect(try !cache.contains(Self.url))
    #expect(try cache.contains(Self.url + "2"))
    for key in variants { #expect(try cache.contains(key) != isFound) }
  }

  /// The twins have one MD5, so the file of one has the name of the other.
  @Test func `is not taken for another key of the same name by a removal of variants`() throws {
    let cache = try open()
    try cache.store([1], forKey: `Keys on disk`.twins.0)
    #expect(try cache.entries().first?.key == nil)
    #expect(try cache.removeVariants(of: `Keys on disk`.twins.1).removed == 0)
    #expect(try cache.removeVariants(of: `Keys on disk`.twins.0).removed == 1)
  }

  @Test func `is never made of a hint`() throws {
    let cache = try open()
    try cache.store([1], forKey: Self.url)
    // The attribute is untrusted: a hint that is a whole key, even the right one, is none.
    let head = try attribute(Self.url).utf8.count - 30
    for hint in ["other", Self.url, "other\u{FF}\u{FE}"] {
      let text = String(try attribute(Self.url).prefix(head)) + " " + hint
      try scene.setAttribute(scene.name(Self.url), text)
      let entry = try #require(try cache.entries().first)
      #expect(entry.key == nil && entry.keyHint?.hasPrefix("\u{2026}") == true)
      #expect(try cache.keys() == [])
      #expect(try cache.removeVariants(of: hint).removed == (hint == Self.url ? 1 : 0))
      if hint != Self.url {
        // It proves nothing either.
        #expect(try cache.value(forKey: Self.url) == [1])
        #expect(try cache.value(forKey: hint) == nil)
        #expect(try cache.verify().damaged == [])
      } else {
        try cache.store([1], forKey: Self.url)
      }
    }
    let removed = try cache.removeAll { $0.key == CacheKey(Self.url) }
    #expect(removed.removed == 0)
  }

  @Test func `stays within its room when the lifetime changes`() throws {
    let cache = try open()
    try cache.store([1], forKey: Self.url)
    #expect(try cache.touch(forKey: Self.url, expiration: .seconds(1_234_567)))
    #expect(try attribute(Self.url).utf8.count == 64)
    #expect(try cache.value(forKey: Self.url) == [1])
    let name = try #require(try cache.entries().first?.name)
    _ = try cache.stamp(name, expiration: .seconds(12_345_678))
    #expect(try attribute(Self.url).utf8.count == 64)
    #expect(try attribute(Self.url).contains(" 12345678 #"))
    #expect(try cache.value(forKey: Self.url) == [1])
  }

  @Test func `that does not fit beside the inode leaves its end`() throws {
    let cache = try open { $0.recordKeys = .always }
    scene.faults.plan(.errno(.noSpace), for: .fsetxattr, at: 1)
    try cache.store([1], forKey: Self.url)
    #expect(try cache.entry(forKey: Self.url)?.keyHint == "\u{2026}" + Self.url.suffix(29))
    try cache.store([1], forKey: Self.url)
    #expect(try cache.entry(forKey: Self.url)?.key == CacheKey(Self.url))
  }
}
