import LarderTestSupport
import Testing

@testable import LarderHTTP

private func fields(_ control: String, _ more: (String, String)...) -> HTTPCache.Fields {
  HTTPCache.Fields([("Cache-Control", control)] + more)
}

private func fresh(_ more: (String, String)...) -> HTTPCache.Fields {
  HTTPCache.Fields([("Cache-Control", "max-age=60")] + more)
}

/// Stories of stored responses that are validated, chosen among variants, or sent in parts.
@Suite(.serialized)
struct `Reuse` {}

extension `Reuse` {
  static let validation: [Case] = [
    Case(
      "validation for one user leaves what is stored for all",
      get(.origin, fresh(("ETag", "\"a\""))),
      get(.validated, status: 304, after: 61, with: ["Authorization": "x"], gives: 200),
      get(.validated, status: 304, gives: 200), get(.cached)),
    Case(
      "validation for a client that wants no store leaves what is stored",
      get(.origin, fresh(("ETag", "\"a\""))),
      get(.validated, status: 304, after: 61, with: ["Cache-Control": "no-store"], gives: 200),
      get(.validated, status: 304, gives: 200), get(.cached)),
    Case(
      "a HEAD that tells neither validator nor length renews nothing", get(.origin, fresh()),
      get(.origin, fresh(), after: 61, method: "HEAD"), get(.origin)),
    Case(
      "a field that the client hides makes no other variant of a 304",
      get(.origin, fresh(("Vary", "A"), ("Last-Modified", date(-9))), with: ["A": "1"]),
      get(
        .validated, status: 304, after: 61, with: ["A": "1", "Connection": "a"], gives: 200),
      get(.origin)),
    Case(
      "what has just become stale is stale", get(.origin, fresh()),
      get(.origin, status: 500, after: 60, gives: 500)),
    Case(
      "a change whose response cannot be passed on has been made", get(.origin, fresh()),
      get(.origin, ["Transfer-Encoding": "gzip"], method: "PUT", gives: 502), get(.origin)),
    Case(
      "a 304 without a date begins now", get(.origin, fresh(("ETag", "\"a\""))),
      get(.validated, ["Date": "none"], status: 304, after: 3600, gives: 200, ["age": "0"]),
      get(.cached, after: 59, ["age": "59"])),
    Case(
      "a 304 shortens the life", get(.origin, fresh(("ETag", "\"a\""))),
      get(.validated, ["Cache-Control": "max-age=5"], status: 304, after: 61),
      get(.cached, after: 4), get(.validated, status: 304, after: 2)),
    Case(
      "a 304 brings a cookie to one client", get(.origin, fresh(("ETag", "\"a\""))),
      get(
        .validated, ["Set-Cookie": "a=b"], status: 304, after: 61, gives: 200, ["set-cookie": "a=b"]
      ), get(.cached, ["set-cookie": ""])),
    Case(
      "a 304 brings a cookie to the only client", get(.origin, fresh(("ETag", "\"a\""))),
      get(
        .validated, ["Set-Cookie": "a=b"], status: 304, after: 61, gives: 200, ["set-cookie": "a=b"]
      ), get(.cached, ["set-cookie": "a=b"]), isShared: false),
    Case(
      "a 304 without the cookie of the client before",
      get(.origin, fresh(("ETag", "\"a\""), ("Set-Cookie", "a=b"))),
      get(.cached, ["set-cookie": "a=b"]),
      get(.validated, status: 304, after: 61, gives: 200, ["set-cookie": ""]),
      get(.cached, ["set-cookie": ""])),
    Case(
      "a cookie of what each client has to ask for",
      get(.origin, fields("public, max-age=0", ("ETag", "\"a\""), ("Set-Cookie", "a=b"))),
      get(.origin)),
    Case(
      "a 502 of the origin's changes nothing", get(.origin, fresh()),
      get(.origin, status: 502, method: "PUT", gives: 502), get(.cached)),
    Case(
      "a cookie beside a tag that is not the same", get(.origin, fresh(("ETag", "W/\"a\""))),
      get(
        .validated, ["ETag": "\"a\"", "Set-Cookie": "c=d", "X": "1"], status: 304, after: 61,
        gives: 200, ["set-cookie": "c=d", "x": ""])),
    Case(
      "a cookie of the client before beside a tag that is not the same",
      get(.origin, fresh(("ETag", "W/\"a\""), ("Set-Cookie", "a=b"))),
      get(
        .validated, ["ETag": "\"a\"", "Set-Cookie": "c=d"], status: 304, after: 61, gives: 200,
        ["set-cookie": "c=d"])),
    Case(
      "a 304 names other fields to vary by",
      get(.origin, fresh(("ETag", "\"a\"")), with: ["A": "1"]),
      get(.validated, ["Vary": "A"], status: 304, after: 61, with: ["A": "1"], gives: 200),
      get(.cached, with: ["A": "1"]), get(.origin, with: ["A": "2"])),
    Case(
      "a 304 with Vary: *", get(.origin, fresh(("ETag", "\"a\""))),
      get(.validated, ["Vary": "*"], status: 304, after: 61, gives: 200), get(.origin)),
    Case(
      "a 304 that is private", get(.origin, fresh(("ETag", "\"a\""))),
      get(.validated, ["Cache-Control": "private"], status: 304, after: 61, gives: 200),
      get(.origin)),
    Case(
      "a 304 keeps the type and takes the policy",
      get(.origin, fresh(("ETag", "\"a\""), ("Content-Type", "a/b"))),
      get(
        .validated, ["Content-Security-Policy": "x"], status: 304, after: 61,
        ["content-type": "a/b", "content-security-policy": "x"]),
      get(.cached, ["content-type": "a/b", "content-security-policy": "x"])),
    Case(
      "a 404 in place of a 304", get(.origin, fresh(("ETag", "\"a\""))),
      get(.validated, status: 404, after: 61, gives: 404), get(.origin)),
    Case(
      "a redirect in place of a 304", get(.origin, fresh(("ETag", "\"a\""))),
      get(.validated, fields("max-age=60", ("Location", "/b")), status: 301, after: 61, gives: 301),
      get(.cached, gives: 301, ["location": "/b"])),
    Case(
      "the tag has no quotes", get(.origin, fresh(("ETag", "a"))),
      get(.validated, status: 304, after: 61, gives: 200, asking: ["if-none-match": "a"])),
    Case(
      "the tag is as it came", get(.origin, fresh(("ETag", "W/\"a b\""))),
      get(.validated, status: 304, after: 61, gives: 200, asking: ["if-none-match": "W/\"a b\""])),
    Case(
      "two tags in a stored response", get(.origin, fresh(("ETag", "\"a,b\""))),
      get(.cached, with: ["If-None-Match": "\"x\", \"a,b\" , \"y\""], gives: 304)),
    Case(
      "empty elements of a list", get(.origin, fresh(("ETag", "\"a\""))),
      get(.cached, with: ["If-None-Match": ", ,\"a\","], gives: 304)),
    Case(
      "a list on two lines", get(.origin, fresh(("ETag", "\"a\""))),
      get(.cached, with: ["If-None-Match": "\"b\"", "If-None-Match": "W/\"a\""], gives: 304)),
    Case(
      "no tag is stored", get(.origin, fresh()),
      get(.cached, with: ["If-None-Match": "\"a\""], gives: 200),
      get(.cached, with: ["If-None-Match": "*"], gives: 304)),
    Case(
      "an empty If-None-Match", get(.origin, fresh(("ETag", "\"a\""))),
      get(.cached, with: ["If-None-Match": ""], gives: 200)),
    Case(
      "If-Modified-Since in the future", get(.origin, fresh(("Last-Modified", date(-9)))),
      get(.cached, with: ["If-Modified-Since": date(900)], gives: 304)),
    Case(
      "a Last-Modified that is none, and Date", get(.origin, fresh(("Last-Modified", "x"))),
      get(.cached, with: ["If-Modified-Since": date(-1)], gives: 200),
      get(.cached, with: ["If-Modified-Since": date(0)], gives: 304)),
    Case(
      "the client's date and a miss",
      get(
        .origin, fresh(("Last-Modified", date(-9))), with: ["If-Modified-Since": date(-9)],
        gives: 304, asking: ["if-modified-since": ""]), get(.cached, gives: 200)),
    Case(
      "conditions that pass by with another method",
      get(.origin, method: "POST", asking: ["if-none-match": ""]),
      get(
        .validated, with: ["If-None-Match": "\"a\""], method: "POST", gives: 200,
        asking: ["if-none-match": "\"a\""])),
    Case(
      "If-Match goes to the origin", get(.origin, fresh(("ETag", "\"a\""))),
      get(
        .origin, status: 412, with: ["If-Match": "\"b\""], gives: 412, asking: ["if-match": "\"b\""]
      ), get(.cached)),
    Case(
      "HEAD with the client's condition and a miss",
      get(
        .validated, status: 304, with: ["If-None-Match": "\"a\""], method: "HEAD", gives: 304,
        asking: ["if-none-match": "\"a\""])),
    Case(
      "HEAD updates and keeps the body's length", get(.origin, fresh(("ETag", "\"a\""))),
      get(
        .origin, fields("max-age=90", ("ETag", "\"a\""), ("Content-Length", "6")), after: 61,
        method: "HEAD"),
      get(.cached, after: 89, ["content-length": "6", "cache-control": "max-age=90"])),
    Case(
      "a 304 to a stored redirect is none",
      get(.origin, fields("max-age=1", ("ETag", "\"a\"")), status: 301), get(.origin, after: 2)),
  ]

