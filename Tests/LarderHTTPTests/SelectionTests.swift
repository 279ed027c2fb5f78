import LarderTestSupport
import Testing

@testable import LarderHTTP

private let fresh: HTTPCache.Fields = ["Cache-Control": "max-age=60"]

private func varying(_ names: String...) -> HTTPCache.Fields {
  HTTPCache.Fields([("Cache-Control", "max-age=60")] + names.map { ("Vary", $0) })
}

/// Which stored response answers which request, and what removes it.
@Suite(.serialized)
struct `Selection` {}

extension `Selection` {
  static let variants: [Case] = [
    Case(
      "the same value", get(.origin, varying("Foo"), with: ["Foo": "1"]),
      get(.cached, with: ["Foo": "1"])),
    Case(
      "another value", get(.origin, varying("Foo"), with: ["Foo": "1"]),
      get(.origin, varying("Foo"), with: ["Foo": "2"]),
      get(.cached, with: ["Foo": "1"], ["number": "1"]),
      get(.cached, with: ["Foo": "2"], ["number": "2"])),
    Case(
      "no value", get(.origin, varying("Foo")), get(.cached), get(.origin, with: ["Foo": ""]),
      get(.origin, with: ["Foo": "1"])),
    Case("a value missing", get(.origin, varying("Foo"), with: ["Foo": "1"]), get(.origin)),
    Case("what is no name", get(.origin, varying("a: b"), with: ["a": "b"]), get(.origin)),
    Case("a star", get(.origin, varying("*")), get(.origin)),
    Case("a star in a list", get(.origin, varying("Foo, *")), get(.origin)),
    Case("a star after nothing", get(.origin, varying(", *")), get(.origin)),
    Case("a star on another line", get(.origin, varying("Foo", "*")), get(.origin)),
    Case(
      "two names", get(.origin, varying("Foo, Bar"), with: ["Foo": "1", "Bar": "2"]),
      get(.cached, with: ["Bar": "2", "Foo": "1"]), get(.origin, with: ["Foo": "1", "Bar": "3"])),
    Case(
      "two lines of Vary", get(.origin, varying("Foo", "BAR"), with: ["Foo": "1", "Bar": "2"]),
      get(.cached, with: ["bar": "2", "Foo": "1"]), get(.origin, with: ["Foo": "1"])),
    Case(
      "lines", get(.origin, varying("Foo"), with: ["Foo": "1, 2"]),
      get(.cached, with: ["Foo": "1", "Foo": "2"]), get(.origin, with: ["Foo": "2, 1"])),
    Case(
      "space in what is accepted", get(.origin, varying("Accept"), with: ["Accept": "a, b"]),
      get(.cached, with: ["Accept": " a,b,"])),
    Case(
      "a comma in what may be no list", get(.origin, varying("Foo"), with: ["Foo": "1,"]),
      get(.origin, with: ["Foo": "1"])),
    Case(
      "the case of values", get(.origin, varying("Foo"), with: ["Foo": "a"]),
      get(.origin, with: ["Foo": "A"])),
    Case(
      "the case of languages",
      get(.origin, varying("Accept-Language"), with: ["Accept-Language": "en, de"]),
      get(.cached, with: ["Accept-Language": "EN,de"])),
    Case(
      "other names by which to choose", get(.origin, varying("Foo"), with: ["Foo": "1"]),
      get(.origin, varying("Bar"), with: ["Foo": "2"]),
      get(.origin, varying("Bar"), with: ["Foo": "1", "Bar": "1"]),
      get(.cached, ["number": "2"])),
    Case(
      "without Vary in place of variants", get(.origin, varying("Foo"), with: ["Foo": "1"]),
      get(.origin, fresh), get(.cached, with: ["Foo": "1"], ["number": "2"])),
    Case(
      "each variant is validated by its own tag",
      get(
        .origin, ["Cache-Control": "max-age=1", "Vary": "Foo", "ETag": "\"1\""], with: ["Foo": "1"]
      ),
      get(.validated, status: 304, after: 2, with: ["Foo": "1"], gives: 200),
      get(.origin, with: ["Foo": "2"])),
  ]

