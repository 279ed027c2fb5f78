import LarderTestSupport
import Testing

@testable import LarderHTTP

private func fields(_ control: String, _ more: (String, String)...) -> HTTPCache.Fields {
  HTTPCache.Fields([("Cache-Control", control)] + more)
}

private func fresh(_ more: (String, String)...) -> HTTPCache.Fields {
  HTTPCache.Fields([("Cache-Control", "max-age=60")] + more)
}

/// Cases that a reader of the standards who looks for faults would try, by section.
@Suite(.serialized)
struct `The letter of the standards` {}

extension `The letter of the standards` {
  static let storing: [Case] = [
    Case(
      "3: a status that is unknown, with must-understand",
      get(.origin, fields("max-age=60, must-understand"), status: 299), get(.origin)),
    Case(
      "3: no-store beside must-understand and a status that is known",
      get(.origin, fields("max-age=60, must-understand, no-store"), status: 404), get(.cached)),
    Case(
      "3: public alone makes no response fresh", get(.origin, fields("public")), get(.origin)),
    Case(
      "3: a status without a guess, but with a tag and no-cache",
      get(.origin, fields("no-cache", ("ETag", "\"a\"")), status: 302), get(.origin)),
    Case(
      "3: Expires alone with any status", get(.origin, ["Expires": date(60)], status: 599),
      get(.cached, gives: 599)),
    Case(
      "3: private with fields, which a shared cache does not keep",
      get(.origin, fields("max-age=60, private=\"set-cookie\"", ("Set-Cookie", "a=b"))),
      get(.cached, ["set-cookie": ""])),
    Case(
      "3.2: a 304 replaces what it has but for what describes the stored bytes",
      get(
        .origin,
        fresh(
          ("ETag", "\"a\""), ("Content-Type", "a/b"), ("Link", "1"), ("Content-Range", "x"),
          ("Expires", date(10)))),
      get(
        .validated,
        [
          "Content-Type": "c/d", "Content-Range": "y", "Content-Encoding": "br",
          "Content-Length": "999", "Transfer-Encoding": "chunked", "Expires": date(500),
        ], status: 304, after: 61, gives: 200,
        [
          "content-type": "c/d", "link": "1", "content-range": "x", "content-encoding": "",
          "content-length": "6", "transfer-encoding": "", "expires": date(500),
        ]),
      get(.cached, ["content-type": "c/d", "content-encoding": ""])),
    Case(
      "3.2: fields that Connection names are not taken from a 304",
      get(.origin, fresh(("ETag", "\"a\""), ("A", "1"))),
      get(.validated, ["A": "2", "Connection": "a"], status: 304, after: 61, ["a": "1"])),
    Case(
      "3.5: must-understand permits no response to Authorization",
      get(.origin, fields("max-age=60, must-understand"), with: ["Authorization": "x"]),
      get(.origin)),
    Case(
      "3.5: a stored response answers a request with Authorization", get(.origin, fresh()),
      get(.cached, with: ["Authorization": "x"])),
    Case(
      "3.5: a response to Authorization does not remove what is stored for all",
      get(.origin, fresh()),
      get(.origin, with: ["Authorization": "x", "Cache-Control": "no-cache"]), get(.cached)),
  ]

