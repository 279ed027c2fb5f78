import Larder
import Testing

@testable import LarderTool

struct RelativeTimeTests {
  static let now = Timestamp(seconds: 1_700_000_000, nanoseconds: 500_000_000)

  @Test(
    arguments: [
      (0, "now"), (1, "in 1 s"), (-1, "1 s ago"), (59, "in 59 s"), (60, "in 1 min"),
      (-180, "3 min ago"), (3599, "in 59 min"), (3600, "in 1 h"), (-86_399, "23 h ago"),
      (86_400, "in 1 d"), (7 * 86_400 - 1, "in 6 d"), (-31_536_000, "365 d ago"),
      (31_556_952, "in 1 y"), (6_000_000_000, "in 190 y"), (-1_700_000_000, "53 y ago"),
    ] as [(Int64, String)])
  func `a time is told in its largest unit, towards the present`(offset: Int64, text: String) {
    #expect(Self.now.adding(seconds: offset).relativeText(at: Self.now) == text)
  }

  @Test(arguments: [1, -1, 999_999_999, -999_999_999] as [Int64])
  func `less than a second away is now`(nanoseconds: Int64) {
    let time = Self.now.adding(.nanoseconds(nanoseconds))
    #expect(time.relativeText(at: Self.now) == "now")
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
