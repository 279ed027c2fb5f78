import LarderTestSupport
import Testing

@testable import LarderHTTP

private let fresh: HTTPCache.Fields = ["Cache-Control": "max-age=60"]

extension HTTPCache.Fields {
  /// The fields with another one.
  fileprivate func and(_ name: String, _ value: String) -> Self {
    var copy = self
    copy.append(name, value)
    return copy
  }
}

/// Stories by the sections of RFC 9111 and its companions.
@Suite(.serialized)
struct `Rules` {}

extension `Rules` {
  static let authorization: [Case] = [
    Case(
      "a response to Authorization", get(.origin, fresh, with: ["Authorization": "x"]), get(.origin)
    ),
    Case(
      "public", get(.origin, ["Cache-Control": "max-age=60, public"], with: ["Authorization": "x"]),
      get(.cached)),
    Case(
      "must-revalidate",
      get(.origin, ["Cache-Control": "max-age=60, must-revalidate"], with: ["Authorization": "x"]),
      get(.cached)),
    Case(
      "s-maxage", get(.origin, ["Cache-Control": "s-maxage=60"], with: ["Authorization": "x"]),
      get(.cached)),
    Case(
      "a private cache", get(.origin, fresh, with: ["Authorization": "x"]), get(.cached),
      isShared: false),
    Case(
      "private in a private cache", get(.origin, ["Cache-Control": "private, max-age=60"]),
      get(.cached), isShared: false),
    Case(
      "private behind a quote that none closes",
      get(.origin, ["Cache-Control": "max-age=60, a=\"b, private"]), get(.origin)),
    Case(
      "s-maxage in a private cache", get(.origin, ["Cache-Control": "s-maxage=60"]), get(.origin),
      isShared: false),
  ]

  static let requests: [Case] = [
    Case("no-cache", get(.origin, fresh), get(.origin, with: ["Cache-Control": "no-cache"])),
    Case(
      "no-cache with a tag", get(.origin, fresh.and("ETag", "\"a\"")),
      get(.validated, status: 304, with: ["Cache-Control": "no-cache"], gives: 200)),
    Case("Pragma", get(.origin, fresh), get(.origin, with: ["Pragma": "no-cache"])),
    Case(
      "Pragma beside Cache-Control", get(.origin, fresh),
      get(.cached, with: ["Pragma": "no-cache", "Cache-Control": "max-age=60"])),
    Case("max-age=0", get(.origin, fresh), get(.origin, with: ["Cache-Control": "max-age=0"])),
    Case(
      "max-age=1", get(.origin, fresh), get(.origin, after: 2, with: ["Cache-Control": "max-age=1"])
    ),
    Case(
      "max-age=10", get(.origin, fresh),
      get(.cached, after: 2, with: ["Cache-Control": "max-age=10"])),
    Case(
      "min-fresh", get(.origin, fresh), get(.cached, with: ["Cache-Control": "min-fresh=60"]),
      get(.origin, after: 2, with: ["Cache-Control": "min-fresh=60"])),
    Case(
      "max-stale", get(.origin, fresh),
      get(.cached, after: 70, with: ["Cache-Control": "max-stale=10"]),
      get(.origin, after: 1, with: ["Cache-Control": "max-stale=10"])),
    Case(
      "max-stale without a limit", get(.origin, fresh),
      get(.cached, after: 7000, with: ["Cache-Control": "max-stale"])),
    Case(
      "max-stale and must-revalidate",
      get(.origin, ["Cache-Control": "max-age=1, must-revalidate"]),
      get(.origin, after: 2, with: ["Cache-Control": "max-stale=100"])),
    Case("no-store", get(.origin, fresh, with: ["Cache-Control": "no-store"]), get(.origin)),
    Case("only-if-cached", get(.cached, with: ["Cache-Control": "only-if-cached"], gives: 504)),
    Case(
      "only-if-cached and stored", get(.origin, fresh),
      get(.cached, with: ["Cache-Control": "only-if-cached"], gives: 200)),
    Case(
      "only-if-cached and stale", get(.origin, fresh),
      get(.cached, after: 61, with: ["Cache-Control": "only-if-cached"], gives: 504)),
  ]

