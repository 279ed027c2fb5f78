import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory

struct CacheKeyJoiningTests {
  @Test
  func `different parts make different keys`() {
    var keys: [CacheKey: [String]] = [:]
    let words = ["", "a", "b", "ab", "\0", "\u{ff}", "\u{301}", "1:", "%ff"]
    var lists = words.map { [$0] }
    for a in words { for b in words { lists.append([a, b]) } }
    for a in words { for b in words { for c in words { lists.append([a, b, c]) } } }
    for list in lists {
      let key = CacheKey(joining: list)
      #expect(keys[key] == nil, "\(list) and \(keys[key] ?? [])")
      keys[key] = list
    }
    #expect(keys.count == lists.count)
  }

  @Test
  func `the encoding is the parts with one byte between them`() {
    #expect(CacheKey(joining: ["a", "bc"]).bytes == [0x61, 0xff, 0x62, 0x63])
    #expect(CacheKey(joining: ["", ""]).bytes == [0xff])
    #expect(CacheKey(joining: ["é"]).bytes == Array("é".utf8))
  }

  @Test
  func `a variant is a further part`() {
    let url = "https://example.com/a.png"
    let key = CacheKey(url, variant: "thumb@2x")
    #expect(key == CacheKey(joining: [url, "thumb@2x"]))
    #expect(CacheKey(key, variant: "webp") == CacheKey(joining: [url, "thumb@2x", "webp"]))
    #expect(key != CacheKey(url))
    #expect(CacheKey(url, variant: "") != CacheKey(url))
  }

  @Test
  func `no text makes the key of a joined one`() {
    let joined = CacheKey(joining: ["a", "b"])
    #expect(joined.text == nil)
    for text in ["ab", "a\u{ff}b", "a\u{fffd}b", "a b"] { #expect(CacheKey(text) != joined) }
  }

  @Test
  func `joining nothing is a mistake`() async {
    await #expect(processExitsWith: .failure) {
      _ = CacheKey(joining: [String]())
    }
  }
}
