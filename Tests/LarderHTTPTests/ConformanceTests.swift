import LarderTestSupport
import Testing

@testable import LarderHTTP

private func fields(_ control: String, _ more: (String, String)...) -> HTTPCache.Fields {
  HTTPCache.Fields([("Cache-Control", control)] + more)
}

private func fresh(_ more: (String, String)...) -> HTTPCache.Fields {
  HTTPCache.Fields([("Cache-Control", "max-age=60")] + more)
}

/// Stories by which a cache is judged from outside, in the order of the standards.
@Suite(.serialized)
struct `Conformance` {}

extension `Conformance` {
  static let responses: [Case] = [
    Case("a tab beside a comma", get(.origin, fields("public,\tmax-age=60\t")), get(.cached)),
    Case("a semicolon in a number", get(.origin, fields("max-age=60;x")), get(.origin)),
    Case("a number with a plus", get(.origin, fields("max-age=+60")), get(.origin)),
    Case("an empty number in quotes", get(.origin, fields("max-age=\"\"")), get(.origin)),
    Case("a quoted comma", get(.origin, fields("max-age=\"60,\"")), get(.origin)),
    Case("an escaped digit", get(.origin, fields("max-age=\"6\\0\"")), get(.cached)),
    Case("no-store with a value", get(.origin, fields("max-age=60, no-store=x")), get(.origin)),
    Case(
      "no-cache with what is no name", get(.origin, fields("max-age=60, no-cache=\"a b\"")),
      get(.origin)),
    Case(
      "private with a token", get(.origin, fields("max-age=60, private=a", ("A", "1")), ["a": "1"]),
      get(.cached, ["a": ""])),
    Case(
      "no-cache with a token",
      get(.origin, fields("max-age=60, no-cache=a", ("A", "1"), ("B", "2"))),
      get(.cached, ["a": "", "b": "2"])),
    Case(
      "private with fields in a private cache",
      get(.origin, fields("max-age=60, private=\"a\"", ("A", "1"))),
      get(.cached, ["a": "1"]), isShared: false),
    Case(
      "no-cache with fields in a private cache",
      get(.origin, fields("max-age=60, no-cache=\"a\"", ("A", "1"))), get(.cached, ["a": ""]),
      isShared: false),
    Case(
      "private beats public", get(.origin, fields("public, private, max-age=60")), get(.origin)),
    Case(
      "s-maxage=0 in a private cache", get(.origin, fields("max-age=60, s-maxage=0")), get(.cached),
      isShared: false),
    Case(
      "s-maxage before Expires", get(.origin, fields("s-maxage=60", ("Expires", date(-9)))),
      get(.cached, after: 59), get(.origin, after: 1)),
    Case(
      "s-maxage with other values", get(.origin, fields("s-maxage=60, s-maxage=90")), get(.origin)),
    Case(
      "Expires that are equal", get(.origin, ["Expires": date(60), "Expires": date(60)]),
      get(.cached)),
    Case(
      "Expires in another form that is equal",
      get(.origin, ["Expires": date(60), "Expires": "Tue Nov 14 22:14:20 2023"]), get(.cached)),
    Case(
      "Expires with a Date in another form",
      get(.origin, ["Expires": date(60), "Date": "Tue Nov 14 22:13:20 2023"]), get(.cached)),
    Case(
      "Expires without a Date that can be read", get(.origin, ["Expires": date(60), "Date": "0"]),
      get(.cached)),
    Case(
      "must-revalidate while fresh", get(.origin, fields("max-age=60, must-revalidate")),
      get(.cached, after: 59), get(.origin, after: 1)),
    Case(
      "immutable ends with freshness",
      get(.origin, fields("max-age=60, immutable", ("ETag", "\"a\""))), get(.cached, after: 59),
      get(.validated, status: 304, after: 1)),
    Case(
      "must-revalidate alone is not fresh", get(.origin, fields("must-revalidate")), get(.origin)),
    Case(
      "a guess by Last-Modified is stale after it", get(.origin, ["Last-Modified": date(-100)]),
      get(.cached, after: 9),
      get(.validated, status: 304, after: 1, asking: ["if-modified-since": date(-100)])),
    Case(
      "Pragma of a response and a guess",
      get(.origin, ["Last-Modified": date(-1000), "Pragma": "no-cache"]), get(.cached)),
    Case(
      "an Age that other caches added", get(.origin, fresh(("Age", "10"), ("Date", date(-5)))),
      get(.cached, after: 20, ["age": "30"]), get(.origin, after: 30)),
    Case(
      "a Date that is older than the Age", get(.origin, fresh(("Age", "5"), ("Date", date(-10)))),
      get(.cached, ["age": "10"])),
    Case(
      "an Age with parameters", get(.origin, fresh(("Age", "7200;a=b"))), get(.cached, ["age": "0"])
    ),
    Case(
      "an Age on two lines, the first wrong", get(.origin, fresh(("Age", "a"), ("Age", "7200"))),
      get(.cached)),
    Case(
      "an Age on two lines, the second wrong", get(.origin, fresh(("Age", "7200"), ("Age", "a"))),
      get(.origin)),
    Case("an empty Age", get(.origin, fresh(("Age", ""))), get(.cached, ["age": "0"])),
    Case(
      "fields as they came", get(.origin, fresh(("x-a", "é"), ("X-B", ""), ("x-a", "2"))),
      get(.cached, ["X-A": "é, 2"])),
    Case(
      "a response to a client that wants no store is not stored",
      get(.origin, fresh(), with: ["Cache-Control": "no-store"]), get(.origin, fresh()),
      get(.cached)),
    Case(
      "a new response with no-store removes the old", get(.origin, fresh()),
      get(.origin, fields("no-store"), with: ["Cache-Control": "no-cache"]), get(.origin)),
    Case(
      "a new response in place of the old", get(.origin, fresh(("A", "1"))),
      get(.origin, fresh(("A", "2")), with: ["Cache-Control": "no-cache"]), get(.cached, ["a": "2"])
    ),
    Case(
      "a failure in between leaves the old", get(.origin, fresh(("A", "1"))),
      get(.origin, status: 503, with: ["Cache-Control": "no-cache"], gives: 503),
      get(.cached, ["a": "1"])),
    Case(
      "an interim status is no response", get(.origin, fresh(), status: 103, gives: 502),
      get(.origin)),
  ]

