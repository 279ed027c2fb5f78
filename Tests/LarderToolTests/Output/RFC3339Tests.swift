import Larder
import Testing

@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem
@testable import LarderTool

struct RFC3339Tests {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00Z"),
      (-1, "1969-12-31T23:59:59Z"),
      (86_399, "1970-01-01T23:59:59Z"),
      (86_400, "1970-01-02T00:00:00Z"),
      (-86_400, "1969-12-31T00:00:00Z"),
      (-86_401, "1969-12-30T23:59:59Z"),
      (951_782_400, "2000-02-29T00:00:00Z"),
      (951_868_800, "2000-03-01T00:00:00Z"),
      (1_709_164_800, "2024-02-29T00:00:00Z"),
      (2_147_483_647, "2038-01-19T03:14:07Z"),
      (4_107_542_400, "2100-03-01T00:00:00Z"),
      (4_294_967_295, "2106-02-07T06:28:15Z"),
      (8_589_934_592, "2242-03-16T12:56:32Z"),
      (15_032_385_535, "2446-05-10T22:38:55Z"),
      (-2_208_988_800, "1900-01-01T00:00:00Z"),
      (-2_203_891_201, "1900-02-28T23:59:59Z"),
      (-2_203_891_200, "1900-03-01T00:00:00Z"),
      (-12_219_292_800, "1582-10-15T00:00:00Z"),
      (-62_135_596_800, "0001-01-01T00:00:00Z"),
      (-62_135_596_801, "0000-12-31T23:59:59Z"),
      (-62_167_219_200, "0000-01-01T00:00:00Z"),
      (-62_167_219_201, "-0001-12-31T23:59:59Z"),
      (253_402_300_799, "9999-12-31T23:59:59Z"),
      (253_402_300_800, "+10000-01-01T00:00:00Z"),
      (.max, "+292277026596-12-04T15:30:07Z"),
      (.min, "-292277022657-01-27T08:29:52Z"),
    ] as [(Int64, String)])
  func `a second has its date in UTC`(seconds: Int64, text: String) {
    #expect(Timestamp(seconds: seconds).rfc3339 == text)
  }

  @Test(
    arguments: [
      (1, ".000000001"), (999_999_999, ".999999999"), (500_000_000, ".500000000"), (0, ""),
    ] as [(Int64, String)])
  func `nanoseconds are nine digits or none`(nanoseconds: Int64, text: String) {
    let time = Timestamp(seconds: -1, nanoseconds: nanoseconds)
    #expect(time.rfc3339 == "1969-12-31T23:59:59\(text)Z")
  }

  @Test func `four hundred years of days follow each other`() {
    var (year, month, day): (Int64, Int64, Int64) = (1969, 12, 31)
    let lengths: [Int64] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    for count in Int64(0)..<146_097 {
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      let length = lengths[Int(month) - 1] + (month == 2 && isLeap ? 1 : 0)
      (day, month) = day == length ? (1, month + 1) : (day + 1, month)
      if month == 13 { (month, year) = (1, year + 1) }
      let date = CivilDate(daysSince1970: count)
      guard (date.year, date.month, date.day) == (year, month, day) else {
        Issue.record("day \(count) is \(year)-\(month)-\(day), not \(date)")
        return
      }
    }
  }

  @Test func `the calendar repeats after 146097 days`() {
    for count in stride(from: Int64(-800_000), to: 800_000, by: 37) {
      let date = CivilDate(daysSince1970: count)
      let later = CivilDate(daysSince1970: count + 146_097)
      #expect((later.year, later.month, later.day) == (date.year + 400, date.month, date.day))
    }
  }

  @Test func `the parts are those of the whole`() {
    let time = Timestamp(seconds: 8_589_934_592)
    #expect(time.dateText == "2242-03-16")
    #expect(time.timeOfDayText == "12:56:32")
  }
}
