import LarderTestSupport
import Testing

@testable import LarderHTTP

/// RFC 9111, 4.2: how long a response is fresh, and how old it is.
@Suite(.serialized)
struct `Freshness` {}

extension `Freshness` {
  /// Responses and whether a request a second later is answered by them.
  struct Row: Sendable, CustomTestStringConvertible {
    let fields: HTTPCache.Fields
    let isReused: Bool
    let status: Int
    var testDescription: String { "\(status) \(fields.map { "\($0.name): \($0.value)" })" }
    init(_ isReused: Bool, _ fields: HTTPCache.Fields, status: Int = 200) {
      (self.isReused, self.fields, self.status) = (isReused, fields, status)
    }
  }

  private static func control(_ isReused: Bool, _ value: String) -> Row {
    Row(isReused, ["Cache-Control": value])
  }

  static let directives: [Row] = [
    control(true, "max-age=3600"), control(true, "MaX-aGe=3600"), control(true, "max-age=\"3600\""),
    control(true, "max-age=003600"), control(true, "max-age=99999999999999999999"),
    control(true, "max-age=2147483648"), control(true, "foo, bar=1, max-age=3600"),
    control(true, "foobar=\"max-age=1, no-store\", max-age=3600"),
    control(true, "foobar=\"a\\\", max-age=0, b\", max-age=3600"),
    control(true, "max-age=3600, max-age=3600"), control(true, "s-maxage=3600"),
    control(true, "max-age=0, s-maxage=3600"), control(true, "public, immutable, max-age=60"),
    control(true, ", ,max-age=3600,"), control(true, "no-cachee, max-age=3600"),
    control(false, ""), control(false, "max-age=0"), control(false, "max-age"),
    control(false, "max-age="), control(false, "max-age=a3600"), control(false, "max-age=3600a"),
    control(false, "max-age=-3600"), control(false, "max-age=3600.5"),
    control(false, "max-age='3600'"), control(false, "max-age=3e3"),
    control(false, "max-age =3600"), control(false, "max-age= 3600"),
    control(false, "max-age=\"3600"), control(false, "max-age=3600, max-age=1800"),
    control(false, "max-age=1800, max-age=3600"), control(false, "max-age=3600, s-maxage=0"),
    control(false, "max-age=3600, no-store"), control(false, "max-age=3600, No-Store"),
    control(false, "max-age=3600, no-cache"), control(false, "max-age=3600, no-cache=\"\""),
    control(false, "max-age=3600, private"), control(false, "NO-STORE, max-age=3600"),
    control(false, "max-age=3600, s-maxage=x"), control(false, "extension=\"max-age=3600\""),
    Row(false, ["Cache-Control": "max-age=3600", "Cache-Control": "no-store"]),
    Row(true, ["Cache-Control": "foo", "Cache-Control": "max-age=3600"]),
    Row(false, ["Cache-Control": "max-age=3600, must-understand"], status: 599),
    Row(true, ["Cache-Control": "max-age=3600, must-understand, no-store"]),
    Row(true, ["Cache-Control": "max-age=3600"], status: 599),
    Row(true, ["Cache-Control": "max-age=3600", "Pragma": "no-cache"]),
  ]