  static let methods: [Case] =
    ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "FOO"].map {
      Case(
        "\($0) that succeeds", get(.origin, fresh), get(.cached),
        get(.origin, method: $0, gives: 200), get(.origin))
    }
    + ["POST", "PUT", "DELETE", "M-SEARCH"].map {
      Case(
        "\($0) that fails", get(.origin, fresh), get(.origin, status: 500, method: $0, gives: 500),
        get(.cached))
    }
    + ["OPTIONS", "TRACE"].map {
      Case("\($0) is safe", get(.origin, fresh), get(.origin, method: $0), get(.cached))
    } + [
      Case(
        "an invalidation of variants", get(.origin, varying("Foo"), with: ["Foo": "1"]),
        get(.origin, status: 303, method: "POST"), get(.origin, with: ["Foo": "1"])),
      Case(
        "a response to POST is not stored", get(.origin, fresh, method: "POST"), get(.origin)),
      Case(
        "HEAD from a stored GET", get(.origin, fresh.with("Content-Length", "6")),
        get(.cached, method: "HEAD", gives: 200, ["content-length": "6", "number": "1"])),
      Case("HEAD is not stored", get(.origin, fresh, method: "HEAD"), get(.origin)),
      Case(
        "HEAD goes on when the response is stale", get(.origin, fresh),
        get(.origin, after: 61, method: "HEAD")),
      Case(
        "HEAD freshens", get(.origin, fresh.with("ETag", "\"a\"").with("A", "1")),
        get(.origin, fresh.with("ETag", "\"a\"").with("A", "2"), after: 61, method: "HEAD"),
        get(.cached, gives: 200, ["a": "2"])),
      Case(
        "HEAD with another tag", get(.origin, fresh.with("ETag", "\"a\"")),
        get(
          .origin, fresh.with("ETag", "\"b\""), with: ["Pragma": "no-cache"], method: "HEAD"),
        get(.validated)),
      Case(
        "HEAD with another length", get(.origin, fresh.with("ETag", "\"a\"")),
        get(
          .origin, fresh.with("Content-Length", "7"), with: ["Cache-Control": "no-cache"],
          method: "HEAD"),
        get(.validated)),
      Case(
        "HEAD that is gone", get(.origin, fresh),
        get(.origin, status: 410, with: ["Cache-Control": "no-cache"], method: "HEAD"), get(.origin)
      ),
    ]

  @Test(arguments: variants)
  func `4.1: Vary`(_ story: Case) async throws { try await story.run() }

  @Test(arguments: methods)
  func `4.3.5 and 4.4: methods`(_ story: Case) async throws { try await story.run() }

  @Test(
    arguments: ["Location", "Content-Location"],
    [
      ("/b", true), ("b", true), ("http://example.org/b", true), ("HTTP://EXAMPLE.ORG:80/b", true),
      ("//example.org/b", true), ("../x/../b", true),
      ("http://example.org/x/../b", true), ("//example.org/./b", true),
      ("http://example.org/b#\u{2028}", true), ("./b", true), ("/b#c", true), ("/c", false),
      ("http://example.com/b", false), ("https://example.org/b", false),
      ("http://example.org:81/b", false), ("/b?c", false),
    ])
  func `4.4: URLs of the same origin that a response names`(
    _ name: String, _ row: (String, Bool)
  ) async throws {
    let scene = try Scene([Reply(200, fresh), Reply(201, [name: row.0])])
    _ = try await scene.get(target: "/b").body.text
    _ = try await scene.respond(.init(method: "POST", authority: "example.org", target: "/a"))
    _ = try await scene.get(target: "/b").body.text
    #expect(scene.requests.count == (row.1 ? 3 : 2))
  }

  @Test func `4.4: an empty path is that of the root, also for what a response names`() async throws
  {
    let scene = try Scene([Reply(200, fresh), Reply(201, ["Location": "b"]), Reply(200, fresh)])
    _ = try await scene.get(target: "/b").body.text
    _ = try await scene.respond(.init(method: "POST", authority: "example.org", target: ""))
    _ = try await scene.get(target: "/b").body.text
    #expect(scene.requests.count == 3)
  }

  @Test func `an invalidation names what is stored by its URL`() async throws {
    let scene = try Scene([Reply(200, fresh), Reply(200, fresh)])
    _ = try await scene.get().body.text
    #expect(try await !scene.cache.invalidate("http://example.org/b"))
    #expect(try await scene.cache.invalidate("HTTP://Example.org:80/a"))
    _ = try await scene.get().body.text
    #expect(scene.requests.count == 2)
  }

  @Test(arguments: [[:], ["Vary": "Foo"]] as [HTTPCache.Fields])
  func `what was expired is validated at its next use`(_ vary: HTTPCache.Fields) async throws {
    var fields = fresh
    fields.append("ETag", "\"a\"")
    for field in vary { fields.append(field.name, field.value) }
    let scene = try Scene([Reply(200, fields), Reply(304), Reply(200)])
    _ = try await scene.get().body.text
    #expect(try await scene.cache.expire("http://example.org/a"))
    #expect(try await !scene.cache.expire("http://example.org/b"))
    scene.clock.advance(by: .seconds(1))
    for _ in 1...3 { #expect(try await scene.get().fields["number"] == "2") }
    #expect(scene.requests.count == 2)
    #expect(scene.cache.statistics.validated == 1)
    #expect(scene.cache.statistics.hits == 2)
  }

  static let ranges: [(String, Int, String, String)] = [
    ("bytes=0-3", 206, "0123", "bytes 0-3/10"), ("bytes=5-", 206, "56789", "bytes 5-9/10"),
    ("bytes=-2", 206, "89", "bytes 8-9/10"), ("bytes=8-99", 206, "89", "bytes 8-9/10"),
    ("bytes=-99", 206, "0123456789", "bytes 0-9/10"), ("BYTES=1-1", 206, "1", "bytes 1-1/10"),
    ("bytes=10-", 416, "", "bytes */10"), ("bytes=99-100", 416, "", "bytes */10"),
    ("bytes=-0", 416, "", "bytes */10"), ("bytes=3-1", 200, "0123456789", ""),
    ("bytes=a-", 200, "0123456789", ""), ("bytes=-", 200, "0123456789", ""),
    ("lines=1-2", 200, "0123456789", ""), ("bytes=0-1,3-4", 200, "0123456789", ""),
    ("bytes=0-99999999999999999999999", 206, "0123456789", "bytes 0-9/10"),
    ("bytes=99999999999999999999999-", 416, "", "bytes */10"),
    ("bytes= 0-3", 200, "0123456789", ""), ("bytes=0 -3", 200, "0123456789", ""),
    ("bytes=" + String(repeating: " ", count: 60_000) + "x", 200, "0123456789", ""),
  ]

  @Test(arguments: ranges)
  func `RFC 9110, 14: a range of a stored body`(
    _ range: String, _ status: Int, _ text: String, _ place: String
  ) async throws {
    let scene = try Scene([Reply(200, fresh.with("ETag", "\"a\""), body: "0123456789")])
    _ = try await scene.get().body.text
    let part = try await scene.get(["Range": range])
    #expect(part.status == status)
    #expect(try await part.body.text == text)
    #expect(part.fields["content-range"] ?? "" == place)
    #expect(part.fields["content-length"] == "\(text.utf8.count)")
    #expect(part.fields["etag"] == "\"a\"")
    #expect(scene.requests.count == 1)
  }

  @Test func `RFC 9110, 13.1.5: the condition of a range`() async throws {
    let scene = try Scene([
      Reply(200, fresh.with("ETag", "\"a\"").with("Last-Modified", date(-99)), body: "0123")
    ])
    _ = try await scene.get().body.text
    for (condition, status) in [
      ("\"a\"", 206), ("\"b\"", 200), ("W/\"a\"", 200), (date(-99), 206), (date(-98), 200),
      ("", 200),
    ] {
      let part = try await scene.get(["Range": "bytes=1-", "If-Range": condition])
      #expect(part.status == status, "\(condition)")
    }
  }

  @Test func `a range passes by when nothing is stored, and is not sent to validate`() async throws
  {
    let scene = try Scene([
      Reply(206, fresh.with("Content-Range", "bytes 0-1/4"), body: "01"),
      Reply(200, fresh.with("ETag", "\"a\""), body: "0123"), Reply(304),
      Reply(200, fresh, body: "x"),
    ])
    #expect(try await scene.get(["Range": "bytes=0-1"]).status == 206)
    #expect(scene.requests[0].fields["range"] == "bytes=0-1")
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(61))
    let part = try await scene.get(["Range": "bytes=1-2"])
    #expect(part.status == 206)
    #expect(try await part.body.text == "12")
    #expect(!scene.requests[2].fields.contains("range"))
  }
}

