import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

struct `What a file is stamped with anew` {
  private let now = Timestamp(seconds: 1_000_000)

  private func term(
    _ recorded: Lifetime, given: Expiration? = nil, expiry: Int64 = 1_000_000
  ) -> (lifetime: Lifetime, expiry: Timestamp) {
    let expiration = HandStamp(given: given, otherwise: .days(7)).expiration(
      recorded: recorded, expiry: Timestamp(seconds: expiry), now: now)
    return (expiration.lifetime, expiration.expiry(at: now))
  }

  @Test(
    arguments: [
      (.seconds(60), .seconds(60), 1_000_060), (.never, .never, 1 << 33),
      (.unknown, .seconds(604_800), 1_604_800), (.fixed, .seconds(604_800), 1_604_800),
    ] as [(Lifetime, Lifetime, Int64)])
  func `the lifetime on record starts anew, and the configured one where there is none`(
    recorded: Lifetime, lifetime: Lifetime, expiry: Int64
  ) {
    #expect(term(recorded) == (lifetime, Timestamp(seconds: expiry)))
  }

  @Test func `a fixed expiry stays as long as it is not past`() {
    #expect(term(.fixed, expiry: 1_000_001) == (.fixed, Timestamp(seconds: 1_000_001)))
  }

  @Test(arguments: [Lifetime.seconds(60), .never, .fixed, .unknown])
  func `what the caller asks for goes before what is on record`(recorded: Lifetime) {
    let term = term(recorded, given: .seconds(5), expiry: 2_000_000)
    #expect(term == (.seconds(5), Timestamp(seconds: 1_000_005)))
  }

  @Test func `a key on record stays unless it has another name`() throws {
    let name = EntryName(CacheKey("abc"))
    #expect(KeyProof.key(Array("abc".utf8)).fits(name))
    #expect(!KeyProof.key(Array("abd".utf8)).fits(name))
    #expect(KeyProof.digest(BLAKE2bDigest(first: 1, last: 2), hint: [3]).fits(name))
    #expect(KeyProof.none.fits(name))
  }
}