  static let validating: [Case] = [
    Case(
      "4.3.1: a response without success has no condition",
      get(.origin, fields("max-age=1", ("ETag", "\"a\"")), status: 404), get(.origin, after: 2)),
    Case(
      "4.3.1: both validators are sent",
      get(.origin, fields("max-age=1", ("ETag", "W/\"a\""), ("Last-Modified", date(-9)))),
      get(.validated, status: 304, after: 2, gives: 200)),
    Case(
      "4.3.1: what is no date is not sent",
      get(.origin, fields("max-age=1", ("Last-Modified", "now"))), get(.origin, after: 2)),
    Case(
      "4.3.2: without Last-Modified, Date is compared", get(.origin, fresh()),
      get(.cached, with: ["If-Modified-Since": date(0)], gives: 304),
      get(.cached, with: ["If-Modified-Since": date(-1)], gives: 200)),
    Case(
      "4.3.2: old forms of dates", get(.origin, fresh(("Last-Modified", date(-600)))),
      get(.cached, with: ["If-Modified-Since": "Tuesday, 14-Nov-23 22:13:20 GMT"], gives: 304),
      get(.cached, with: ["If-Modified-Since": "Tue Nov 14 22:13:20 2023"], gives: 304)),
    Case(
      "4.3.2: If-None-Match decides alone",
      get(.origin, fresh(("ETag", "\"a\""), ("Last-Modified", date(-600)))),
      get(.cached, with: ["If-None-Match": "\"b\"", "If-Modified-Since": date(0)], gives: 200),
      get(.cached, with: ["If-None-Match": "\"a\"", "If-Modified-Since": date(-900)], gives: 304)),
    Case(
      "4.3.2: a stored failure is no 304", get(.origin, fresh(("ETag", "\"a\"")), status: 404),
      get(.cached, with: ["If-None-Match": "\"a\""], gives: 404)),
    Case(
      "9110, 15.4.5: what a 304 keeps",
      get(
        .origin,
        fresh(
          ("ETag", "\"a\""), ("Content-Type", "a/b"), ("Content-Location", "/b"),
          ("Expires", date(60)), ("Content-Language", "de"))),
      get(
        .cached, with: ["If-None-Match": "\"a\""], gives: 304,
        [
          "etag": "\"a\"", "content-location": "/b", "expires": date(60), "date": date(0),
          "cache-control": "max-age=60", "content-type": "", "content-length": "",
          "content-language": "",
        ])),
    Case(
      "4.3.2: HEAD has conditions too", get(.origin, fresh(("ETag", "\"a\""))),
      get(.cached, with: ["If-None-Match": "\"a\""], method: "HEAD", gives: 304)),
    Case(
      "4.3.3: a failure to validate goes to the client and removes nothing",
      get(.origin, fields("max-age=1", ("ETag", "\"a\""))),
      get(.validated, status: 500, after: 2, gives: 500),
      get(.validated, status: 304, gives: 200)),
    Case(
      "4.3.4: a 304 with another weak tag updates nothing",
      get(.origin, fresh(("ETag", "W/\"a\""), ("A", "1"))),
      get(
        .validated, ["ETag": "W/\"b\"", "A": "2"], status: 304, after: 61, gives: 200, ["a": "1"]),
      get(.origin)),
    Case(
      "4.3.4: a 304 with the same tag, but weak", get(.origin, fresh(("ETag", "\"a\""))),
      get(.validated, ["ETag": "W/\"a\""], status: 304, after: 61, gives: 200), get(.cached)),
    Case(
      "4.3.4: a 304 with a strong tag where a weak one is stored",
      get(.origin, fresh(("ETag", "W/\"a\""), ("A", "1"))),
      get(.validated, ["ETag": "\"a\"", "A": "2"], status: 304, after: 61, gives: 200, ["a": "1"]),
      get(.origin)),
    Case(
      "4.3.4: a 304 with an older date of change",
      get(.origin, fresh(("Last-Modified", date(-9)), ("A", "1"))),
      get(
        .validated, ["Last-Modified": date(-99), "A": "2"], status: 304, after: 61, gives: 200,
        ["a": "1", "last-modified": date(-9)]),
      get(.origin)),
    Case(
      "4.3.4: a 304 with a newer date of change",
      get(.origin, fresh(("Last-Modified", date(-9)), ("A", "1"))),
      get(
        .validated, ["Last-Modified": date(-5), "A": "2"], status: 304, after: 61, gives: 200,
        ["a": "1"]),
      get(.origin)),
    Case(
      "4.3.4: a 304 with another date of change and no tag",
      get(.origin, fresh(("ETag", "\"a\""), ("Last-Modified", date(-9)), ("A", "1"))),
      get(
        .validated, ["Last-Modified": date(-5), "A": "2"], status: 304, after: 61, gives: 200,
        ["a": "1"]),
      get(.origin)),
    Case(
      "4.3.4: a 304 with another date of change and the same tag",
      get(.origin, fresh(("ETag", "\"a\""), ("Last-Modified", date(-9)))),
      get(
        .validated, ["ETag": "\"a\"", "Last-Modified": date(-5)], status: 304, after: 61,
        ["last-modified": date(-5)]),
      get(.cached)),
    Case(
      "4.3.4: a 304 with the same date in another form, and one that is none",
      get(.origin, fresh(("Last-Modified", "Tue, 14 Nov 2023 21:13:20 GMT"))),
      get(
        .validated, ["Last-Modified": "Tue Nov 14 21:13:20 2023"], status: 304, after: 61,
        gives: 200),
      get(.cached),
      get(.validated, ["Last-Modified": "x"], status: 304, after: 61, gives: 200), get(.cached)),
    Case(
      "4.3.5: HEAD without validators freshens if the length is the same", get(.origin, fresh()),
      get(.origin, fresh(("Content-Length", "6")), after: 61, method: "HEAD"), get(.cached)),
    Case(
      "4.3.5: HEAD that fails says nothing", get(.origin, fresh()),
      get(.origin, status: 500, with: ["Cache-Control": "no-cache"], method: "HEAD", gives: 500),
      get(.cached)),
  ]