  static let expiries: [Row] = [
    Row(true, ["Expires": date(3600)]), Row(false, ["Expires": date(0)]),
    Row(false, ["Expires": date(-60)]), Row(false, ["Expires": "0"]),
    Row(true, ["Expires": date(3600), "Expires": date(3600)]),
    Row(false, ["Expires": date(3600), "Expires": date(60)]),
    Row(true, ["Expires": date(3600), "Date": date(-60)]),
    Row(false, ["Expires": date(300), "Date": date(400)]),
    Row(false, ["Expires": date(60), "Age": "100"]),
    Row(true, ["Expires": date(-60), "Cache-Control": "max-age=60"]),
    Row(false, ["Expires": date(60), "Cache-Control": "max-age=0"]),
    Row(true, ["Expires": date(60), "Cache-Control": "foo"]),
    Row(true, ["Expires": "Thu, 18 Aug 2050 02:01:18 GMT"]),
    Row(true, ["Expires": "thu, 18 AUG 2050 02:01:18 gmt"]),
    Row(true, ["Expires": "Thursday, 18-Aug-50 02:01:18 GMT"]),
    Row(true, ["Expires": "Thu Aug 18 02:01:18 2050"]),
    Row(true, ["Expires": "Thu Aug  8 02:01:18 2050"]),
    Row(true, ["Expires": "Thu, 31 Dec 9999 23:59:59 GMT"]),
    Row(false, ["Expires": "Thu, 18 Aug 2050 2:01:18 GMT"]),
    Row(false, ["Expires": "Thu, 18 Aug 50 02:01:18 GMT"]),
    Row(false, ["Expires": "Thu, 18 Aug 2050 02:01:18 AEST"]),
    Row(false, ["Expires": "Thu, 18 Aug 2050 02:01:18 UTC"]),
    Row(false, ["Expires": "Thu, 18-Aug-2050 02:01:18 GMT"]),
    Row(false, ["Expires": "Thu 18 Aug 2050 02:01:18 GMT"]),
    Row(false, ["Expires": "Thu, 18 Aug 2050 02.01.18 GMT"]),
    Row(false, ["Expires": "Thu,  18  Aug  2050  02:01:18  GMT"]),
    Row(false, ["Expires": "Thu, 31 Feb 2050 02:01:18 GMT"]),
    Row(false, ["Expires": "Thu, 18 Aug 2050"]), Row(false, ["Expires": ""]),
    Row(false, ["Expires": "Foo, 18 Aug 2050 02:01:18 GMT"]),
    Row(false, ["Expires": "Sunday, 06-Nov-94 08:49:37 GMT"]),
  ]

  static let ages: [Row] = [
    Row(false, ["Cache-Control": "max-age=60", "Age": "60"]),
    Row(true, ["Cache-Control": "max-age=60", "Age": "30"]),
    Row(false, ["Cache-Control": "max-age=60", "Age": "90, 30"]),
    Row(true, ["Cache-Control": "max-age=60", "Age": "30", "Age": "90"]),
    Row(true, ["Cache-Control": "max-age=60", "Age": "-100"]),
    Row(true, ["Cache-Control": "max-age=60", "Age": "100.5"]),
    Row(true, ["Cache-Control": "max-age=60", "Age": "\"100\""]),
    Row(true, ["Cache-Control": "max-age=60", "Age": "100s"]),
    Row(false, ["Cache-Control": "max-age=60", "Age": "99999999999999999999999"]),
    Row(false, ["Cache-Control": "max-age=60", "Age": "0100"]),
    Row(false, ["Cache-Control": "max-age=60", "Date": date(-61)]),
    Row(true, ["Cache-Control": "max-age=60", "Date": date(1000)]),
    Row(true, ["Cache-Control": "max-age=60", "Date": "nonsense"]),
  ]

  static let heuristics: [Row] =
    [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].map {
      Row(true, ["Last-Modified": date(-3600)], status: $0)
    }
    + [201, 202, 302, 303, 307, 400, 403, 500, 502, 503, 504, 599].map {
      Row(false, ["Last-Modified": date(-3600)], status: $0)
    } + [
      Row(true, ["Last-Modified": date(-3600), "Cache-Control": "public"], status: 599),
      Row(true, ["Last-Modified": date(-3600), "Cache-Control": "foo"]),
      Row(false, ["ETag": "\"a\""]), Row(false, [:]), Row(false, ["Last-Modified": date(-5)]),
      Row(false, ["Last-Modified": date(60)]), Row(false, ["Last-Modified": "yesterday"]),
      Row(false, ["Last-Modified": date(-3600), "Expires": "0"]),
      Row(false, ["Last-Modified": date(-3600), "Set-Cookie": "a=b"]),
      Row(true, ["Cache-Control": "max-age=60", "Set-Cookie": "a=b"]),
    ]

