import Larder
import Testing

@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem
@testable import LarderTool

struct RelativeTimeTests {
  static let now = Timestamp(seconds: 1_700_000_000, nanoseconds: 500_000_000)

  @Test(
    arguments: [
      (0, "now"), (1, "in 1 s"), (-1, "1 s ago"), (59, "in 59 s"), (60, "in 60 s"),
      (120, "in 2 min"), (-180, "3 min ago"), (3599, "in 60 min"), (7200, "in 2 h"),
      (90, "in 90 s"), (7100, "in 2 h"), (7000, "in 117 min"), (36 * 3600, "in 36 h"),
      (-86_399, "24 h ago"), (86_400, "in 24 h"), (2 * 86_400, "in 2 d"),
      (7 * 86_400 - 1, "in 7 d"), (6 * 86_400, "in 6 d"), (-31_536_000, "365 d ago"),
      (63_113_904, "in 2 y"), (6_000_000_000, "in 190 y"), (-1_700_000_000, "54 y ago"),
    ] as [(Int64, String)])
  func `a time is told in the nearest number of a unit of which there are two`(
    offset: Int64, text: String
  ) {
    #expect(Self.now.adding(seconds: offset).relativeText(at: Self.now) == text)
  }

  @Test(
    arguments: [
      (1, "now"), (-1, "now"), (499_999_999, "now"), (-499_999_999, "now"),
      (500_000_000, "in 1 s"), (-500_000_000, "1 s ago"), (-999_999_999, "1 s ago"),
    ] as [(Int64, String)])
  func `less than half a second away is now`(nanoseconds: Int64, text: String) {
    let time = Self.now.adding(.nanoseconds(nanoseconds))
    #expect(time.relativeText(at: Self.now) == text)
  }

  @Test(arguments: [(7, "in 7 d"), (1, "in 24 h"), (30, "in 30 d")])
  func `what was stored a moment ago has its whole lifetime`(days: Int64, text: String) {
    let expiry = Self.now.adding(seconds: days * 86_400)
    #expect(expiry.relativeText(at: Self.now.adding(.milliseconds(80))) == text)
  }

  @Test(arguments: [.never, Timestamp(seconds: .max, nanoseconds: 999_999_999)])
  func `from never on it is never`(time: Timestamp) {
    #expect(time.relativeText(at: Self.now) == "never")
  }

  @Test func `the ends of time do not trap`() {
    let first = Timestamp(seconds: .min)
    let last = Timestamp(seconds: .max, nanoseconds: 999_999_999)
    #expect(first.relativeText(at: last).hasSuffix(" y ago"))
    #expect(first.relativeText(at: Self.now).hasSuffix(" y ago"))
    #expect(Self.now.relativeText(at: first).hasPrefix("in "))
    #expect(first.relativeText(at: first) == "now")
  }
}