  static let variants: [Case] = [
    Case(
      "an empty Vary", get(.origin, fresh(("Vary", "")), with: ["A": "1"]),
      get(.cached, with: ["A": "2"])),
    Case(
      "a name twice", get(.origin, fresh(("Vary", "A, a")), with: ["A": "1"]),
      get(.cached, with: ["A": "1"]), get(.origin, with: ["A": "2"])),
    Case(
      "names in another order", get(.origin, fresh(("Vary", "A, B")), with: ["A": "1", "B": "2"]),
      get(.origin, fresh(("Vary", "B, A")), with: ["A": "2", "B": "2"]),
      get(.cached, with: ["A": "1", "B": "2"], ["number": "1"])),
    Case(
      "Cookie", get(.origin, fresh(("Vary", "Cookie")), with: ["Cookie": "a=b"]),
      get(.origin, fresh(("Vary", "Cookie")), with: ["Cookie": "a=c"]),
      get(.cached, with: ["Cookie": "a=b"], ["number": "1"])),
    Case(
      "a value in another order", get(.origin, fresh(("Vary", "Accept")), with: ["Accept": "a, b"]),
      get(.origin, with: ["Accept": "b, a"])),
    Case(
      "an absent and an empty value", get(.origin, fresh(("Vary", "A"))),
      get(.origin, with: ["A": ""])),
    Case(
      "Authorization in Vary",
      get(
        .origin, fields("public, max-age=60", ("Vary", "Authorization")),
        with: ["Authorization": "x"]), get(.cached, with: ["Authorization": "x"]),
      get(.origin, with: ["Authorization": "y"]), get(.origin)),
    Case(
      "a stale variant beside a fresh one",
      get(.origin, fields("max-age=1", ("Vary", "A"), ("ETag", "\"1\"")), with: ["A": "1"]),
      get(.origin, fresh(("Vary", "A")), with: ["A": "2"]),
      get(.validated, status: 304, after: 2, with: ["A": "1"]),
      get(.cached, with: ["A": "2"], ["number": "2"])),
    Case(
      "no-store of one variant leaves the other",
      get(.origin, fresh(("Vary", "A")), with: ["A": "1"]),
      get(.origin, fields("no-store", ("Vary", "A")), with: ["A": "2"]),
      get(.cached, with: ["A": "1"])),
    Case(
      "Vary: * of one answer leaves the variants",
      get(.origin, fresh(("Vary", "A")), with: ["A": "1"]),
      get(.origin, fresh(("Vary", "*")), with: ["A": "2"]), get(.cached, with: ["A": "1"])),
    Case(
      "HEAD of a variant", get(.origin, fresh(("Vary", "A")), with: ["A": "1"]),
      get(.cached, with: ["A": "1"], method: "HEAD", gives: 200),
      get(.origin, with: ["A": "2"], method: "HEAD")),
    Case(
      "a space within a value", get(.origin, fresh(("Vary", "A")), with: ["A": "1  2"]),
      get(.origin, with: ["A": "1 2"])),
    Case(
      "commas in quotes", get(.origin, fresh(("Vary", "A")), with: ["A": "\"a,b\""]),
      get(.origin, with: ["A": "\"a, b\""])),
  ]

