import Testing

@testable import LarderTool

struct SpellingTests {
  @Test(arguments: [
    ("", "", 0), ("a", "", 1), ("abc", "abc", 0), ("abc", "abd", 1), ("abc", "acb", 1),
    ("ab", "ba", 1), ("kitten", "sitting", 3), ("verfiy", "verify", 1), ("ca", "abc", 3),
  ])
  func `a slip is a letter too many, too few, wrong or swapped`(a: String, b: String, slips: Int) {
    #expect(Spelling.distance(a, b, atMost: 9) == slips)
    #expect(Spelling.distance(b, a, atMost: 9) == slips)
  }

  @Test func `a length that cannot fit is not compared`() {
    let long = String(repeating: "x", count: 131_071)
    #expect(Spelling.distance(long, "verify", atMost: 2) == 3)
  }

  @Test(
    arguments: [
      ("gte", "get"), ("lsit", "list"), ("verfy", "verify"), ("ver", "verify"), ("exp", "expire"),
      ("x", nil), ("", nil), ("zzzz", nil), ("verification", nil), ("pt", "put"),
    ] as [(String, String?)])
  func `the nearest word is guessed only when it is near`(word: String, guess: String?) {
    let verbs = ["put", "get", "rm", "path", "list", "verify", "expire"]
    #expect(Spelling.nearest(to: word, among: verbs) == guess)
  }

  @Test func `an ambiguous beginning gives no guess`() {
    #expect(Spelling.nearest(to: "key", among: ["key-file", "key-data"]) == nil)
    #expect(Spelling.nearest(to: "key", among: []) == nil)
  }
}