  static let outdating: [Case] =
    [200, 201, 204, 301, 303].map {
      Case(
        "4.4: \($0)", get(.origin, fresh()), get(.origin, status: $0, method: "PUT"), get(.origin))
    }
    + [400, 403, 404, 412, 500, 599].map {
      Case(
        "4.4: \($0)", get(.origin, fresh()),
        get(.origin, ["Location": "/a"], status: $0, method: "PUT", gives: $0), get(.cached))
    }
    + ["PROPFIND", "REPORT", "SEARCH", "QUERY", "HEAD"].map {
      Case(
        "4.4: \($0) is safe", get(.origin, fresh()),
        get($0 == "HEAD" ? .cached : .origin, method: $0), get(.cached))
    }
    + ["get", "Post", "X"].map {
      Case("4.4: \($0) is unknown", get(.origin, fresh()), get(.origin, method: $0), get(.origin))
    }

  static let demanding: [Case] = [
    Case(
      "5.2.1: names without case and numbers in quotes", get(.origin, fresh()),
      get(.cached, after: 5, with: ["Cache-Control": "MAX-AGE=\"10\""]),
      get(.origin, with: ["Cache-Control": "No-Cache"])),
    Case(
      "5.2.1: a number that is none is 0", get(.origin, fresh()),
      get(.origin, with: ["Cache-Control": "max-age=x"])),
    Case(
      "5.2.1.2: max-stale does not reach what no-cache rules",
      get(.origin, fields("no-cache, max-age=60", ("ETag", "\"a\""))),
      get(.validated, status: 304, with: ["Cache-Control": "max-stale=999"])),
    Case(
      "5.2.1.2: max-stale and proxy-revalidate",
      get(.origin, fields("max-age=1, proxy-revalidate")),
      get(.origin, after: 2, with: ["Cache-Control": "max-stale"])),
    Case(
      "5.2.1.2: max-stale and s-maxage", get(.origin, fields("s-maxage=1")),
      get(.origin, after: 2, with: ["Cache-Control": "max-stale"])),
    Case(
      "5.2.1.3: min-fresh and a stale response that max-stale would take", get(.origin, fresh()),
      get(.origin, after: 61, with: ["Cache-Control": "min-fresh=1, max-stale=9"])),
    Case(
      "5.2.1.5: no-store of the request leaves what is stored", get(.origin, fresh()),
      get(.cached, with: ["Cache-Control": "no-store"]), get(.cached)),
    Case(
      "5.2.1.7: only-if-cached with HEAD",
      get(.cached, with: ["Cache-Control": "only-if-cached"], method: "HEAD", gives: 504)),
    Case(
      "5.2.1.7: only-if-cached takes what max-stale allows", get(.origin, fresh()),
      get(.cached, after: 61, with: ["Cache-Control": "only-if-cached, max-stale"], gives: 200)),
    Case(
      "5.4: Pragma of a response means nothing", get(.origin, fresh(("Pragma", "no-cache"))),
      get(.cached)),
    Case(
      "5.4: other words of Pragma", get(.origin, fresh()),
      get(.cached, with: ["Pragma": "foo"]), get(.origin, with: ["Pragma": "foo, No-Cache"])),
    Case(
      "5.1: the age of what was served counts the origin's", get(.origin, fresh(("Age", "20"))),
      get(.cached, after: 5, ["age": "25"]), get(.origin, after: 35)),
    Case(
      "5861, 4: up to its end", get(.origin, fields("max-age=60, stale-if-error=10")),
      get(.origin, status: 504, after: 70, gives: 200),
      get(.origin, status: 504, after: 1, gives: 504)),
    Case(
      "5861, 4: not with 501 or 404", get(.origin, fields("max-age=1, stale-if-error=60")),
      get(.origin, status: 501, after: 2, gives: 501)),
  ]