  static let requests: [Case] = [
    Case(
      "max-age=0 validates", get(.origin, fresh(("ETag", "\"a\""))),
      get(
        .validated, status: 304, with: ["Cache-Control": "max-age=0"], gives: 200,
        asking: ["if-none-match": "\"a\"", "cache-control": "max-age=0"])),
    Case(
      "no-cache validates by date", get(.origin, fresh(("Last-Modified", date(-9)))),
      get(
        .validated, status: 304, with: ["Cache-Control": "no-cache"], gives: 200,
        asking: ["if-modified-since": date(-9)])),
    Case(
      "max-age counts the age of other caches", get(.origin, fresh(("Age", "20"))),
      get(.cached, with: ["Cache-Control": "max-age=20"]),
      get(.origin, with: ["Cache-Control": "max-age=19"])),
    Case(
      "min-fresh of what is left", get(.origin, fresh()),
      get(.cached, after: 30, with: ["Cache-Control": "min-fresh=30"]),
      get(.origin, fresh(), with: ["Cache-Control": "min-fresh=31"]), get(.cached)),
    Case(
      "max-stale with a wrong number accepts nothing", get(.origin, fresh()),
      get(.origin, after: 61, with: ["Cache-Control": "max-stale=x"])),
    Case(
      "max-stale in quotes", get(.origin, fresh()),
      get(.cached, after: 61, with: ["Cache-Control": "max-stale=\"9\""])),
    Case(
      "max-stale does not revive what is younger than max-age allows", get(.origin, fresh()),
      get(.origin, after: 70, with: ["Cache-Control": "max-stale, max-age=65"])),
    Case(
      "max-age beside max-stale", get(.origin, fresh()),
      get(.cached, after: 70, with: ["Cache-Control": "max-stale, max-age=75"])),
    Case(
      "only-if-cached with no-cache", get(.origin, fresh()),
      get(.cached, with: ["Cache-Control": "only-if-cached, no-cache"], gives: 504)),
    Case(
      "only-if-cached with another variant", get(.origin, fresh(("Vary", "A")), with: ["A": "1"]),
      get(.cached, with: ["A": "2", "Cache-Control": "only-if-cached"], gives: 504),
      get(.cached, with: ["A": "1", "Cache-Control": "only-if-cached"], gives: 200)),
    Case(
      "two lines of Cache-Control", get(.origin, fresh()),
      get(.origin, with: ["Cache-Control": "max-age=60", "Cache-Control": "no-cache"])),
    Case(
      "unknown directives", get(.origin, fresh()),
      get(.cached, with: ["Cache-Control": "foo, bar=1, baz=\"no-cache\""])),
    Case(
      "no-cache in quotes is another directive", get(.origin, fresh()),
      get(.cached, with: ["Cache-Control": "\"no-cache\""])),
    Case(
      "a cookie of the client", get(.origin, fresh(), with: ["Cookie": "a=b"]),
      get(.cached, with: ["Cookie": "c=d"])),
    Case(
      "a fragment of no meaning: other fields pass",
      get(.origin, fresh(), with: ["X-A": "1"], asking: ["x-a": "1"]),
      get(.cached, with: ["X-A": "2"])),
    Case(
      "stale-while-revalidate is not for a request that says how old",
      get(.origin, fields("max-age=1, stale-while-revalidate=60", ("ETag", "\"a\""))),
      get(.validated, status: 304, after: 2, with: ["Cache-Control": "max-age=30"])),
    Case(
      "stale-while-revalidate ends",
      get(.origin, fields("max-age=1, stale-while-revalidate=5", ("ETag", "\"a\""))),
      get(.validated, status: 304, after: 7)),
    Case(
      "must-revalidate beats stale-while-revalidate",
      get(
        .origin, fields("max-age=1, stale-while-revalidate=9, must-revalidate", ("ETag", "\"a\""))),
      get(.validated, status: 304, after: 2)),
  ]