  @Test(arguments: validation)
  func `9111, 4.3: validation`(_ story: Case) async throws { try await story.run() }

  @Test(arguments: variants)
  func `9111, 4.1: variants`(_ story: Case) async throws { try await story.run() }

  @Test func `9110, 6.6.1: a 304 without a date is of the time when it came`() async throws {
    var reply = Reply(304)
    reply.lacksDate = true
    let scene = try Scene([Reply(200, fresh(("ETag", "\"a\""))), reply])
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(3600))
    for _ in 1...2 { #expect(try await scene.get().fields["date"] == date(3600)) }
    #expect(scene.requests.count == 2)
  }

  @Test func `9110, 14: parts of a stored body have its fields`() async throws {
    let head = fresh(("ETag", "\"a\""), ("Vary", "A"), ("Content-Location", "/b"), ("X", "1"))
    let scene = try Scene([Reply(200, head, body: "0123456789")])
    _ = try await scene.get().body.text
    let part = try await scene.get(["Range": "bytes=2-3"])
    #expect(part.status == 206 && part.fields["content-range"] == "bytes 2-3/10")
    for field in head { #expect(part.fields[field.name] == field.value) }
    #expect(part.fields["date"] == date(0) && part.fields["age"] == "0")
    // An old client's part of another version is the whole.
    let whole = try await scene.get(["Range": "bytes=2-3", "If-Range": "\"b\""])
    #expect(whole.status == 200)
    #expect(try await whole.body.text == "0123456789")
  }
}
