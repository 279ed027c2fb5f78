import LarderTestSupport
import Testing

@testable import LarderHTTP

private func fields(_ control: String, _ more: (String, String)...) -> HTTPCache.Fields {
  HTTPCache.Fields([("Cache-Control", control)] + more)
}

private func fresh(_ more: (String, String)...) -> HTTPCache.Fields {
  HTTPCache.Fields([("Cache-Control", "max-age=60")] + more)
}

/// What a client or an origin that means harm, or is only odd, may send.
@Suite(.serialized)
struct `Corners of the standards` {}

extension `Corners of the standards` {
  static let limits: [Case] = [
    Case(
      "no-store is not hidden",
      get(.origin, fields("no-store, private=\"cache-control\"", ("Expires", date(600)))),
      get(.origin)),
    Case(
      "private is not hidden",
      get(.origin, fields("private, no-cache=\"Cache-Control\"", ("Last-Modified", date(-3600)))),
      get(.origin)),
    Case(
      "no-cache is not hidden",
      get(
        .origin,
        fields("no-cache, no-cache=\"cache-control\"", ("Expires", date(600)), ("ETag", "\"a\""))),
      get(.validated)),
    Case(
      "must-revalidate is not hidden",
      get(
        .origin,
        fields("must-revalidate, max-age=1, private=cache-control", ("Expires", date(600)))),
      get(.origin, after: 2)),
    Case(
      "Age is not hidden", get(.origin, fields("max-age=60, private=\"b, AGE\"", ("Age", "100"))),
      get(.origin)),
    Case(
      "Date is not hidden",
      get(.origin, fields("max-age=60, no-cache=\"date\"", ("Date", date(-100)))), get(.origin)),
    Case(
      "Expires is not hidden",
      get(.origin, fields("no-cache=expires", ("Expires", "0"), ("Last-Modified", date(-3600)))),
      get(.validated)),
    Case(
      "Vary is not hidden",
      get(
        .origin, fields("max-age=60, private=vary", ("ETag", "\"a\""), ("Vary", "Foo")),
        with: ["Foo": "1"]),
      get(.origin, after: 61, with: ["Foo": "1"]), get(.origin, with: ["Foo": "2"])),
    Case(
      "a targeted field is not hidden",
      get(
        .origin,
        fresh(("A-Control", "no-store, private=\"a-control\""), ("Last-Modified", date(-3600)))),
      get(.origin), targeted: ["A-Control"]),
    Case(
      "Connection hides no rule",
      get(
        .origin,
        fields("no-store", ("Connection", "Cache-Control, A"), ("Last-Modified", date(-3600)))),
      get(.origin)),
    Case(
      "Connection hides no Age",
      get(.origin, fresh(("Connection", "age"), ("Age", "100"), ("Expires", date(600)))),
      get(.origin)),
    Case(
      "a request limits nothing", get(.origin, fresh()),
      get(.origin, with: ["Cache-Control": "no-cache=\"a\""])),
  ]