  static let failures: [Case] =
    [500, 502, 503, 504].map {
      Case(
        "stale-if-error and \($0)", get(.origin, fields("max-age=1, stale-if-error=60")),
        get(.origin, status: $0, after: 2, gives: 200), down(gives: 200))
    } + [
      Case(
        "stale-if-error in quotes", get(.origin, fields("max-age=1, stale-if-error=\"60\"")),
        down(gives: 200, after: 2)),
      Case(
        "stale-if-error without a number",
        get(.origin, fields("max-age=1, stale-if-error", ("ETag", "\"a\""))),
        get(.validated, status: 500, after: 2, gives: 500)),
      Case(
        "stale-if-error=0 beats the setting",
        get(.origin, fields("max-age=1, stale-if-error=0", ("ETag", "\"a\""))),
        get(.validated, status: 500, after: 2, gives: 500), staleIfError: 60),
      Case(
        "a failure that is stored is no answer to one",
        get(.origin, fields("max-age=1"), status: 503),
        get(.origin, status: 502, after: 2, gives: 502), staleIfError: 60),
      Case(
        "a stored 404 answers a failure", get(.origin, fields("max-age=1"), status: 404),
        get(.origin, status: 502, after: 2, gives: 404), staleIfError: 60),
      Case(
        "another variant is no answer", get(.origin, fresh(("Vary", "A")), with: ["A": "1"]),
        get(.origin, status: 502, with: ["A": "2"], gives: 502), staleIfError: 60),
      Case(
        "a HEAD gets the stale head", get(.origin, fresh()),
        get(.origin, status: 502, after: 61, method: "HEAD", gives: 200), staleIfError: 60),
      Case(
        "a POST gets the failure", get(.origin, fresh()),
        get(.origin, status: 502, method: "POST", gives: 502), staleIfError: 60),
      Case(
        "a stale response says its age", get(.origin, fresh()),
        get(.origin, status: 502, after: 70, gives: 200, ["age": "70"]), staleIfError: 60),
      Case(
        "the answer to a failure meets conditions", get(.origin, fresh(("ETag", "\"a\""))),
        get(.validated, status: 502, after: 70, with: ["If-None-Match": "\"a\""], gives: 304),
        staleIfError: 60),
      Case(
        "a failure that may be stored is the reloader's alone", get(.origin, fresh()),
        get(
          .origin, ["Cache-Control": "max-age=60"], status: 503,
          with: ["Cache-Control": "no-cache"], gives: 503), get(.cached, gives: 200),
        staleIfError: 60),
      Case(
        "what others get stays also if it may not be stale",
        get(.origin, ["Cache-Control": "s-maxage=60"]),
        get(
          .origin, ["Cache-Control": "max-age=60"], status: 503,
          with: ["Cache-Control": "no-cache"], gives: 503), get(.cached, gives: 200),
        staleIfError: 60),
      Case(
        "what others get stays while it may be stale",
        get(.origin, ["Cache-Control": "max-age=60, stale-while-revalidate=600"]),
        get(
          .origin, ["Cache-Control": "max-age=60"], status: 503, after: 90,
          with: ["Cache-Control": "no-cache"], gives: 503),
        get(.cached, with: ["Cache-Control": "only-if-cached"], gives: 200)),
      Case(
        "a 304 tells no digest of a body", get(.origin, fresh(("ETag", "\"a\""))),
        get(
          .validated, ["Content-Digest": "sha-256=:AA==:"], status: 304,
          with: ["Cache-Control": "no-cache"], gives: 200, ["Content-Digest": ""]),
        staleIfError: 60),
      Case(
        "a HEAD with credentials says nothing to others", get(.origin, fresh(("ETag", "\"a\""))),
        get(
          .origin, status: 404, with: ["Authorization": "a", "Cache-Control": "no-cache"],
          method: "HEAD", gives: 404), get(.cached, gives: 200), staleIfError: 60),
      Case(
        "a digest of all bytes is not that of a part",
        get(.origin, fresh(("Content-Digest", "sha-256=:AA==:"))),
        get(.cached, with: ["Range": "bytes=0-1"], gives: 206, ["Content-Digest": ""]),
        get(.cached, gives: 200, ["Content-Digest": "sha-256=:AA==:"]), staleIfError: 60),
      Case(
        "max-age=0 wants no stale response", get(.origin, fresh()),
        get(.origin, status: 502, with: ["Cache-Control": "max-age=0"], gives: 502),
        staleIfError: 60),
    ]

