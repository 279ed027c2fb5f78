import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

struct `A line of a fixture's manifest` {
  private static let line = FixtureLine(
    name: EntryName(CacheKey("abc")), proof: .key(Array("abc".utf8)),
    expiry: Timestamp(seconds: 1_800_604_801), lastAccess: Timestamp(seconds: 1_800_000_001),
    lifetime: .seconds(604_800), contentHash: 0x26c7_827d_889f_6da3)

  private static let text =
    #"900150983cd24fb0d6963f7d28e17f72 "abc" expires=2027-01-22T08:00:01Z"#
    + " used=2027-01-15T08:00:01Z lifetime=604800 hash=26c7827d889f6da3"

  static let lines: [FixtureLine] = [
    line,
    changed { $0.proof = .key([]) }, changed { $0.proof = .key(Array("a \"b\" \\ é\n".utf8)) },
    changed { $0.proof = .key(Array(0...255)) },
    changed { $0.proof = .digest(BLAKE2bDigest(first: 0, last: .max), hint: []) },
    changed {
      $0.proof = .digest(
        BLAKE2bDigest(first: .max, last: 1), hint: Array("/ \"b\" é\n".utf8))
    },
    changed { $0.proof = .none }, changed { $0.expiry = .never }, changed { $0.lifetime = .never },
    changed { $0.lifetime = .fixed }, changed { $0.lifetime = .seconds(0) },
    changed { $0.lastAccess = Timestamp(seconds: 1, nanoseconds: 123_456_789) },
    changed { $0.extendedData = Array("ETag: \"1\" x=\"y\"".utf8) },
    changed { $0.extendedData = Array(0...255) },
    changed { $0.name = EntryName(CacheKey("abc"), fileExtension: json) },
  ]

  private static var json: FileExtension { FileExtension(Array("json".utf8)) ?? .none }

  private static func changed(_ change: (inout FixtureLine) -> Void) -> FixtureLine {
    var line = line
    change(&line)
    return line
  }

  @Test func `says name, key, expiry and last use`() {
    #expect(Self.line.description == Self.text)
    #expect(FixtureLine(Self.text) == Self.line)
  }

  @Test func `has a form for every time that a file can have`() {
    let times = [Int64.min, -62_167_219_201, 253_402_300_800, 300_000_000_000, .max]
    for time in times.map({ Timestamp(seconds: $0, nanoseconds: 1) }) {
      let line = FixtureLine(
        name: Self.line.name, proof: .none, expiry: time, lastAccess: time, lifetime: .fixed,
        contentHash: 0)
      #expect(FixtureLine(line.description) == line, "\(line)")
    }
  }

  @Test func `has no more extended data than an entry can hold`() {
    var line = Self.line
    line.extendedData = Array(repeating: 7, count: 1024)
    #expect(FixtureLine(line.description) == line)
    line.extendedData.append(7)
    #expect(FixtureLine(line.description) == nil)
  }

  @Test(arguments: lines)
  func `is read as it was written, and is one line of visible text`(line: FixtureLine) {
    #expect(FixtureLine(line.description) == line)
    #expect(!line.description.unicodeScalars.contains { $0.isUnsafeForDisplay })
  }

  @Test(arguments: [
    ("https://example.org/über?q=Привет", "https://example.org/über?q=Привет"),
    ("天気 🌤", "天気 🌤"),
    // Invisible, reordering, joining: as bytes.
    ("a\u{200B}b", #"a\xe2\x80\x8bb"#), ("\u{202E}gpj", #"\xe2\x80\xaegpj"#),
    ("e\u{301}", #"e\xcc\x81"#), ("\u{301}", #"\xcc\x81"#), ("\u{FFFD}", #"\xef\xbf\xbd"#),
    ("\u{A0}\u{85}", #"\xc2\xa0\xc2\x85"#), ("a\nb\"c\\", #"a\x0ab\x22c\x5c"#),
  ])
  func `keeps what a reviewer can read as it is`(key: String, spelling: String) {
    let line = Self.changed { $0.proof = .key(Array(key.utf8)) }
    #expect(line.description.contains("\"\(spelling)\" expires="))
    #expect(FixtureLine(line.description)?.key == CacheKey(key))
  }

  @Test func `spells a key that is not UTF-8 in ASCII alone`() {
    let line = Self.changed { $0.proof = .key([0xC3, 0xBC, 0xFF]) }
    #expect(line.description.contains(#""\xc3\xbc\xff" "#))
  }

  @Test func `is refused where a letter is composed in another way, or a visible one escaped`() {
    let line = Self.changed { $0.proof = .key(Array("ü".utf8)) }.description
    #expect(FixtureLine(line) != nil)
    #expect(FixtureLine(line.replacing("ü", with: "u\u{308}")) == nil)
    #expect(FixtureLine(line.replacing("ü", with: #"\xc3\xbc"#)) == nil)
  }

  @Test(arguments: lines)
  func `is nothing without its end, and nothing with more`(line: FixtureLine) {
    let text = line.description
    // Cut before its data, a line is still valid.
    let whole = text.firstRange(of: " data=").map { String(text[..<$0.lowerBound]) }
    for count in 0..<text.count where String(text.prefix(count)) != whole {
      #expect(FixtureLine(text.prefix(count)) == nil, "\(text.prefix(count))")
    }
    for more in ["x", " x", " data=", " data=\"\" x", "\"", " hash=0"] {
      #expect(FixtureLine(text + more) == nil, "\(text + more)")
    }
  }

  @Test(arguments: [
    "", " ", "<<<<<<< HEAD", "=======", "900150983cd24fb0d6963f7d28e17f72",
    text.replacing("9001", with: "900"), text.replacing("9001", with: "900A"),
    text.replacing("\"abc\"", with: "abc"), text.replacing("\"abc\"", with: "\"a\\xZZ\""),
    text.replacing("\"abc\"", with: "#12"),
    text.replacing("\"abc\"", with: "#AAAAAAAAAAAAAAAA\"\""),
    text.replacing("\"abc\"", with: "#AAAAAAAAAAAAAAAAA"),
    text.replacing("2027-01-22", with: "2027-02-29"),
    text.replacing("08:00:01Z", with: "24:00:01Z"), text.replacing("604800", with: "-1"),
    text.replacing("604800", with: "4294967296"), text.replacing("=26c7", with: "=26C7"),
    text.replacing(" used", with: "  used"), "\t" + text,
  ])
  func `is refused when a field is not as it is written`(text: String) {
    #expect(FixtureLine(text) == nil)
  }
}
