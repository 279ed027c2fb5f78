import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderSystem

struct `A point in time as text` {
  @Test(arguments: [
    0, 1, 86_399, 86_400, 951_782_400, 951_868_800, 1_800_000_000, 4_107_542_400, 8_589_934_592,
    253_402_300_799,
  ])
  func `is read as it was written`(seconds: Int64) {
    for nanoseconds in [0, 1, 120_000_000, 999_999_999] as [Int64] {
      for point in [seconds, -seconds] where point >= -62_167_219_200 {
        let time = Timestamp(seconds: point, nanoseconds: nanoseconds)
        #expect(Timestamp(rfc3339: time.rfc3339) == time, "\(time.rfc3339)")
      }
    }
  }

  @Test func `names every day of four hundred years, and no other`() throws {
    var day: Int64 = -200_000
    while day < 200_000 {
      let date = CivilDate(daysSince1970: day)
      if (0...9999).contains(date.year) {
        #expect(CivilDate(year: date.year, month: date.month, day: date.day)?.daysSince1970 == day)
      }
      day += 89
    }
    for (month, lastDay) in zip(1..., [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as [Int64]) {
      #expect(CivilDate(year: 2027, month: Int64(month), day: lastDay) != nil)
      #expect(CivilDate(year: 2027, month: Int64(month), day: lastDay + 1) == nil)
    }
    #expect(CivilDate(year: 2028, month: 2, day: 29) != nil)
    #expect(CivilDate(year: 2100, month: 2, day: 29) == nil)
  }

  @Test(arguments: [
    "", "Z", "2027", "2027-01-15", "2027-01-15T08:00:00", "2027-01-15T08:00:00+00:00",
    "2027-01-15 08:00:00Z", "2027-01-15T08:00Z", "2027-01-15T08:00:00.Z",
    "2027-01-15T08:00:00.1234567890Z", "2027-01-15T08:00:00.1x", "2027-01-15T08:60:00Z",
    "2027-01-15T08:00:60Z", "2027-13-15T08:00:00Z", "2027-00-15T08:00:00Z", "+027-01-15T08:00:00Z",
    "2027-01-15T08:00:00ZZ", "2027-01-15t08:00:00Z", "20270-01-15T08:00:00Z",
  ])
  func `is refused in any other form`(text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }
}
