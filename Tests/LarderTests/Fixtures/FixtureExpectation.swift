@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// The result that a cache must give for a key of a fixture.
struct FixtureExpectation: Sendable, CustomStringConvertible {
  let fixture: String
  let key: CacheKey
  let answer: Answer
  /// The result of a cache in fixture mode, if it differs.
  let answerAsFixture: Answer

  enum Answer: Sendable, Equatable {
    case value([UInt8])
    case miss(MissReason)
  }

  init(
    _ fixture: String, _ key: String, _ answer: Answer, asFixture: Answer? = nil
  ) {
    self.fixture = fixture
    self.key = CacheKey(key)
    self.answer = answer
    answerAsFixture = asFixture ?? answer
  }

  var description: String { "\(fixture): \(key)" }
}

extension FixtureExpectation.Answer: ExpressibleByStringLiteral {
  init(stringLiteral text: String) { self = .value(Array(text.utf8)) }
}

extension FixtureExpectation {
  /// The expectations for every key of the fixtures made by hand.
  static let all = foreign + truncated + attributes + never + clampedNever + leftovers

  private static let foreign = [
    FixtureExpectation("foreign", "abc", "hello"),
    FixtureExpectation("foreign", "directory", .miss(.foreign)),
    FixtureExpectation("foreign", "link", .miss(.foreign)),
    FixtureExpectation("foreign", "fifo", .miss(.foreign)),
    FixtureExpectation("foreign", "socket", .miss(.foreign)),
    FixtureExpectation("foreign", "upper", .miss(.absent)),
  ]

  private static let truncated = [
    FixtureExpectation("truncated", "short", .miss(.damaged), asFixture: "hel"),
    FixtureExpectation("truncated", "long", .miss(.damaged), asFixture: "hello\n"),
    FixtureExpectation("truncated", "zeroed", .miss(.damaged), asFixture: ""),
    FixtureExpectation("truncated", "bare and empty", .miss(.damaged), asFixture: ""),
    FixtureExpectation("truncated", "bare", "hel"),
    FixtureExpectation("truncated", "empty value", ""),
  ]

  private static let malformedAttributes = [
    "no text", "version only", "no proof", "hash with stray bits", "long hash", "negative lifetime",
    "word for a lifetime", "unit alone", "strange proof", "short digest", "long digest",
    "no end", "zeros", "two spaces",
  ]

  private static let attributes =
    (malformedAttributes + ["wrong hash", "altered data", "lost data"]).map {
      FixtureExpectation("attributes", $0, .miss(.damaged), asFixture: "hello")
    }
    + ["other version", "version 10"].map {
      FixtureExpectation("attributes", $0, .miss(.otherVersion))
    }
    + ["other key", "other digest", "longer key"].map {
      FixtureExpectation("attributes", $0, .miss(.otherKey))
    }
    + [
      "unknown key", "right digest", "digest and end", "wrong end", "endless lifetime", "days",
      "abc",
      "no attribute",
    ].map {
      FixtureExpectation("attributes", $0, "hello")
    }

  private static let never = [
    "never", "later than never", "bare never", "just before never",
  ].map { FixtureExpectation("never", $0, "hello") }

  private static let clampedNever = [
    "31 bits", "32 bits", "31 bits and 1 ns", "32 bits and 1 ns", "1 s before 31 bits",
    "bare 31 bits",
  ].map { FixtureExpectation("clamped-never", $0, "hello") }

  private static let leftovers = [FixtureExpectation("leftovers", "abc", "hello")]
}
