import Foundation
import LarderSystem
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderHTTP

private let fresh: HTTPCache.Fields = ["Cache-Control": "max-age=60", "ETag": "\"a\""]

private func varying(_ control: String) -> HTTPCache.Fields {
  ["Cache-Control": control, "ETag": "\"a\"", "Vary": "Foo"]
}

private func stream(_ count: Int, _ fields: HTTPCache.Fields, announced: Int? = nil) -> Reply {
  var reply = Reply(200, fields)
  (reply.body, reply.isStream) = (Array(repeating: 7, count: count), true)
  reply.announced = announced
  return reply
}

private final class Count: Sendable {
  let number = Mutex(0)
}

/// What one client, one origin or one disk may do to all others.
@Suite(.serialized)
struct `Harm to others` {
  private static let url = "http://example.org/a"
  private static let request = HTTPCache.Request(authority: "example.org", target: "/a")

  /// Returns the lengths of the files of entries.
  private func sizes(_ scene: Scene) throws -> [Int] {
    let directory = URL(filePath: scene.folder.path + "/cache")
    return try FileManager.default.contentsOfDirectory(
      at: directory, includingPropertiesForKeys: [.fileSizeKey, .isRegularFileKey]
    ).filter { $0.lastPathComponent.count == 32 }
      .map { try $0.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey]) }
      .filter { $0.isRegularFile == true }.map { $0.fileSize ?? 0 }
  }

  /// Opens the directory of a scene anew.
  private func reopened(
    _ scene: Scene, _ configure: (inout HTTPCache.Configuration) -> Void
  ) async throws -> HTTPCache {
    try await scene.cache.close()
    var configuration = HTTPCache.Configuration()
    configuration.storage.disk.clock = scene.clock.wallClock
    configuration.storage.disk.coherence = .none
    configure(&configuration)
    return try HTTPCache(directory: scene.folder.path + "/cache", configuration: configuration)
  }

  // MARK: Refreshes

  private static let stale: HTTPCache.Fields = [
    "Cache-Control": "max-age=1, stale-while-revalidate=600, stale-if-error=600", "ETag": "\"a\"",
  ]

  @Test(.watched, arguments: [10, 100_000], [304, 503, 0])
  func `the refresh of what a range was served from needs no body`(
    _ count: Int, _ status: Int
  ) async throws {
    let scene = try Scene([
      stream(count, Self.stale), status == 0 ? .failure : Reply(status, Self.stale),
    ])
    _ = try await scene.get().body.collect(upTo: .max)
    scene.clock.advance(by: .seconds(2))
    let conditions: HTTPCache.Fields = ["Range": "bytes=0-4", "If-None-Match": "\"x\""]
    let part = try await scene.get(conditions)
    #expect(part.status == 206)
    #expect(try await part.body.collect(upTo: 5).count == 5)
    try await reaching("the end of the refresh") {
      let isOver = await scene.cache.flights.flights.isEmpty
      return scene.requests.count == 2 && isOver
    }
    #expect(scene.requests[1].fields["range"] == nil)
    #expect(scene.requests[1].fields["if-none-match"] == "\"a\"")
    #expect(scene.cache.statistics.stale == 1)
    try await reaching("its count") {
      scene.cache.statistics.validated == (status == 304 ? 1 : 0)
    }
    #expect(try await scene.get().body.collect(upTo: .max).count == count)
  }

  @Test(.watched, arguments: [503, 0])
  func `a refresh that fails counts as no answer`(_ status: Int) async throws {
    let failure = status == 0 ? Reply.failure : Reply(status)
    let scene = try Scene([Reply(200, Self.stale)] + Array(repeating: failure, count: 20))
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(2))
    for round in 1...20 {
      #expect(try await scene.get().fields["number"] == "1")
      try await reaching("the end of the refresh") {
        let isOver = await scene.cache.flights.flights.isEmpty
        return scene.requests.count == 1 + round && isOver
      }
    }
    #expect(scene.cache.statistics.stale == 20)
  }

  @Test(.watched) func `who waits for a refresh that fails is not sent to the origin by that`()
    async throws
  {
    let scene = try Scene([Reply(200, Self.stale)]) { $0.collapseLimit = .seconds(3600) }
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(2))
    let (asked, gate) = (Count(), AsyncStream.makeStream(of: Void.self))
    let answer: @Sendable (HTTPCache.Request) async throws -> HTTPCache.Response = { _ in
      asked.number.withLock { $0 += 1 }
      for await _ in gate.stream {}
      return .init(status: 503)
    }
    _ = try await scene.cache.respond(to: Self.request, forwarding: answer)
    try await reaching("the refresh") { asked.number.withLock(\.self) == 1 }
    // It wants no stale answer while the origin is well.
    var request = Self.request
    request.fields = ["Cache-Control": "max-age=1"]
    let demanding = request
    let waiting = Task { try await scene.cache.respond(to: demanding, forwarding: answer).status }
    try await reaching("one to wait") {
      await scene.cache.flights.flights.values.contains { !$0.waiters.isEmpty }
    }
    gate.continuation.finish()
    #expect(try await waiting.value == 200)
    #expect(asked.number.withLock(\.self) == 1)
  }

  // MARK: Clients that read slowly

  @Test(.watched, arguments: [true, false])
  func `who reads an invalidated response slowly does not keep the next one from being stored`(
    _ isRemoved: Bool
  ) async throws {
    let scene = try Scene(Array(repeating: stream(5000, fresh), count: 3)) {
      $0.collapseLimit = .seconds(3600)
    }
    let slow = try await scene.get()
    if isRemoved {
      try await scene.cache.invalidate(Self.url)
    } else {
      try await scene.cache.expire(Self.url)
    }
    for _ in 1...2 { #expect(try await scene.get().body.collect(upTo: .max).count == 5000) }
    #expect(scene.requests.count == 2)
    #expect(try await slow.body.collect(upTo: .max).count == 5000)
    #expect(try await scene.get().fields["number"] == "2")
  }

  @Test(.watched, arguments: [Duration.milliseconds(1), .zero])
  func `a request that stands still ends refreshes no longer than others wait`(
    _ limit: Duration
  ) async throws {
    let scene = try Scene { $0.collapseLimit = limit }
    let flights = scene.cache.flights
    guard case .asks = await flights.join(Self.request, in: scene, after: .max) else {
      Issue.record("does not ask")
      return
    }
    try await reaching("a refresh") {
      let turn = await flights.join(Self.request, in: scene, after: nil)
      return if case .asks = turn { true } else { false }
    }
  }

  @Test func `one refresh runs at once, also if no request waits for another one`() async throws {
    let scene = try Scene { $0.collapseLimit = .zero }
    let flights = scene.cache.flights
    guard case .asks = await flights.join(Self.request, in: scene, after: nil),
      case .asks = await flights.join(Self.request, in: scene, after: .max)
    else {
      Issue.record("does not ask")
      return
    }
    let turn = await flights.join(Self.request, in: scene, after: nil)
    guard case .looks(mayWait: false) = turn else {
      Issue.record("\(turn)")
      return
    }
  }

  // MARK: Bodies

  /// Returns a response of 90,000 bytes whose client's task is cancelled behind the last of them.
  private func leaving(
    _ announced: Int?, _ scene: Scene
  ) async throws -> Task<Int, any Error> {
    let offset = Mutex(0)
    let response = try await scene.cache.respond(to: Self.request) { _ in
      let body = HTTPCache.Body(byteCount: announced) {
        let isLast = offset.withLock { offset in
          offset += 1000
          return offset > 90_000
        }
        if isLast { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
        return isLast ? nil : Array(repeating: 7, count: 1000)
      }
      return .init(status: 200, fields: fresh, body: body)
    }
    return Task { try await response.body.collect(upTo: .max).count }
  }

  @Test func `a large body is stored, also if its client is gone after the last byte`() async throws
  {
    let scene = try Scene()
    #expect(try await leaving(90_000, scene).value == 90_000)
    #expect(try sizes(scene).count == 2)
    #expect(try await scene.get().body.collect(upTo: .max).count == 90_000)
    #expect(scene.requests.isEmpty)
  }

  @Test func `a body without a length is not stored if its client is gone at its end`() async throws
  {
    let scene = try Scene()
    await #expect(throws: CancellationError.self) { try await leaving(nil, scene).value }
    try await reaching("nothing is kept") { (try? sizes(scene)) == [] }
  }

  @Test(arguments: [true, false])
  func `a body is read by one task at a time`(isStored: Bool) async throws {
    let scene = try Scene()
    let (started, gate) = (Flag(), AsyncStream.makeStream(of: Void.self))
    let response = try await scene.cache.respond(to: Self.request) { _ in
      let body = HTTPCache.Body(byteCount: nil) {
        started.set()
        for await _ in gate.stream {}
        return nil
      }
      return .init(status: 200, fields: isStored ? fresh : [:], body: body)
    }
    let first = Task { try await response.body.collect(upTo: .max) }
    try await reaching("the first waits") { started.isSet }
    await #expect(throws: HTTPCache.BodyError.readAtOnce) {
      try await response.body.collect(upTo: .max)
    }
    gate.continuation.finish()
    #expect(try await first.value == [])
  }

  @Test func `a response that the disk does not take is not said to be stored`() async throws {
    let faults = FaultInjector()
    let scene = try Scene([Reply(200, fresh), Reply(200, fresh)]) {
      ($0.storage.disk.faults, $0.cacheStatusName) = (faults, "a")
    }
    faults.plan(.errno(.readOnlyFileSystem), for: .openat, onwards: true)
    #expect(try await scene.get().fields["cache-status"] == "a; fwd=uri-miss; fwd-status=200")
    faults.reset()
    let said = try await scene.get().fields["cache-status"]
    #expect(said == "a; fwd=uri-miss; fwd-status=200; stored")
    #expect(scene.cache.statistics.notKept == 1)
  }

  @Test func `a full disk that a large body meets is an error in the statistics`() async throws {
    let faults = FaultInjector()
    let scene = try Scene([stream(90_000, fresh)]) { $0.storage.disk.faults = faults }
    faults.plan(.errno(.noSpace), for: .write, onwards: true)
    #expect(try await scene.get().body.collect(upTo: .max).count == 90_000)
    #expect(scene.cache.entries.disk.statistics.errors == [.noSpace: 1])
    #expect(scene.cache.statistics.notKept == 1)
  }

  @Test
  func `a renewal that the disk does not take leaves no large body, and is not said to be stored`()
    async throws
  {
    let faults = FaultInjector()
    let scene = try Scene([stream(90_000, fresh), Reply(304, fresh)]) {
      ($0.storage.disk.faults, $0.cacheStatusName) = (faults, "a")
    }
    _ = try await scene.get().body.collect(upTo: .max)
    scene.clock.advance(by: .seconds(61))
    faults.plan(.errno(.ioError), for: .write, onwards: true)
    let renewed = try await scene.get()
    #expect(renewed.fields["cache-status"]?.hasPrefix("a; fwd=stale; fwd-status=304") == true)
    #expect(renewed.fields["cache-status"]?.contains("stored") == false)
    faults.reset()
    #expect(try await scene.cache.entries.disk.entries().isEmpty)
  }

  @Test func `a renewal keeps a body whose file belongs to another user of the group`()
    async throws
  {
    let faults = FaultInjector()
    let scene = try Scene([stream(90_000, fresh), Reply(304, fresh)]) {
      $0.storage.disk.faults = faults
      // So that no use is stamped.
      $0.storage.disk.recencyGranularity = .seconds(3600)
    }
    _ = try await scene.get().body.collect(upTo: .max)
    scene.clock.advance(by: .seconds(61))
    // The first stamp is that of the head, which is a new file.
    faults.plan(.errno(.notPermitted), for: .futimens, at: 2)
    for _ in 0..<2 {
      #expect(try await scene.get().body.collect(upTo: .max).count == 90_000)
    }
    #expect(faults.struckCount == 1 && scene.cache.statistics.notKept == 0)
  }

  @Test func `what nobody reads and nothing stores is not read to its end`() async throws {
    let scene = try Scene { $0.bodyLimit = 40_000 }
    let ends = Count()
    final class Source: Sendable {
      let ends: Count
      init(_ ends: Count) { self.ends = ends }
      func next() -> [UInt8]? { Array(repeating: 7, count: 1000) }
      deinit { ends.number.withLock { $0 += 1 } }
    }
    let answer = try await scene.cache.respond(
      to: .init(authority: "example.org", target: "/a", fields: ["If-None-Match": "*"])
    ) { _ in
      let source = Source(ends)
      return .init(status: 200, fields: fresh, body: .init(byteCount: nil) { source.next() })
    }
    #expect(answer.status == 304)
    try await reaching("the source to be let go") { ends.number.withLock { $0 } == 1 }
  }

  @Test func `a field that is for one user is served by no shared cache that did not store it`()
    async throws
  {
    let mine: HTTPCache.Fields = [
      "Cache-Control": "private=\"Set-Cookie\", max-age=60", "Set-Cookie": "a=b",
    ]
    let scene = try Scene([Reply(200, mine)]) { $0.policy.isShared = false }
    _ = try await scene.get().body.text
    #expect(try await scene.get().fields["set-cookie"] == "a=b")
    let shared = try await reopened(scene) { _ in }
    let other = try await shared.respond(to: Self.request, forwarding: scene.origin)
    #expect(other.fields["number"] == "2")
    try await shared.close()
  }

  @Test func `a large body whose head cannot be stored is removed`() async throws {
    let scene = try Scene([Reply(200, fresh), stream(90_000, fresh)])
    _ = try await scene.get().body.text
    let name = try #require(try await scene.cache.entries.disk.entries().first?.name)
    try await scene.cache.invalidate(Self.url)
    let place = "\(scene.folder.path)/cache/\(name)/in the way"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    #expect(try await scene.get().body.collect(upTo: .max).count == 90_000)
    #expect(scene.requests.count == 2)
    #expect(scene.cache.statistics.notKept == 1)
    #expect(try sizes(scene) == [])
  }

  private static let unstored: HTTPCache.Fields = ["Cache-Control": "no-store"]

  @Test(arguments: ["GET", "POST"], [4, 6])
  func `a whole body of another length than its field says is a 502, stored or not`(
    _ method: String, _ announced: Int
  ) async throws {
    for control in ["no-store", "max-age=60"] {
      let fields: HTTPCache.Fields = [
        "Cache-Control": control, "Content-Length": "\(announced)",
      ]
      let scene = try Scene([Reply(200, fields, body: "hello")])
      var request = Self.request
      request.method = method
      #expect(try await scene.respond(request).status == 502)
    }
  }

  @Test(arguments: [(4999, 5000), (5001, 5000), (0, 5)], [true, false])
  func `a stream of another length than announced throws, also if it is not stored`(
    _ row: (Int, Int), _ isInField: Bool
  ) async throws {
    var fields = Self.unstored
    if isInField { fields.append("Content-Length", "\(row.1)") }
    let scene = try Scene([stream(row.0, fields, announced: isInField ? nil : row.1)])
    await #expect(throws: HTTPCache.BodyError.wrongLength) {
      _ = try await scene.get().body.collect(upTo: .max)
    }
  }

  @Test func `HEAD and 304 tell the length of a body that they do not have`() async throws {
    let fields = HTTPCache.Fields([("Cache-Control", "no-store"), ("Content-Length", "5")])
    let scene = try Scene([Reply(200, fields), Reply(304, fields), stream(5, fields)])
    var request = Self.request
    request.method = "HEAD"
    let head = try await scene.respond(request)
    #expect(head.status == 200 && head.fields["content-length"] == "5")
    #expect(try await head.body.collect(upTo: .max).isEmpty)
    request = Self.request
    request.fields = ["If-None-Match": "\"a\"", "If-Match": "\"a\""]
    let same = try await scene.respond(request)
    #expect(same.status == 304)
    #expect(try await same.body.collect(upTo: .max).isEmpty)
    #expect(try await scene.get().body.collect(upTo: .max).count == 5)
    // The stream of a client that knows the length, and has nothing.
    request = Self.request
    request.method = "HEAD"
    let empty = try await scene.cache.respond(to: request) { _ in
      .init(status: 200, fields: fields, body: .init(byteCount: 5) { nil })
    }
    #expect(try await empty.body.collect(upTo: .max).isEmpty)
  }

  // MARK: Rules

  @Test func `9111, 4: only-if-cached keeps no change from the origin`() async throws {
    let scene = try Scene([Reply(200, fresh), Reply(204)])
    _ = try await scene.get().body.text
    let change = HTTPCache.Request(
      method: "DELETE", authority: "example.org", target: "/a",
      fields: ["Cache-Control": "only-if-cached"])
    #expect(try await scene.respond(change).status == 204)
    #expect(try await scene.get().fields["number"] == "3")
  }

  @Test func `9211, 2.1: a stale response in place of a failure is no hit`() async throws {
    let control: HTTPCache.Fields = ["Cache-Control": "max-age=60, stale-if-error=60"]
    let scene = try Scene([Reply(200, control), .failure, Reply(503)]) {
      $0.cacheStatusName = "larder"
    }
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(70))
    var stated: [String?] = []
    for _ in 1...2 { stated.append(try await scene.get().fields["cache-status"]) }
    #expect(
      stated == ["larder; fwd=stale; ttl=-10", "larder; fwd=stale; fwd-status=503; ttl=-10"])
  }

  @Test func `9111, 5.2.2.7: what one user's cache has stored for itself is not shared`()
    async throws
  {
    let mine: HTTPCache.Fields = [
      "Cache-Control": "private, max-age=60, stale-while-revalidate=60, stale-if-error=60",
      "ETag": "\"a\"", "Set-Cookie": "a=b",
    ]
    let scene = try Scene([Reply(200, mine)]) { $0.policy.isShared = false }
    _ = try await scene.get().body.text
    #expect(try await scene.get().fields["number"] == "1")
    let shared = try await reopened(scene) { _ in }
    scene.add(Reply(200, mine))
    let other = try await shared.respond(to: Self.request, forwarding: scene.origin)
    #expect(other.fields["number"] == "2")
    #expect(scene.requests.last?.fields["if-none-match"] == nil)
    scene.add(.failure)
    await #expect(throws: OriginIsDown.self) {
      try await shared.respond(to: Self.request, forwarding: scene.origin)
    }
    let stored = HTTPCache.Stored(
      200, mine, "u", Variant(lines: []), (scene.clock.now, scene.clock.now))
    for seconds in [1, 61] as [Int64] {
      let time = scene.clock.now.adding(seconds: seconds)
      let action = HTTPCache.Policy().action(for: Self.request, stored: stored, at: time)
      guard case .validate = action else {
        Issue.record("\(action)")
        continue
      }
    }
    let isAnswer = HTTPCache.Policy().answersFailure(
      with: stored, to: Self.request, at: scene.clock.now)
    #expect(!isAnswer)
    try await shared.close()
  }

  @Test func `9110, 14.2: a range means nothing in HEAD`() async throws {
    let scene = try Scene([Reply(200, fresh), Reply(200, fresh)])
    _ = try await scene.get().body.text
    let head = HTTPCache.Request(
      method: "HEAD", authority: "example.org", target: "/a",
      fields: ["Range": "bytes=0-1", "Cache-Control": "no-cache"])
    #expect(try await scene.respond(head).status == 200)
    #expect(scene.requests.count == 2)
    _ = try await scene.get()
    #expect(scene.requests.count == 2)
  }

  @Test func `9110, 15.5.17: that no byte is in a range is not fresh for as long as the body`()
    async throws
  {
    let fields: HTTPCache.Fields = [
      "Cache-Control": "max-age=60", "CDN-Cache-Control": "max-age=60", "Expires": date(60),
      "ETag": "\"a\"", "Vary": "Foo", "Last-Modified": date(-60),
    ]
    let scene = try Scene([Reply(200, fields, body: "hello")])
    _ = try await scene.get().body.text
    let answer = try await scene.get(["Range": "bytes=5-"])
    #expect(answer.status == 416 && answer.fields["content-range"] == "bytes */5")
    for name in ["cache-control", "cdn-cache-control", "expires"] {
      #expect(!answer.fields.contains(name), "\(name)")
    }
    for name in ["etag", "date", "vary"] { #expect(answer.fields.contains(name), "\(name)") }
    #expect(scene.requests.count == 1)
  }

  // MARK: Disks

  @Test(arguments: [fresh, varying("max-age=60, stale-if-error=600")], [true, false])
  func `9111, 4.4: what the disk does not let go is not served`(
    _ fields: HTTPCache.Fields, _ isTold: Bool
  ) async throws {
    let faults = FaultInjector()
    let scene = try Scene([Reply(200, fields), Reply(200, fields)]) {
      $0.storage.disk.faults = faults
    }
    // Another URL, whose hash is not the same by chance.
    func slot(_ target: String) -> Int { "GET http://example.org\(target)".hashValue & 1023 }
    let other = slot("/a") == slot("/b") ? "/c" : "/b"
    for target in ["/a", other] { _ = try await scene.get(target: target).body.text }
    scene.clock.advance(by: .seconds(1))
    for call in [SystemCall.unlinkat, .renameat] {
      faults.plan(.errno(.readOnlyFileSystem), for: call, onwards: true)
    }
    let count = scene.cache.statistics.notKept
    if isTold {
      await #expect(throws: CacheError.self) { try await scene.cache.invalidate(Self.url) }
    } else {
      let change = HTTPCache.Request(method: "PUT", authority: "example.org", target: "/a")
      #expect(try await scene.respond(change).status == 200)
      #expect(scene.cache.statistics.notKept == count + 1)
    }
    // Nor if the origin fails, nor if another response to it cannot be stored.
    scene.add(.failure)
    await #expect(throws: OriginIsDown.self) { try await scene.get() }
    for _ in 1...2 {
      scene.clock.advance(by: .seconds(1))
      scene.add(Reply(200, fields))
      let before = scene.requests.count
      #expect(try await scene.get().body.text == "body \(before + 1)")
    }
    #expect(try await scene.get(target: other).body.text == "body 2")
    // What comes when the disk is well again is stored, and served.
    faults.reset()
    let last = scene.requests.count + 1
    scene.add(Reply(200, fields))
    for _ in 1...2 {
      scene.clock.advance(by: .seconds(1))
      #expect(try await scene.get().body.text == "body \(last)")
    }
    #expect(scene.requests.count == last)
  }

  // MARK: Times

  @Test(arguments: [fresh, varying("max-age=0")])
  func `what a route's rules have stored can be made stale`(_ fields: HTTPCache.Fields) async throws
  {
    var rules = HTTPCache.Policy()
    rules.targetedFields = ["CDN-Cache-Control"]
    let route = HTTPCache.Route.cached(rules)
    let scene = try Scene { $0.route = { _ in route } }
    var reply = Reply(200, fields)
    reply.fields.append("CDN-Cache-Control", "max-age=864000")
    scene.add(reply)
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(3 * 86_400))
    #expect(try await scene.cache.expire(Self.url))
    scene.add(Reply(304))
    #expect(try await scene.get().body.text == "body 1")
    #expect(scene.requests.last?.fields["if-none-match"] == "\"a\"")
  }

  @Test(arguments: [fresh, varying("max-age=60")])
  func `what is not kept past its freshness can be made stale`(_ fields: HTTPCache.Fields)
    async throws
  {
    let scene = try Scene([Reply(200, fields)]) { $0.retention = .zero }
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(10))
    #expect(try await scene.cache.expire(Self.url))
    scene.add(Reply(304))
    #expect(try await scene.get().body.text == "body 1")
    #expect(scene.requests.last?.fields["if-none-match"] == "\"a\"")
  }

  @Test func `that responses vary is known for as long as the last one of them is kept`()
    async throws
  {
    let scene = try Scene { $0.retention = .seconds(100) }
    let disk = scene.cache.entries.disk
    func expiry() async throws -> Int64? {
      try await disk.entry(forKey: CacheKey("GET \(Self.url)"))?.expiry?.seconds
    }
    for (foo, fresh) in [("1", 60), ("2", 600)] as [(String, Int64)] {
      scene.add(Reply(200, varying("max-age=\(fresh)")))
      _ = try await scene.get(["Foo": foo]).body.text
      #expect(try await expiry() == 1_700_000_100 + fresh)
    }
    // One that is kept for a shorter time takes nothing of the time of the others.
    scene.add(Reply(200, varying("max-age=10")))
    _ = try await scene.get(["Foo": "3"]).body.text
    #expect(try await expiry() == 1_700_000_700)
    scene.clock.advance(by: .seconds(500))
    #expect(try await scene.get(["Foo": "2"]).fields["number"] == "2")
    scene.clock.advance(by: .seconds(201))
    #expect(try await disk.entry(forKey: CacheKey("GET \(Self.url)")) == nil)
  }

  @Test func `time passes also while a clock that was set back is behind`() async throws {
    let scene = try Scene()
    #expect(scene.cache.now == scene.clock.now)
    scene.clock.advance(by: .seconds(-3600))
    var last = scene.cache.now
    #expect(last >= scene.clock.now.adding(seconds: 3600))
    for _ in 1...3 {
      let start = ContinuousClock.now
      while start.duration(to: .now) < .milliseconds(2) { await Task.yield() }
      let next = scene.cache.now
      #expect(next >= last.adding(.milliseconds(2)))
      last = next
    }
    // A step forth that is still behind takes nothing back, and one past it counts.
    scene.clock.advance(by: .seconds(3600))
    #expect(scene.cache.now >= last)
    scene.clock.advance(by: .seconds(3600))
    #expect(scene.cache.now == scene.clock.now)
  }

  @Test func `space around a value is none of it`() {
    let fields: HTTPCache.Fields = ["Content-Length": " 6 \t", "ETag": "\"a\" "]
    #expect(fields["content-length"] == "6" && fields["etag"] == "\"a\"")
  }

  @Test func `what a validation brings for one client comes to it, also if nothing is stored`()
    async throws
  {
    let rules = "max-age=60, private=\"Set-Cookie\""
    let scene = try Scene([
      Reply(200, ["Cache-Control": rules, "ETag": "\"a\""]),
      Reply(304, ["Cache-Control": rules, "ETag": "\"a\"", "Set-Cookie": "sid=1"]),
    ])
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(61))
    let answer = try await scene.get(["Authorization": "x"])
    #expect(answer.status == 200 && answer.fields["set-cookie"] == "sid=1")
  }
}
