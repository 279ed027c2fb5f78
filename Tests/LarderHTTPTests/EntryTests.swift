import LarderTestSupport
import Testing

@testable import LarderHTTP

/// Files that this module wrote, and files that it did not.
struct `Files as responses` {
  private static let times = "times 1970-01-01T00:00:01Z 1970-01-01T00:00:02Z"
  private static let examples: [String] = [
    """
    GET http://example.org/a\nvary foo: 1\nvary bar
    times 2023-11-14T22:13:20Z 2023-11-14T22:13:21.500000000Z
    outdated 2023-11-14T22:13:22Z\nbody 5\n\nHTTP/1.1 200\r\nCache-Control: max-age=60\r
    Age: 5\r\nExpires: 0\r\nLast-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\nETag: "a"\r\n\r\nhello
    """,
    "GET u\n\(times)\nbody 1048576 9a3f\n\nHTTP/1.1 404\r\n\r\n",
    // A mark that joins the space before it to one character.
    "GET u\nvary a: \u{592}\n\(times)\nbody 0\n\n"
      + "HTTP/1.1 404\r\nA: \u{592}\r\n\r\n",
    "GET u\nvary bar\nvary foo\n\(times)\n"
      + "outdated 1970-01-01T00:00:07.000000001Z\nvariants ff00\n\nHTTP/1.1 300\r\n\r\n",
  ]