  static let validation: [Case] = [
    Case(
      "a strong tag", get(.origin, fresh.and("ETag", "\"a\"")),
      get(.validated, ["ETag": "\"a\""], status: 304, after: 61, gives: 200, ["number": "2"])),
    Case(
      "a weak tag", get(.origin, fresh.and("ETag", "W/\"a\"")),
      get(.validated, status: 304, after: 61, gives: 200)),
    Case(
      "a date", get(.origin, fresh.and("Last-Modified", date(-600))),
      get(.validated, status: 304, after: 61, gives: 200)),
    Case(
      "no-cache is stored and validated",
      get(.origin, ["Cache-Control": "no-cache", "ETag": "\"a\""]),
      get(.validated, status: 304, gives: 200)),
    Case(
      "a 304 begins a new life", get(.origin, fresh.and("ETag", "\"a\"")),
      get(.validated, status: 304, after: 61), get(.cached, after: 59, gives: 200)),
    Case(
      "a 304 replaces fields and keeps others",
      get(
        .origin, fresh.and("ETag", "\"a\"").and("A", "1").and("B", "1").and("Content-Length", "6")),
      get(
        .validated, ["A": "2", "A": "3", "Content-Length": "99", "Content-Encoding": "gzip"],
        status: 304, after: 61,
        ["A": "2, 3", "B": "1", "content-length": "6", "content-encoding": ""]),
      get(.cached, ["A": "2, 3", "B": "1"])),
    Case(
      "a 304 drops an older Age", get(.origin, fresh.and("ETag", "\"a\"").and("Age", "50")),
      get(.validated, status: 304, after: 11), get(.cached, after: 59, ["age": "59"])),
    Case(
      "a 304 that forbids to store", get(.origin, fresh.and("ETag", "\"a\"")),
      get(.validated, ["Cache-Control": "no-store"], status: 304, after: 61, gives: 200),
      get(.origin)),
    Case(
      "a 304 that makes the head too long",
      get(
        .origin, fresh.and("ETag", "\"a\"").and("A", String(repeating: "a", count: 40_000))),
      get(
        .validated, ["B": String(repeating: "b", count: 40_000)], status: 304, after: 61,
        gives: 200, ["b": ""]),
      get(.origin)),
    Case(
      "a 304 with another strong tag", get(.origin, fresh.and("ETag", "\"a\"")),
      get(.validated, ["ETag": "\"b\"", "A": "2"], status: 304, after: 61, gives: 200, ["a": ""]),
      get(.origin)),
    Case(
      "a new response in place of a 304", get(.origin, fresh.and("ETag", "\"a\"")),
      get(.validated, fresh.and("ETag", "\"b\""), after: 61, ["number": "2"]),
      get(.cached, ["number": "2"])),
    Case("the client's condition is not sent", get(.origin, with: ["If-None-Match": "\"x\""])),
    Case(
      "the client's tag", get(.origin, fresh.and("ETag", "\"a\"")),
      get(.cached, with: ["If-None-Match": "\"a\""], gives: 304, ["etag": "\"a\""]),
      get(.cached, with: ["If-None-Match": "\"x\", \"a\""], gives: 304),
      get(.cached, with: ["If-None-Match": "W/\"a\""], gives: 304),
      get(.cached, with: ["If-None-Match": "*"], gives: 304),
      get(.cached, with: ["If-None-Match": "\"x, \\\"a\""], gives: 200),
      get(.cached, with: ["If-None-Match": "w/\"a\""], gives: 200),
      get(.cached, with: ["If-None-Match": "a"], gives: 200),
      get(.cached, with: ["If-None-Match": "\"x\"", "If-Modified-Since": date(100)], gives: 200)),
    Case(
      "the client's date", get(.origin, fresh.and("Last-Modified", date(-600))),
      get(.cached, with: ["If-Modified-Since": date(-600)], gives: 304),
      get(.cached, with: ["If-Modified-Since": date(-599)], gives: 304),
      get(.cached, with: ["If-Modified-Since": date(-601)], gives: 200),
      get(.cached, with: ["If-Modified-Since": "then"], gives: 200)),
    Case(
      "the client's tag and a stale response", get(.origin, fresh.and("ETag", "\"a\"")),
      get(.validated, status: 304, after: 61, with: ["If-None-Match": "\"a\""], gives: 304),
      get(.validated, status: 304, after: 61, with: ["If-None-Match": "\"b\""], gives: 200)),
    Case(
      "the client's tag and a miss",
      get(.origin, fresh.and("ETag", "\"a\""), with: ["If-None-Match": "\"a\""], gives: 304),
      get(.cached, gives: 200)),
  ]

