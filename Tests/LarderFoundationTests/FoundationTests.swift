import Foundation
import LarderFoundation
import LarderTestSupport
import Testing

final class `Larder with Foundation` {
  let folder: TemporaryDirectory
  let directory: URL
  let disk: DiskCache

  init() throws {
    folder = try TemporaryDirectory()
    directory = URL(filePath: folder.path).appending(path: "cache")
    disk = try DiskCache(directory: directory)
  }

  struct Point: Codable, Equatable, Sendable {
    var x: Int
    var y: Int
  }

  @Test(arguments: [0, 1, 4095, 4096, 1_000_003])
  func `data comes back as it was stored`(byteCount: Int) throws {
    let data = Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    #expect(try disk.store(data, forKey: "data") == .stored)
    #expect(try disk.data(forKey: "data") == data)
    #expect(try disk.value(forKey: "data") == Array(data))
    #expect(try disk.data(forKey: "other") == nil)
  }

  @Test func `a slice begins at 0 from both tiers`() async throws {
    var configuration = CacheConfiguration()
    // Longer than the test may take on a busy machine, because memory answers no longer.
    configuration.disk.recencyGranularity = .seconds(86_400)
    configuration.memoryExpiration = .never
    // An event may drop from memory what was stored just before.
    configuration.disk.coherence = .none
    let slow = URL(filePath: folder.path).appending(path: "slow")
    let cache = try Cache(directory: slow, coder: .data, configuration: configuration)
    let slice = Data(0..<9).suffix(4)
    try await cache.store(slice, forKey: "stored")
    _ = try await cache.value(forKey: "loaded") { slice }
    for key in ["stored", "loaded"] {
      #expect(try await cache.tier(forKey: key) == .memory)
      let kept = try await cache.value(forKey: key)
      #expect(kept == slice && kept?.startIndex == 0)
    }
    try await cache.close()
  }

  @Test func `data comes back as it was stored, awaited too`() async throws {
    let data = Data([1, 2, 3])
    #expect(try await disk.store(data, forKey: "data", extendedData: [9]) == .stored)
    #expect(try await disk.data(forKey: "data") == data)
    #expect(try await disk.read(forKey: "data")?.extendedData == [9])
    #expect(try await disk.data(forKey: "other") == nil)
    let task = Task { [disk] in
      while !Task.isCancelled { await Task.yield() }
      return try await disk.store(Data(), forKey: "data")
    }
    task.cancel()
    let error = await #expect(throws: CacheError.self) { try await task.value }
    #expect(error?.code == .cancelled && error?.oldValueRemains == true)
    #expect(try await disk.data(forKey: "data") == data)
  }

  @Test func `a file that claims more than memory holds is an error and no crash`() throws {
    var configuration = DiskCache.Configuration()
    configuration.sizeLimit = nil
    let unlimited = try DiskCache(
      directory: directory.appendingPathComponent("unlimited"), configuration: configuration)
    let path = unlimited.path(forKey: "key")
    try Data([1]).write(to: URL(fileURLWithPath: path))
    // A sparse file of 8 TiB takes no room. ext4 allows 16 TiB.
    #expect(unsafe truncate(path, 1 << 43) == 0)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: 3600)], ofItemAtPath: path)
    let error = #expect(throws: CacheError.self) { try unlimited.data(forKey: "key") }
    #expect(error?.code == .resourcesExhausted)
  }

  @Test func `equal values are equal bytes of JSON`() throws {
    struct Wide: Codable, Sendable { var (e, b, d, a, c) = (1, 2, 3, 4, 5) }
    let bytes = try Coder.json(Wide.self).encode(Wide())
    #expect(String(decoding: bytes, as: UTF8.self) == #"{"a":4,"b":2,"c":5,"d":3,"e":1}"#)
  }

  @Test(arguments: ["https://example.org/tmp/x", "tmp/x", "data:,x"])
  func `a URL of another scheme names no directory`(text: String) throws {
    let url = try #require(URL(string: text))
    let error = #expect(throws: CacheError.self) { try DiskCache(directory: url) }
    #expect(error?.code == .invalidArgument)
    #expect(throws: CacheError.self) { try Cache(directory: url, coder: .bytes) }
  }

  @Test func `a date that is no number is past`() throws {
    let date = Date(timeIntervalSince1970: .nan)
    #expect(Timestamp(date) == Timestamp(seconds: .min))
    #expect(try disk.store([1], forKey: "key", expiration: .date(date)) == .rejected(.expired))
    #expect(Timestamp(.distantFuture) > Timestamp(.now))
    #expect(Timestamp(Date(timeIntervalSince1970: .infinity)) == Timestamp(seconds: .max))
  }

  @Test func `codable values go through JSON`() throws {
    let cache = try Cache(directory: directory, coder: .json(Point.self))
    try cache.store(Point(x: 1, y: -2), forKey: "point")
    cache.memory.removeAll()
    #expect(try cache.value(forKey: "point") == Point(x: 1, y: -2))
    try cache.disk.store(Array("{\"x\": 1}".utf8), forKey: "point")
    #expect(try cache.value(forKey: "point") == nil)
  }

  @Test func `a URL is the key of its absolute string`() throws {
    let url = try #require(URL(string: "https://example.org/a?b=c"))
    try disk.store([1], forKey: url)
    #expect(try disk.value(forKey: "https://example.org/a?b=c") == [1])
    #expect(try disk.value(forKey: CacheKey(url)) == [1])
  }

  @Test(arguments: [0, 1.5, -1.5, 1_800_000_000.25, 8_589_934_592])
  func `a date survives the way to a stamp and back`(interval: TimeInterval) {
    let date = Date(timeIntervalSince1970: interval)
    #expect(Date(Timestamp(date)) == date)
    // A step of the dates of these years, which is too fine for one that counts from 1970.
    let fine = Date(timeIntervalSinceReferenceDate: 820_000_000 + 0x1p-23)
    #expect(Date(Timestamp(fine)) == fine)
  }

  @Test(arguments: [Date.distantPast, .distantFuture, Date(timeIntervalSince1970: .infinity)])
  func `dates beyond every stamp trap nowhere`(date: Date) throws {
    let stamp = Timestamp(date)
    #expect(Expiration.date(date) == .date(stamp))
  }

  @Test func `an expiry given as a date is kept`() throws {
    let date = Date(timeIntervalSince1970: 4_000_000_000.5)
    try disk.store([1], forKey: "key", expiration: .date(date))
    #expect(try disk.read(forKey: "key")?.expiry.map { Date($0) } == date)
  }
}
