@testable import Larder
@testable import LarderHTTP
@testable import LarderSystem

// Heads and stored files. No bytes make the rules or the reader of files trap; what is stored may
// be stored, is read as it was written, and has no negative age.
func fuzz(_ bytes: [UInt8]) {
  if bytes.first == UInt8(ascii: "G"), let stored = entry(bytes) {
    use(stored, HTTPCache.Request(authority: "a", target: "/"), at: Timestamp(seconds: 1 << 31))
  }
  // Lines of a request, of a response and of a later request, with an empty one between them.
  let parts = bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).map(fields)
  guard parts.count == 3 else { return }
  let time = Timestamp(seconds: 1_700_000_000)
  let request = HTTPCache.Request(authority: "a", target: "/", fields: parts[0])
  let response = HTTPCache.Response(status: 200, fields: parts[1])
  var policy = HTTPCache.Policy()
  policy.targetedFields = ["CDN-Cache-Control"]
  guard parts.allSatisfy(\.areValid),
    case .store(let new) = policy.verdict(
      on: response, to: request, previous: nil, sent: time, at: time)
  else { return }
  // Judged by the response as it came: what is stored lacks the fields that a directive names, and
  // no rule may be gone with them.
  let whole = HTTPCache.Stored(
    200, response.fields.endToEnd, request.key, new.variant, (time, time))
  let rules = whole.rules(policy).directives
  require(new.age(at: time) == whole.age(at: time), "another age")
  require(new.lifetime(policy).seconds <= whole.lifetime(policy).seconds, "fresh for longer")
  require(new.fields["vary"] == whole.fields["vary"], "a 304 would make another variant")
  for name in ["no-cache", "must-revalidate", "proxy-revalidate"] where rules.has(name) {
    require(new.rules(policy).directives.has(name), "\(name) is gone")
  }
  require(!rules.has("private"), "private is stored")
  require(!rules.has("no-store") || rules.has("must-understand"), "no-store is stored")
  require(!request.control.has("no-store"), "stored against the request")
  // RFC 9111, 3.5.
  require(
    !request.fields.contains("authorization")
      || ["public", "must-revalidate", "s-maxage"].contains(where: rules.has),
    "stored to Authorization")
  let stored = new.with(.bytes([1, 2, 3]))
  guard let read = entry(written(stored)) else {
    fatalError("not read as it was written")
  }
  require(read.fields == stored.fields && read.variant == stored.variant, "read otherwise")
  let later = HTTPCache.Request(authority: "a", target: "/", fields: parts[2])
  use(read, later, at: time.adding(seconds: 10))
  _ = policy.verdict(
    on: HTTPCache.Response(status: 304, fields: parts[2]), to: later, previous: read, sent: time,
    at: time)
}

private func use(_ stored: HTTPCache.Stored, _ request: HTTPCache.Request, at time: Timestamp) {
  let policy = HTTPCache.Policy()
  require(stored.age(at: time) >= 0, "a negative age")
  _ = policy.action(for: request, stored: stored, at: time)
  _ = policy.answersFailure(with: stored, to: request, at: time)
  let body = HTTPCache.Body(Array(repeating: 0, count: min(stored.content.byteCount, 1 << 16)))
  guard stored.content.byteCount == body.byteCount else { return }
  _ = stored.response(to: request, body, at: time)
}

private func entry(_ bytes: [UInt8]) -> HTTPCache.Stored? {
  do { return try Coder<HTTPCache.Stored>.entry.decode(bytes) } catch { return nil }
}

private func written(_ stored: HTTPCache.Stored) -> [UInt8] {
  do { return try Coder<HTTPCache.Stored>.entry.encode(stored) } catch { fatalError("\(error)") }
}

private func fields(_ bytes: ArraySlice<UInt8>) -> HTTPCache.Fields {
  HTTPCache.Fields(
    bytes.split(separator: UInt8(ascii: "\n")).map { line in
      let parts = line.split(
        separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
      let text = parts.map { String(decoding: $0, as: UTF8.self) }
      return (text[0], text.count > 1 ? String(text[1][...].trimmed) : "")
    })
}