  private func check(_ row: Row) async throws {
    let scene = try Scene([Reply(row.status, row.fields)])
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(1))
    let second = try await scene.get()
    #expect((scene.requests.count == 1) == row.isReused)
    if row.isReused {
      #expect(second.status == row.status)
      #expect(second.fields["number"] == "1")
    }
  }

  @Test(arguments: directives)
  func `5.2.2: directives say how long`(_ row: Row) async throws { try await check(row) }

  @Test(arguments: expiries)
  func `5.3: Expires is a date in one of three forms`(_ row: Row) async throws {
    try await check(row)
  }

  @Test(arguments: ages)
  func `4.2.3: time in other caches counts`(_ row: Row) async throws { try await check(row) }

  @Test(arguments: heuristics)
  func `4.2.2: a tenth of the time since the last change`(_ row: Row) async throws {
    try await check(row)
  }

  @Test(arguments: [
    200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599,
  ])
  func `3: every final status is stored with explicit freshness, and no longer`(
    _ status: Int
  ) async throws {
    let scene = try Scene([Reply(status, ["Cache-Control": "max-age=60"]), Reply(status)]) {
      $0.policy.staleIfError = .seconds(60)
    }
    for wait in [0, 59, 2] {
      scene.clock.advance(by: .seconds(wait))
      let response = try await scene.get()
      #expect(response.status == status)
      #expect(response.fields["number"] == (wait == 2 ? "2" : "1"))
      #expect(response.fields["age"] == (wait == 2 ? nil : wait == 59 ? "59" : nil))
    }
  }

  @Test func `3.3 and 15.3.7: no part is stored, and no 304`() async throws {
    for status in [206, 304] {
      let scene = try Scene([Reply(status, ["Cache-Control": "max-age=60"])])
      _ = try await scene.get()
      _ = try await scene.get()
      #expect(scene.requests.count == 2)
    }
  }

  @Test func `4.2.3: the time that the origin took counts`() async throws {
    var reply = Reply(200, ["Cache-Control": "max-age=60"])
    (reply.delay, reply.lacksDate) = (40, true)
    let scene = try Scene([reply])
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(10))
    #expect(try await scene.get().fields["age"] == "50")
    scene.clock.advance(by: .seconds(11))
    #expect(try await scene.get().fields["number"] == "2")
  }

  @Test func `a heuristic lasts a day at most`() async throws {
    let scene = try Scene([Reply(200, ["Last-Modified": date(-100_000_000)])])
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(86_399))
    #expect(try await scene.get().fields["age"] == "86399")
    scene.clock.advance(by: .seconds(1))
    #expect(try await scene.get().fields["number"] == "2")
  }

  @Test func `a clock that steps back makes nothing fresh again and no age negative`() async throws
  {
    let scene = try Scene([Reply(200, ["Cache-Control": "max-age=60"])])
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(61))
    _ = scene.cache.now
    scene.clock.advance(by: .seconds(-50))
    #expect(try await scene.get().fields["number"] == "2")
    let stored = HTTPCache.Stored(
      200, ["Cache-Control": "max-age=60", "Age": "5"], "u", Variant(lines: []),
      (scene.clock.now, scene.clock.now))
    let before = scene.clock.now.adding(seconds: -100)
    #expect(stored.age(at: before) == 5)
    #expect(!stored.isTrusted(at: before))
  }
}

/// RFC 9110, 5.6.7.
struct `Dates of HTTP` {
  @Test(
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
      ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Sun, 29 Feb 2032 23:59:59 GMT", 1_961_711_999), ("Sun, 29 Feb 2031 23:59:59 GMT", nil),
      ("Sun, 06 Nov 1994 24:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:60:37 GMT", nil),
      ("Sun, 06 Nov 1994 08:49:37", nil), ("", nil), (" ", nil), (",,,,,", nil), ("Sun,     ", nil),
      ("Sun Nov 06 08:49:37 1994", 784_111_777), ("Sun, 6 Nov 1994 08:49:37 GMT", nil),
    ] as [(String, Int64?)])
  func `three forms are read`(_ text: String, _ seconds: Int64?) {
    #expect(HTTPDate.seconds(text, at: 1_700_000_000) == seconds)
  }

  @Test func `what is written is read`() {
    for seconds in stride(from: Int64(0), to: 200_000_000_000, by: 1_234_567_891) {
      #expect(HTTPDate.seconds(HTTPDate.text(seconds), at: 1_700_000_000) == seconds)
    }
    #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
  }
}