extension HTTPCache.Fields {
  fileprivate func with(_ name: String, _ value: String) -> Self {
    var copy = self
    copy.append(name, value)
    return copy
  }
}

/// What of a message is stored and sent on.
struct `Fields that go on` {
  private static let own = [
    "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info",
    "Proxy-Authorization", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
  ]

  @Test func `RFC 9111, 3.1: those of one connection go nowhere, all others everywhere`()
    async throws
  {
    var fields = HTTPCache.Fields(Self.own.map { ($0, "x") })
    fields.set("Connection", "A, \"c\", b")
    fields.set("Transfer-Encoding", "chunked")
    for name in ["A", "B", "C", "Content-Type", "X-Frame-Options", "Set-Cookie", "Content-MD5"] {
      fields.append(name, "1")
    }
    fields.append("C", "2")
    let scene = try Scene([Reply(200, fields.adding("Cache-Control", "max-age=60"))])
    for _ in 1...2 {
      let response = try await scene.get(fields)
      _ = try await response.body.text
      for name in Self.own + ["A", "B"] { #expect(response.fields[name] == nil, "\(name)") }
      #expect(response.fields["c"] == "1, 2")
      #expect(response.fields["set-cookie"] == "1")
    }
    #expect(scene.requests.count == 1)
    let asked = scene.requests[0].fields
    for name in Self.own + ["A", "B"] { #expect(asked[name] == nil, "\(name)") }
    #expect(asked["c"] == "1, 2")
  }

  @Test func `RFC 9111, 5.2.2.4 and 5.2.2.7: fields that a directive names`() async throws {
    for directive in ["no-cache", "private"] {
      let control = "max-age=60, \(directive)=\"A, b\""
      let scene = try Scene([Reply(200, ["Cache-Control": control, "A": "1", "B": "1", "C": "1"])])
      #expect(try await scene.get().fields["a"] == "1")
      let second = try await scene.get()
      #expect(scene.requests.count == 1)
      #expect(second.fields["a"] == nil)
      #expect(second.fields["b"] == nil)
      #expect(second.fields["c"] == "1")
    }
  }

  @Test func `Set-Cookie is not stored if a setting forbids it`() async throws {
    let reply = Reply(200, ["Cache-Control": "max-age=60", "Set-Cookie": "a=b"])
    let scene = try Scene([reply]) { $0.policy.storesSetCookie = false }
    for _ in 1...2 { _ = try await scene.get().body.text }
    #expect(scene.requests.count == 2)
  }

  @Test func `RFC 9110, 6.6.1: a response without a date gets one`() async throws {
    var reply = Reply(200, ["Cache-Control": "max-age=60"])
    reply.lacksDate = true
    let scene = try Scene([reply])
    #expect(try await scene.get().fields["date"] == date(0))
    scene.clock.advance(by: .seconds(9))
    let second = try await scene.get()
    #expect(second.fields["date"] == date(0))
    #expect(second.fields["age"] == "9")
  }

  @Test(
    arguments: [
      ["A b": "1"], ["A": "1\r\nB: 2"], ["A": "\0"], ["": "1"], ["A": "1\n"],
      ["Transfer-Encoding": "gzip, chunked"],
      ["Content-Length": "x"], ["Content-Length": "5", "Content-Length": "6"],
      ["A": String(repeating: "a", count: 66_000)],
    ] as [HTTPCache.Fields])
  func `a head that means something else elsewhere is a 502`(_ fields: HTTPCache.Fields)
    async throws
  {
    let scene = try Scene([Reply(200, fields.adding("Cache-Control", "max-age=60"))])
    #expect(try await scene.get().status == 502)
    _ = try await scene.get()
    #expect(scene.requests.count == 2)
    #expect(try scene.folder.names == ["cache"])
  }

  @Test func `a request with a body, a precondition or a strange URL passes by`() async throws {
    let scene = try Scene(Array(repeating: Reply(200, ["Cache-Control": "max-age=60"]), count: 9))
    _ = try await scene.get().body.text
    var request = HTTPCache.Request(authority: "example.org", target: "/a")
    request.hasBody = true
    _ = try await scene.respond(request)
    _ = try await scene.get(["If-Match": "\"a\""])
    #expect(scene.requests[2].fields["if-match"] == "\"a\"")
    _ = try await scene.get(["If-Unmodified-Since": date(0)])
    for _ in 1...2 { _ = try await scene.get(target: "/a b") }
    #expect(scene.requests.count == 6)
    #expect(scene.cache.statistics.forwarded == [.uriMiss: 3, .bypass: 3])
    #expect(try await scene.get().fields["number"] == "1")
  }

  @Test(arguments: ["\r", "\n", "\0"])
  func `RFC 9110, 5.5: a request that would end its lines elsewhere goes nowhere`(sign: String)
    async throws
  {
    let scene = try Scene()
    #expect(try await scene.get(["Foo": "a\(sign)b"]).status == 400)
    #expect(try await scene.get(["a\(sign)b": "1"]).status == 400)
    #expect(try await scene.get(target: "/a\(sign)b").status == 400)
    for (method, host) in [("GET", "a\(sign)"), ("A\(sign)B", "a")] {
      let request = HTTPCache.Request(method: method, authority: host, target: "/a")
      #expect(try await scene.respond(request).status == 400)
    }
    #expect(scene.requests.isEmpty)
  }

  @Test func `the hits of a second share what was made of their fields`() async throws {
    let fresh: HTTPCache.Fields = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
    let scene = try Scene([Reply(200, fresh, body: "0123")])
    var made = 0
    for (wait, asked, expected) in [
      (0, [:], 1), (0, [:], 2), (0, [:], 2), (0, ["Range": "bytes=1-2"], 3), (0, [:], 3),
      (0, ["If-None-Match": "\"a\""], 4), (1, [:], 5), (0, [:], 5), (0, ["Foo": "1"], 5),
    ] as [(Int, HTTPCache.Fields, Int)] {
      scene.clock.advance(by: .seconds(wait))
      var response = try await scene.get(asked)
      for try await _ in response.body {}
      let lines = response.convertedFields { fields in
        made += 1
        return fields.map { "\($0.name): \($0.value)" }
      }
      #expect(lines == response.fields.map { "\($0.name): \($0.value)" })
      #expect(made == expected)
      response.fields.append("A", "1")
      #expect(response.convertedFields(\.count) == lines.count + 1)
    }
    // Another type is made anew, and does not stay in the way.
    let response = try await scene.get()
    #expect(response.convertedFields(\.count) == response.fields.count)
    #expect(response.convertedFields { $0.map(\.name) } == response.fields.map(\.name))
  }

  @Test func `routes give requests rules of their own`() async throws {
    var own = HTTPCache.Policy()
    own.isShared = false
    let rules = own
    let scene = try Scene(
      Array(repeating: Reply(200, ["Cache-Control": "private, max-age=60"]), count: 9)
    ) {
      $0.route = { request in
        request.target == "/not" ? .bypassed : request.target == "/mine" ? .cached(rules) : nil
      }
    }
    for target in ["/mine", "/mine", "/not", "/not", "/a", "/a"] {
      _ = try await scene.get(target: target).body.text
    }
    #expect(scene.requests.map(\.target) == ["/mine", "/not", "/not", "/a", "/a"])
  }

  @Test func `RFC 9211: Cache-Status says what was done`() async throws {
    let scene = try Scene([
      Reply(200, ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Cache-Status": "up; hit"]),
      Reply(304),
      Reply(200, ["Cache-Control": "no-store"]),
    ]) { $0.cacheStatusName = "larder" }
    var stated: [String] = []
    for (wait, target) in [(0, "/a"), (10, "/a"), (60, "/a"), (0, "/b")] {
      scene.clock.advance(by: .seconds(wait))
      let response = try await scene.get(target: target)
      _ = try await response.body.text
      stated.append(response.fields.values(of: "cache-status").last ?? "")
    }
    #expect(
      stated == [
        "larder; fwd=uri-miss; fwd-status=200; stored", "larder; hit; ttl=50",
        "larder; fwd=stale; fwd-status=304; stored", "larder; fwd=uri-miss; fwd-status=200",
      ])
  }

  @Test(arguments: [
    ("a1", "a1"), ("1a", "\"1a\""), ("a b", "\"a b\""), ("é\"a\r\n", "\"a\""), ("*a", "\"*a\""),
    ("a\u{20dd} \u{1F1E9}b", "\" b\""),
  ])
  func `RFC 9651, 3.3: a name that is no token is a string`(name: String, written: String)
    async throws
  {
    let scene = try Scene { $0.cacheStatusName = name }
    let status = try await scene.get().fields["cache-status"]
    #expect(status == "\(written); fwd=uri-miss; fwd-status=200")
  }
}

extension HTTPCache.Fields {
  fileprivate func adding(_ name: String, _ value: String) -> Self {
    var copy = self
    copy.append(name, value)
    return copy
  }
}
