import Larder
import LarderTestSupport
import Testing

@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem
@testable import LarderTool

struct TimeSpanTests {
  @Test(arguments: [
    ("0", 0), ("90", 90), ("0s", 0), ("1s", 1), ("1m", 60), ("1h", 3600), ("1d", 86_400),
    ("1w", 604_800), ("7d", 604_800), ("1h30m", 5400), ("1d12h", 129_600),
    ("2w 3d", 1_468_800), ("6 d", 518_400), ("1w1d1h1m1s", 694_861), ("1.5h", 5400),
    ("0.5d", 43_200), ("0.9s", 0), ("1.99", 1), ("90m", 5400),
    ("9223372036854775807", Int.max), ("9223372036854775807s", Int.max),
  ])
  func `a length of time is read to the second, decimals rounded down`(
    text: String, seconds: Int
  ) throws {
    #expect(try TimeSpan(parsing: text.utf8).seconds == seconds)
  }

  @Test(arguments: [
    ("", "is empty"), ("-1d", "is negative"), ("d", "is not a number"), ("1.d", "is not a number"),
    ("1x", "does not end in a unit of time"), ("1D", "does not end in a unit of time"),
    ("1M", "does not end in a unit of time"), ("1h30", "does not end in a unit of time"),
    ("30 1h", "does not end in a unit of time"), ("1d!", "is not a number"),
    ("1m1h", "has its units out of order"), ("1h1h", "has its units out of order"),
    ("never", "is not a number"), ("+1d", "is not a number"), ("1e3s", "unit of time"),
    ("9223372036854775808", "is too long"), ("9223372036854775807m", "is too long"),
    ("15250284452472w", "is too long"), ("15250284452471w9d", "is too long"),
  ])
  func `what is no length of time is refused with the reason`(
    text: String, reason: String
  ) throws {
    let error = #expect(throws: ValueError.self) { try TimeSpan(parsing: text.utf8) }
    let sentence = try #require(error).description
    #expect(sentence.contains(reason))
    #expect(sentence.hasPrefix("'\(text)' "))
  }

  @Test func `the parts of a length of time add up`() throws {
    var random = SeededRandom(seed: 7)
    for _ in 0..<500 {
      let parts = (0..<5).map { _ in Int.random(in: 0..<1000, using: &random) }
      let text = zip(parts, ["w", "d", "h", "m", "s"]).map { "\($0)\($1)" }.joined()
      let sum = zip(parts, [604_800, 86_400, 3600, 60, 1]).map(*).reduce(0, +)
      #expect(try TimeSpan(parsing: text.utf8).seconds == sum)
    }
  }

  @Test(
    arguments: [
      ("never", .never), ("7d", .seconds(604_800)), ("0", .seconds(0)), ("90s", .seconds(90)),
    ] as [(String, Expiration)])
  func `an expiration is a length of time or never`(text: String, expected: Expiration) throws {
    #expect(try Expiration(parsing: text.utf8) == expected)
  }

  @Test(arguments: ["Never", "never ", "nev", "", "-1s", "forever", "2026-01-01"])
  func `any other word is no expiration`(text: String) {
    #expect(throws: ValueError.self) { try Expiration(parsing: text.utf8) }
  }
}
