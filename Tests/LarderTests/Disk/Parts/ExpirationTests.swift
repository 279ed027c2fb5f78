import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

struct `Expirations` {
  static let now = Timestamp(seconds: 1_800_000_000, nanoseconds: 5)

  static let bases: [(Expiration, Timestamp, Lifetime)] = [
    (.never, .never, .never),
    (.seconds(60), now.adding(seconds: 60), .seconds(60)),
    (.days(7), now.adding(seconds: 604_800), .seconds(604_800)),
    (.seconds(0), now, .seconds(0)), (.seconds(-5), now.adding(seconds: -5), .seconds(0)),
    (.seconds(.max), now.adding(seconds: 4_294_967_294), .seconds(.max - 1)),
    (.days(.max), now.adding(seconds: 4_294_967_294), .seconds(.max - 1)),
    (.seconds(.min), now.adding(seconds: -4_294_967_294), .seconds(0)),
    (.days(.min), now.adding(seconds: -4_294_967_294), .seconds(0)),
    (.date(now.adding(seconds: 9)), now.adding(seconds: 9), .fixed),
    (.date(.never), .never, .never), (.date(Timestamp(seconds: .max)), .never, .never),
    (.date(Timestamp(seconds: .min)), Timestamp(seconds: -(1 << 33)), .fixed),
    (.expired, now, .fixed),
  ]

  @Test(arguments: bases)
  func `an expiration has an expiry and a lifetime`(
    expiration: Expiration, expiry: Timestamp, lifetime: Lifetime
  ) {
    #expect(expiration.expiry(at: Self.now) == expiry)
    #expect(expiration.lifetime == lifetime)
  }

  private static let expirations: [Expiration] = [
    .never, .expired, .seconds(.max), .seconds(.min), .days(.max), .days(.min), .seconds(1),
    .date(Timestamp(seconds: .max)), .date(Timestamp(seconds: .min)),
  ]
  private static let lifetimes: [Lifetime] = [
    .never, .fixed, .unknown, .seconds(0), .seconds(.max - 1),
  ]

  @Test(arguments: [Int64.min, -1, 0, 1 << 31, 1 << 33, 1 << 34, .max], expirations)
  func `no time makes arithmetic trap, and an extension never moves an expiry earlier`(
    seconds: Int64, expiration: Expiration
  ) {
    let now = Timestamp(seconds: seconds, nanoseconds: 999_999_999)
    let expiry = expiration.expiry(at: now)
    #expect(expiry <= .never)
    let extendings =
      [.off, .lifetime, .to(.seconds(.max)), .to(.never), .to(.expired)]
      as [ExpirationExtending]
    for lifetime in Self.lifetimes {
      for extending in extendings {
        let extended = extending.extendedExpiry(of: expiry, lifetime: lifetime, at: now)
        if let extended { #expect(extended > expiry && extended <= .never) }
      }
    }
  }

  static let extensions: [(ExpirationExtending, Lifetime, Int64?)] = [
    (.off, .seconds(600), nil),
    (.lifetime, .seconds(600), 600), (.lifetime, .seconds(10), nil), (.lifetime, .fixed, nil),
    (.lifetime, .never, nil), (.lifetime, .unknown, nil), (.to(.seconds(600)), .seconds(10), 600),
    (.to(.seconds(600)), .unknown, 600), (.to(.seconds(600)), .fixed, nil),
    (.to(.seconds(10)), .seconds(600), nil), (.to(.expired), .seconds(600), nil),
    (.to(.seconds(600)), .never, nil),
  ]

  @Test(arguments: extensions)
  func `an access extends as the table says`(
    extending: ExpirationExtending, lifetime: Lifetime, after: Int64?
  ) {
    let expiry = Self.now.adding(seconds: 100)
    let extended = extending.extendedExpiry(of: expiry, lifetime: lifetime, at: Self.now)
    #expect(extended == after.map { Self.now.adding(seconds: $0) })
  }

  @Test(arguments: [ExpirationExtending.lifetime, .to(.seconds(60)), .to(.expired), .off])
  func `never stays never`(extending: ExpirationExtending) {
    for lifetime in [.never, .unknown, .seconds(60)] as [Lifetime] {
      let extended = extending.extendedExpiry(of: .never, lifetime: lifetime, at: Self.now)
      #expect(extended == nil)
    }
  }

  static let stamps: [(Int64, Int64, Bool)] = [
    (1 << 33, 0, true), (1 << 33, 1, true), (.max, 0, true),
    ((1 << 33) - 1, 999_999_999, false), (Int64(Int32.max), 0, true),
    (Int64(Int32.max), 1, false), (Int64(UInt32.max), 0, true), (Int64(UInt32.max), 1, false),
    (Int64(Int32.max) - 1, 0, false), (Int64(Int32.max) + 1, 0, false), (0, 0, false),
    (.min, 0, false),
  ]

  @Test(arguments: stamps)
  func `what filesystems clamp never to is read as never`(
    seconds: Int64, nanoseconds: Int64, isNever: Bool
  ) {
    let stamp = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    #expect(stamp.asExpiry == (isNever ? .never : stamp))
  }
}