  @Test(arguments: examples)
  func `what is decoded is encoded to the same bytes`(_ text: String) throws {
    let entry = try Coder<HTTPCache.Stored>.entry.decode(Array(text.utf8))
    #expect(
      String(decoding: try Coder<HTTPCache.Stored>.entry.encode(entry), as: UTF8.self) == text)
  }

  @Test(arguments: [
    "", "\n", "GET u\n", "GET u\n\n", "GET u\nbody 0\n\nHTTP/1.1 200\r\n\r\n",
    "GET u\ntimes 1 2\nbody 0\n\nHTTP/1.1 200\r\n\r\n",
    "GET u\n\(times)\nbody 1\n\nHTTP/1.1 200\r\n\r\n",
    "GET u\n\(times)\nbody -1\n\nHTTP/1.1 200\r\n\r\n",
    "GET u\n\(times)\nbody 0\n\nHTTP/1.1 99\r\n\r\n",
    "GET u\n\(times)\nbody 0\n\nHTTP/1.1 200\r\nA\r\n\r\n",
    "GET u\n\(times)\nbody 0\n\nHTTP/1.1 200\r\nA B: 1\r\n\r\n",
    "GET u\n\(times)\nbody 0\n\nHTTP/1.1 200\r\nA: \0\r\n\r\n",
    "GET u\ntimes +99999-01-01T00:00:01Z 1970-01-01T00:00:02Z\nbody 0\n\nHTTP/1.1 200\r\n\r\n",
    "GET u\nvary a\n\(times)\nvariants x\n\nHTTP/1.1 300\r\n\r\n",
  ])
  func `other bytes are a miss`(_ text: String) {
    #expect(throws: WrongEntry.self) {
      _ = try Coder<HTTPCache.Stored>.entry.decode(Array(text.utf8))
    }
  }

  @Test func `a field without a value is kept`() throws {
    let fields: HTTPCache.Fields = ["A": "", "B": "1", "A": "", "Cache-Control": "max-age=60"]
    let request = HTTPCache.Request(authority: "example.org", target: "/a")
    let time = Timestamp(seconds: 1_700_000_000)
    guard
      case .store(let stored) = HTTPCache.Policy().verdict(
        on: .init(status: 200, fields: fields), to: request, previous: nil, sent: time, at: time)
    else {
      Issue.record("not stored")
      return
    }
    let coder = Coder<HTTPCache.Stored>.entry
    let read = try coder.decode(coder.encode(stored.with(.bytes([]))))
    let answer = read.response(to: request, .init([]), at: time).fields
    #expect(answer.values(of: "a") == ["", ""] && answer["b"] == "1")
  }

  /// Pieces of which heads are made: what means something, and what is near to it.
  private static let pieces = [
    "max-age=", "max-age", "s-maxage=", "no-cache", "no-store", "private", "public", "=", "\"",
    "\\",
    ",", ";", " ", "\t", "0", "1", "60", "99999999999999999999", "-1", "must-revalidate", "W/", "*",
    "stale-if-error=", "stale-while-revalidate=", "bytes=", "-", "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Foo", "é", "\u{7f}", "(", ")",
    "?1", ":", "@", "..", "/", "http://example.org/", "//", "#", "only-if-cached", "max-stale",
    "min-fresh=",
  ]
  private static let names = [
    "Cache-Control", "Expires", "Age", "Date", "Last-Modified", "ETag", "Vary", "Connection",
    "CDN-Cache-Control", "Pragma", "Range", "If-Range", "If-None-Match", "If-Modified-Since",
    "Authorization", "Location", "Content-Location", "Content-Length", "Set-Cookie", "Foo",
  ]

  private static func fields(_ random: inout SeededRandom) -> HTTPCache.Fields {
    HTTPCache.Fields(
      (0..<Int.random(in: 0...6, using: &random)).map { _ in
        let value = (0..<Int.random(in: 0...5, using: &random)).map { _ in
          pieces.randomElement(using: &random) ?? ""
        }
        return (names.randomElement(using: &random) ?? "A", value.joined())
      })
  }

  @Test(arguments: 1...8)
  func `no head makes the rules trap, store what is forbidden or answer with a negative age`(
    _ seed: Int
  ) throws {
    var random = SeededRandom(seed: UInt64(seed))
    var policy = HTTPCache.Policy()
    policy.targetedFields = ["CDN-Cache-Control"]
    policy.staleIfError = .seconds(60)
    for _ in 0..<500 {
      let times = (0..<3).map { _ in
        Timestamp(seconds: .random(in: 0...1 << 37, using: &random))
      }
      let request = HTTPCache.Request(
        method: ["GET", "GET", "HEAD", "POST"].randomElement(using: &random) ?? "GET",
        authority: "example.org", target: "/a", fields: Self.fields(&random))
      let response = HTTPCache.Response(
        status: [200, 200, 206, 304, 404, 503, 599].randomElement(using: &random) ?? 200,
        fields: Self.fields(&random))
      let verdict = policy.verdict(
        on: response, to: request, previous: nil, sent: times[0], at: times[1])
      guard case .store(let stored) = verdict else { continue }
      let control = response.fields["cache-control"]?.lowercased() ?? ""
      #expect(request.method == "GET" && ![206, 304].contains(response.status))
      let (rules, isFromCacheControl) = stored.rules(policy)
      #expect(!rules.has("private") && (!rules.has("no-store") || rules.has("must-understand")))
      #expect(!isFromCacheControl || !Directives(control).has("private"))
      // RFC 9111, 3.5.
      let permits = ["public", "must-revalidate", "s-maxage"].contains(where: rules.has)
      #expect(!request.fields.contains("authorization") || permits)
      #expect(stored.age(at: times[2]) >= 0)
      let coder = Coder<HTTPCache.Stored>.entry
      let read = try coder.decode(coder.encode(stored))
      #expect(read.fields == stored.fields)
      let later = HTTPCache.Request(
        authority: "example.org", target: "/a", fields: Self.fields(&random))
      _ = policy.action(for: later, stored: read, at: times[2])
      _ = policy.answersFailure(with: read, to: later, at: times[2])
      let answer = read.response(to: later, .init([]), at: times[2])
      #expect(!answer.fields.values(of: "age").contains { $0.hasPrefix("-") })
      _ = policy.verdict(
        on: .init(status: 304, fields: Self.fields(&random)), to: later, previous: read,
        sent: times[1], at: times[2])
    }
  }

  @Test(arguments: 1...4)
  func `no change of a file makes reading it trap`(_ seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    for _ in 0..<1000 {
      var bytes = Array((Self.examples.randomElement(using: &random) ?? "").utf8)
      for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = .random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(contentsOf: bytes[place...].prefix(9), at: place)
        default: bytes.removeSubrange(place...)
        }
      }
      do {
        let stored = try Coder<HTTPCache.Stored>.entry.decode(bytes)
        let time = Timestamp(seconds: .random(in: 0...1 << 40, using: &random))
        #expect(stored.age(at: time) >= 0)
        _ = stored.isTrusted(at: time)
      } catch {
        #expect(error is WrongEntry)
      }
    }
  }
}
