@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// One store of the fixture `basic`.
struct GoldenEntry: Sendable {
  let key: CacheKey
  let value: [UInt8]
  var expiration = Expiration.days(7)
  var extendedData: [UInt8] = []
  var fileExtension: String?
  var recordKeys = DiskCache.KeyRecording.always

  init(
    _ key: some CacheKeyConvertible, _ value: [UInt8], _ change: (inout Self) -> Void = { _ in }
  ) {
    self.key = key.cacheKey
    self.value = value
    change(&self)
  }
}

extension GoldenEntry {
  /// The stores in their order. The clock advances by one second for each.
  static let all = [
    GoldenEntry("abc", Array("hello".utf8)),
    GoldenEntry("", Array("the empty key".utf8)) { $0.expiration = .never },
    GoldenEntry("https://example.org/?q=\u{fc}", Array("<p>page</p>\r\n".utf8)) {
      $0.expiration = .seconds(90)
      $0.extendedData = Array("ETag: \"1\"\n".utf8)
    },
    GoldenEntry("empty value", []),
    GoldenEntry([0xFF, 0x00, 0x0A] as [UInt8], Array(0...255)),
    GoldenEntry(
      String(repeating: "k", count: 2000), Array("the longest key that is recorded".utf8)),
    GoldenEntry(
      String(repeating: "k", count: 2001), Array("a key that only its digest proves".utf8)),
    GoldenEntry("feed", Array("{\"items\": []}\n".utf8)) {
      $0.expiration = .date(Timestamp(seconds: 1_900_000_000, nanoseconds: 123_456_789))
      $0.fileExtension = "json"
    },
    GoldenEntry("secret", Array("a value whose key is not told".utf8)) { $0.recordKeys = .never },
    // Of the key, 29 bytes have room; the first two of them belong to the character before.
    GoldenEntry(
      "https://example.org/menu/cafe\u{301}/1234567890/1024.jpg?full=1",
      Array("a value too small for a block\n".utf8)
    ) { $0.recordKeys = .automatic },
  ]

  /// Returns the settings with which the entry is stored and read.
  func configuration(_ clock: ManualClock, _ mode: DiskCache.Mode) -> DiskCache.Configuration {
    var configuration = DiskCache.Configuration()
    configuration.clock = clock.wallClock
    configuration.mode = mode
    configuration.fileExtension = fileExtension
    configuration.recordKeys = recordKeys
    // On every file system what is written on ext4.
    configuration.faults = FaultInjector()
    configuration.fileSystem = FileSystemKind(name: "ext4", isNetwork: false)
    return configuration
  }
}