  static let targeted: [Case] =
    [
      "max-age =60", "max-age= 60", "max-age=60 ;a", "max-age=\"60", "max-age=60,", "=60", "1a=2",
      "max-age=60; =1",
    ].map {
      Case(
        "\($0) is no dictionary",
        get(.origin, ["A-Cache-Control": $0, "Cache-Control": "no-store"]), get(.origin),
        targeted: ["A-Cache-Control"])
    }
    + [
      "max-age=60\t,\tb", " max-age=60 ", "max-age=60;a=\"b\\\"c\";d=?0", "*a, max-age=60",
      "a.b-c_d*=1, max-age=60", "max-age=60, no-store=1", "s-maxage=60",
      "a=(\"x\";b 1.5);c, max-age=60", "a=(), max-age=60", "a=%, b",
      "max-age=60;a=-999999999999999",
    ].enumerated().map { index, value in
      Case(
        "\(value) is a dictionary, or not",
        get(.origin, ["A-Cache-Control": value, "Cache-Control": "no-store"]),
        get(index == 9 ? .origin : .cached), targeted: ["A-Cache-Control"])
    } + [
      Case(
        "Age counts", get(.origin, ["A-Cache-Control": "max-age=60", "Age": "90"]), get(.origin),
        targeted: ["A-Cache-Control"]),
      Case(
        "stale-if-error",
        get(
          .origin,
          ["A-Cache-Control": "max-age=1, stale-if-error=60", "Cache-Control": "must-revalidate"]),
        down(gives: 200, after: 2), targeted: ["A-Cache-Control"]),
      Case(
        "must-revalidate",
        get(
          .origin,
          ["A-Cache-Control": "max-age=1, must-revalidate", "Cache-Control": "stale-if-error=60"]),
        down(gives: 0, after: 2), targeted: ["A-Cache-Control"], staleIfError: 60),
      Case(
        "private with fields",
        get(.origin, ["A-Cache-Control": "max-age=60, private=\"a\"", "A": "1"]),
        get(.cached, ["a": ""]), targeted: ["A-Cache-Control"]),
      Case(
        "public for Authorization",
        get(.origin, ["A-Cache-Control": "max-age=60, public"], with: ["Authorization": "x"]),
        get(.cached), targeted: ["A-Cache-Control"]),
      Case(
        "the others' public does not count",
        get(
          .origin, ["A-Cache-Control": "max-age=60", "Cache-Control": "public"],
          with: ["Authorization": "x"]), get(.origin), targeted: ["A-Cache-Control"]),
      Case(
        "a 304 replaces it", get(.origin, ["A-Cache-Control": "max-age=60", "ETag": "\"a\""]),
        get(.validated, ["A-Cache-Control": "max-age=5"], status: 304, after: 61),
        get(.cached, after: 4), get(.validated, status: 304, after: 2),
        targeted: ["A-Cache-Control"]),
      Case(
        "a guess beside it", get(.origin, ["A-Cache-Control": "a", "Last-Modified": date(-1000)]),
        get(.cached), targeted: ["A-Cache-Control"]),
    ]