  static let staleness: [Case] =
    [
      Case("down without permission", get(.origin, fresh), down(gives: 0, after: 61)),
      Case(
        "stale-if-error", get(.origin, ["Cache-Control": "max-age=60, stale-if-error=60"]),
        down(gives: 200, after: 61), get(.origin, status: 503, gives: 200),
        get(.origin, status: 503, after: 120, gives: 503)),
      Case(
        "the request's stale-if-error", get(.origin, fresh),
        down(gives: 200, after: 61, with: ["Cache-Control": "stale-if-error=60"])),
      Case(
        "the setting", get(.origin, fresh), down(gives: 200, after: 61),
        get(.origin, status: 500, gives: 200), get(.origin, status: 404, gives: 404),
        staleIfError: 60),
      Case(
        "the setting ends", get(.origin, fresh), down(gives: 0, after: 121), staleIfError: 60),
    ]
    + ["must-revalidate", "proxy-revalidate", "no-cache", "s-maxage=60"].map {
      Case(
        "\($0) wins", get(.origin, ["Cache-Control": "max-age=60, stale-if-error=60, \($0)"]),
        down(gives: 0, after: 61), staleIfError: 60)
    } + [
      Case(
        "proxy-revalidate does not concern a private cache",
        get(.origin, ["Cache-Control": "max-age=60, proxy-revalidate"]),
        down(gives: 200, after: 61),
        isShared: false, staleIfError: 60),
      Case(
        "no-cache of the request wins", get(.origin, fresh),
        down(gives: 0, with: ["Cache-Control": "no-cache"]), staleIfError: 60),
    ]

  static let targeted: [Case] =
    [
      ("max-age=60", true), ("max-age=0", false), ("max-age=60;a=b;c", true),
      ("max-age=60, no-store", false), ("max-age=\"60\"", false), ("max-age=60.5", false),
      ("a=(1 \"b\" c);d, max-age=60", true), ("max-age=0, max-age=60", true),
      ("no-cache, max-age=60", false), ("private, max-age=60", false),
      ("no-store=?0, max-age=60", true),
      ("a=:YQ==:, b=@1, c=?1, d=-1.5, e=t/a, max-age=60", true),
    ].map { value, isReused in
      Case(
        "CDN-Cache-Control: \(value)",
        get(.origin, ["CDN-Cache-Control": value, "Cache-Control": "no-store", "Expires": "0"]),
        get(isReused ? .cached : .origin), targeted: ["CDN-Cache-Control"])
    }
    + [
      // Wrong or empty: Cache-Control rules.
      "max-age=0, &", "Max-Age=0", "max-age=0,", "", "max-age=", "max-age=0 no-store", "max-age=0;",
      "a=\"", "max-age=1234567890123456", "a=(1", "no-store, a=?2", "max-age=0;A=1", "max-age=0,,a",
    ].map {
      Case(
        "wrong CDN-Cache-Control: \($0)",
        get(.origin, ["CDN-Cache-Control": $0, "Cache-Control": "max-age=60"]), get(.cached),
        targeted: ["CDN-Cache-Control"])
    } + [
      Case(
        "a targeted field that is not for this cache",
        get(.origin, ["CDN-Cache-Control": "no-store", "Cache-Control": "max-age=60"]), get(.cached)
      ),
      Case(
        "lines are joined",
        get(.origin, ["CDN-Cache-Control": "a", "CDN-Cache-Control": "max-age=60"]), get(.cached),
        targeted: ["CDN-Cache-Control"]),
    ]

  @Test(arguments: authorization)
  func `3.5: responses to authenticated requests`(_ story: Case) async throws {
    try await story.run()
  }

  @Test(arguments: requests)
  func `5.2.1 and 5.4: what a request demands`(_ story: Case) async throws { try await story.run() }

  @Test(arguments: validation)
  func `4.3: validation`(_ story: Case) async throws { try await story.run() }

  @Test(arguments: staleness)
  func `4.2.4 and RFC 5861: stale responses when the origin fails`(_ story: Case) async throws {
    try await story.run()
  }

  @Test(arguments: targeted)
  func `RFC 9213: targeted fields`(_ story: Case) async throws { try await story.run() }

  @Test func `RFC 5861, 3: stale while revalidating`() async throws {
    let scene = try Scene([Reply(200, ["Cache-Control": "max-age=60, stale-while-revalidate=60"])])
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(90))
    #expect(try await scene.get().fields["number"] == "1")
    try await reaching("the refresh") { scene.requests.count == 2 }
    scene.clock.advance(by: .seconds(90))
    // The answer to the refresh cannot be stored, so the stale response is gone.
    #expect(try await scene.get().fields["number"] != "1")
  }
}