  static let targeted: [Case] = [
    Case(
      "9213, 2.2: the first valid one of the list",
      get(
        .origin,
        ["A-Cache-Control": "&", "B-Cache-Control": "max-age=60", "Cache-Control": "no-store"]),
      get(.cached), targeted: ["A-Cache-Control", "B-Cache-Control"]),
    Case(
      "9213, 2.2: not a later one",
      get(.origin, ["A-Cache-Control": "no-store", "B-Cache-Control": "max-age=60"]),
      get(.origin), targeted: ["a-cache-control", "B-Cache-Control"]),
    Case(
      "9213, 2.2: Expires does not count beside it",
      get(.origin, ["A-Cache-Control": "foo", "Expires": date(60), "ETag": "\"a\""]),
      get(.validated), targeted: ["A-Cache-Control"]),
    Case(
      "9213, 2.1: a negative number is stale",
      get(.origin, ["A-Cache-Control": "max-age=-1", "Cache-Control": "max-age=60"]),
      get(.origin), targeted: ["A-Cache-Control"]),
    Case(
      "9213, 2: the field goes on",
      get(.origin, ["A-Cache-Control": "max-age=60"]),
      get(.cached, ["a-cache-control": "max-age=60"]), targeted: ["A-Cache-Control"]),
  ]

  @Test(arguments: storing)
  func `9111, 3: what is stored`(_ story: Case) async throws { try await story.run() }

  @Test(arguments: validating)
  func `9111, 4.3: validation and conditions`(_ story: Case) async throws {
    try await story.run()
  }

  @Test(arguments: outdating)
  func `9111, 4.4: what removes`(_ story: Case) async throws { try await story.run() }

  @Test(arguments: demanding)
  func `9111, 5: fields`(_ story: Case) async throws { try await story.run() }

  @Test(arguments: targeted)
  func `9213: targeted fields`(_ story: Case) async throws { try await story.run() }

  @Test func `9110, 13.1.5: a date that may be that of two versions is no condition of a range`()
    async throws
  {
    let scene = try Scene([Reply(200, fresh(("Last-Modified", date(0))), body: "0123")])
    _ = try await scene.get().body.text
    let part = try await scene.get(["Range": "bytes=1-", "If-Range": date(0)])
    #expect(part.status == 200)
  }

  @Test func `9110, 13.2.2 and 14.2: conditions come before ranges, and only GET has ranges`()
    async throws
  {
    let scene = try Scene([Reply(200, fresh(("ETag", "\"a\"")), body: "0123")])
    _ = try await scene.get().body.text
    let range: HTTPCache.Fields = ["Range": "bytes=1-2", "If-None-Match": "\"a\""]
    #expect(try await scene.get(range).status == 304)
    let head = HTTPCache.Request(
      method: "HEAD", authority: "example.org", target: "/a", fields: ["Range": "bytes=1-2"])
    let answer = try await scene.respond(head)
    #expect(answer.status == 200)
    #expect(answer.fields["content-length"] == "4")
    #expect(answer.body.byteCount == 0)
  }

  @Test func `no authority ends in a path, where the URL would be that of another host`()
    async throws
  {
    let scene = try Scene(Array(repeating: Reply(200, fresh()), count: 3))
    for authority in ["example.org/a", "example.org", "example.org/a"] {
      let target = authority.hasSuffix("a") ? "/b" : "/a/b"
      _ = try await scene.respond(.init(authority: authority, target: target)).body.text
    }
    #expect(scene.requests.count == 3)
  }

  @Test func `9110, 14.2: a range of what is no 200 gets the whole`() async throws {
    let scene = try Scene([Reply(404, fresh(), body: "none")])
    _ = try await scene.get().body.text
    let answer = try await scene.get(["Range": "bytes=1-2"])
    #expect(answer.status == 404)
    #expect(try await answer.body.text == "none")
  }

  @Test func `9110, 8.3 and 9111, 4: queries are part of the key, fragments and case of hosts not`()
    async throws
  {
    let scene = try Scene(Array(repeating: Reply(200, fresh()), count: 3))
    for target in ["/a?b", "/a?c", "/a?b", "/A?b"] { _ = try await scene.get(target: target) }
    #expect(scene.requests.map(\.target) == ["/a?b", "/a?c", "/A?b"])
    _ = try await scene.respond(.init(authority: "EXAMPLE.org:80", target: "/a?b"))
    #expect(scene.requests.count == 3)
    _ = try await scene.respond(
      .init(scheme: "https", authority: "example.org", target: "/a?b"))
    #expect(scene.requests.count == 4)
  }

  @Test func `9211: what must not be forwarded is neither a hit nor forwarded`() async throws {
    let scene = try Scene { $0.cacheStatusName = "a cache" }
    let answer = try await scene.get(["Cache-Control": "only-if-cached"])
    #expect(answer.fields["cache-status"] == "\"a cache\"; detail=only-if-cached")
  }
}