  @Test(arguments: responses)
  func `9111, 3, 4.2 and 5: responses`(_ story: Case) async throws { try await story.run() }

  @Test(arguments: requests)
  func `9111, 5.2.1: requests`(_ story: Case) async throws { try await story.run() }

  @Test(arguments: failures)
  func `5861 and 9111, 4.2.4: failures`(_ story: Case) async throws { try await story.run() }

  @Test(arguments: targeted)
  func `9213: targeted fields`(_ story: Case) async throws { try await story.run() }

  @Test func `what rules of a route say is fresh is kept for as long`() async throws {
    var own = HTTPCache.Policy()
    own.targetedFields = ["A-Cache-Control"]
    let rules = own
    for byteCount in [5, 50_000] {
      var reply = Reply(200, ["A-Cache-Control": "max-age=604800"])
      reply.body = Array(repeating: 7, count: byteCount)
      let scene = try Scene([reply]) { $0.route = { _ in .cached(rules) } }
      _ = try await scene.get().body.text
      scene.clock.advance(by: .seconds(259_200))
      #expect(try await scene.get().body.text.utf8.count == byteCount)
      #expect(scene.requests.count == 1)
    }
  }

  @Test func `9111, 2: the key is the URL as it came`() async throws {
    let scene = try Scene(Array(repeating: Reply(200, fresh()), count: 9))
    let targets = ["/a", "/a?", "/a/", "//a", "/%61", "/a;x", "/a?b&c", "/a?c&b"]
    for _ in 1...2 { for target in targets { _ = try await scene.get(target: target).body.text } }
    #expect(scene.requests.map(\.target) == targets)
  }
}
