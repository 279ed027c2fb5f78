import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// The decision before anything is written, tested without files.
struct `The request of a store` {
  private static let now = Timestamp(seconds: 100)

  private func rejection(
    _ byteCount: Int?, _ expiration: Expiration = .never, dataCount: Int = 0,
    admits: Bool = true, limits: DiskCache.Configuration = .init(sizeLimit: 10)
  ) throws(CacheError) -> StoreOutcome.Reason? {
    let key = CacheKey("k")
    let request = StoreRequest(
      subject: Subject(key: key, name: EntryName(key)), expiration: expiration,
      extendedData: [UInt8](repeating: 0, count: dataCount), admits: { _, _ in admits })
    return try request.rejection(byteCount: byteCount, at: Self.now, limits, "/cache")
  }

  @Test func `is rejected as expired, then as too large, then as declined`() throws {
    #expect(try rejection(11, .expired, admits: false) == .expired)
    #expect(try rejection(11, .date(Self.now), admits: false) == .expired)
    #expect(try rejection(11, admits: false) == .tooLarge)
    #expect(try rejection(10, admits: false) == .declined)
    #expect(try rejection(10, .date(Self.now.adding(seconds: 1))) == nil)
  }

  @Test func `is asked of its length once that is known`() throws {
    #expect(try rejection(nil, admits: false) == nil)
    #expect(try rejection(nil, limits: .init(sizeLimit: 0)) == .tooLarge)
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    #expect(try rejection(.max, limits: configuration) == nil)
    configuration.countLimit = 0
    #expect(try rejection(nil, limits: configuration) == .tooLarge)
  }

  @Test func `fails with more extended data than an entry keeps`() throws {
    let most = StoreRequest.maximumExtendedDataCount
    #expect(try rejection(10, dataCount: most) == nil)
    let error = #expect(throws: CacheError.self) { try rejection(10, dataCount: most + 1) }
    #expect(error?.code == .invalidArgument && error?.path == "/cache")
  }
}