  static let conditions: [Case] = [
    Case(
      "a date ahead, and a response without one of its own",
      get(.origin, fields("no-store"), with: ["If-Modified-Since": date(3600)], gives: 200)),
    Case(
      "the same of a response that is stored",
      get(.origin, fresh(), with: ["If-Modified-Since": date(0)], gives: 200),
      get(.cached, with: ["If-Modified-Since": date(0)], gives: 304)),
    Case(
      "a Date with a year of two digits",
      get(.origin, fresh(("Date", "Tuesday, 14-Nov-23 22:13:20 GMT"))),
      get(.cached, with: ["If-Modified-Since": "Mon, 06 Jan 2020 00:00:00 GMT"], gives: 200),
      get(.cached, with: ["If-Modified-Since": date(0)], gives: 304)),
    Case(
      "a Last-Modified with a year of two digits",
      get(
        .origin,
        fresh(
          ("Last-Modified", "Monday, 14-Nov-22 22:13:20 GMT"),
          ("Date", "Tuesday, 14-Nov-23 22:13:20 GMT"))),
      get(.cached, with: ["If-Modified-Since": "Mon, 06 Jan 2020 00:00:00 GMT"], gives: 200)),
    Case(
      "a year of two digits beside an old Last-Modified",
      get(.origin, fresh(("Last-Modified", date(-1_700_000_000)))),
      get(.cached, with: ["If-Modified-Since": "Tuesday, 14-Nov-23 22:13:20 GMT"], gives: 304)),
    Case(
      "a backslash in a tag", get(.origin, fresh(("ETag", "\"b\""))),
      get(.cached, with: ["If-None-Match": #""a\", "b""#], gives: 304),
      get(.cached, with: ["If-None-Match": #""a\", \"b""#], gives: 200)),
  ]

  static let answers: [Case] = [
    Case(
      "a field for one user in a 304",
      get(.origin, fields("max-age=0, private=\"Set-Cookie\"", ("ETag", "\"a\""))),
      get(
        .validated, ["Set-Cookie": "a=1", "Set-Cookie": "b=2", "Content-Length": "9"], status: 304,
        gives: 200, ["set-cookie": "a=1, b=2", "content-length": "6"]),
      get(.validated, status: 304, gives: 200, ["set-cookie": ""])),
    Case(
      "a field that is not used again, in a 304",
      get(.origin, fields("max-age=0, no-cache=a", ("ETag", "\"a\""), ("A", "1")), ["a": "1"]),
      get(.validated, ["A": "2"], status: 304, gives: 200, ["a": "2"])),
    Case(
      "a 304 with a tag where none was", get(.origin, fresh(("Last-Modified", date(-600)))),
      get(
        .validated, ["ETag": "\"b\"", "A": "2"], status: 304, after: 61, gives: 200,
        ["etag": "", "a": ""]),
      get(.origin)),
    Case(
      "only-if-cached where the cache does not answer",
      get(.origin, fresh()),
      get(.cached, with: ["Cache-Control": "only-if-cached", "If-Match": "\"a\""], gives: 504),
      get(.cached, gives: 200),
      get(.origin, with: ["Cache-Control": "only-if-cached"], method: "POST", gives: 200)),
  ]

  static let variants: [Case] = [
    Case(
      "a field that is not sent on", get(.origin, fresh(("Vary", "TE")), with: ["TE": "trailers"]),
      get(.cached, with: ["TE": "trailers"]), get(.cached)),
    Case(
      "bytes that are no text",
      get(.origin, fresh(("Vary", "Foo, Bar")), with: ["Foo": "a\u{FFFD}\u{301}"]),
      get(.origin, fresh(("Vary", "Foo, Bar")), with: ["Foo": "a\u{FFFD}\u{301}"]),
      get(.origin, fresh(("Vary", "Foo, Bar")), with: ["Foo": "é"]),
      get(.cached, with: ["Foo": "é"]), get(.origin, with: ["Foo": "\u{FFFD}"])),
  ]

  @Test(arguments: limits)
  func `9111, 5.2.2.4 and 5.2.2.7: no limit to some fields hides a rule`(_ story: Case)
    async throws
  {
    try await story.run()
  }

  @Test(arguments: conditions)
  func `9110, 13.1: a 304 is for what the client has`(_ story: Case) async throws {
    try await story.run()
  }

  @Test(arguments: answers)
  func `9111, 4.3.4, 5.2: what one client gets`(_ story: Case) async throws {
    try await story.run()
  }

  @Test(arguments: variants)
  func `9111, 4.1: what no origin sees does not choose`(_ story: Case) async throws {
    try await story.run()
  }

  @Test func `9112, 3.2: no Host of a client's reaches the origin`() async throws {
    let scene = try Scene([Reply(200, fresh(("Vary", "Host")))])
    _ = try await scene.get(["Host": "example.org", "Host": "evil.example"]).body.text
    _ = try await scene.get(["Host": "example.org"]).body.text
    _ = try await scene.respond(
      .init(method: "POST", authority: "example.org", target: "/b", fields: ["host": "b"]))
    #expect(scene.requests.map(\.fields["host"]) == [nil, nil])
  }

  @Test func `9111, 4.2.3: parts of seconds count together`() {
    let sent = Timestamp(seconds: 1_700_000_000)
    func stored(_ fields: HTTPCache.Fields, after delay: Duration) -> HTTPCache.Stored {
      HTTPCache.Stored(
        200, fields, "u", Variant(lines: []), (sent, sent.adding(delay)))
    }
    let slow = stored(["Age": "5"], after: .milliseconds(900))
    #expect(slow.age(at: sent.adding(.milliseconds(900))) == 5)
    #expect(slow.age(at: sent.adding(.milliseconds(1800))) == 6)
    #expect(slow.age(at: sent.adding(.milliseconds(2700))) == 7)
    let old = stored(["Date": date(-100)], after: .milliseconds(900))
    #expect(old.age(at: sent.adding(.milliseconds(1800))) == 100)
    #expect(old.age(at: sent.adding(.milliseconds(1900))) == 101)
  }

  @Test func `5861, 4: what must be validated is served if the origin is down, for as long`()
    async throws
  {
    let control = fields("max-age=600, stale-if-error=60", ("ETag", "\"a\""))
    let scene = try Scene([Reply(200, control), .failure, .failure])
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(10))
    #expect(try await scene.cache.expire("http://example.org/a"))
    scene.clock.advance(by: .seconds(60))
    #expect(try await scene.get().status == 200)
    #expect(scene.cache.statistics.stale == 1)
    scene.clock.advance(by: .seconds(1))
    await #expect(throws: OriginIsDown.self) { try await scene.get() }
    #expect(scene.requests.count == 3)
  }

  @Test func `5.2.1.7: only-if-cached on a route without the cache`() async throws {
    let scene = try Scene { $0.route = { _ in .bypassed } }
    #expect(try await scene.get(["Cache-Control": "only-if-cached"]).status == 504)
    #expect(scene.requests.isEmpty)
  }

  @Test func `9112, 6.3: a length that is said twice is a 502`() async throws {
    let scene = try Scene([Reply(200, fresh(("Content-Length", "6"), ("Content-Length", "6")))])
    #expect(try await scene.get().status == 502)
    _ = try await scene.get()
    #expect(scene.requests.count == 2)
  }

  @Test func `a target without a slash is of its own host, and is found again`() async throws {
    let scene = try Scene(Array(repeating: Reply(200, fresh()), count: 5))
    for (authority, target) in [("example.org", ".evil/a"), ("example.org.evil", "/a")] {
      _ = try await scene.respond(.init(authority: authority, target: target)).body.text
    }
    #expect(scene.requests.count == 2)
    _ = try await scene.get(target: "?q").body.text
    _ = try await scene.respond(.init(method: "POST", authority: "example.org", target: "?q"))
    _ = try await scene.get(target: "?q").body.text
    #expect(scene.requests.count == 5)
  }

  @Test(
    arguments: [
      "Sun, Nov 06 1994 08:49:37 GMT", "Sun, 06 10 1994 Nov:49:37 GMT", "Sun 06 Nov 08:49:37 1994",
      "Sunday, Nov-06-94 08:49:37 GMT", "Sun 06 11 08:49:37 19Nov", "Sun, 06 m11 1994 08:49:37 GMT",
      "Sun, 06 NovNov 1994 08:49:37 GMT", "Sun, 06 m111 1994 08:49:37 Nov",
    ])
  func `9110, 5.6.7: a name of a month in another place is no date`(_ text: String) {
    #expect(HTTPDate.seconds(text, at: 1_700_000_000) == nil)
  }
}
