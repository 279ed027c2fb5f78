import Foundation
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderHTTP

private let fresh: HTTPCache.Fields = ["Cache-Control": "max-age=60", "ETag": "\"a\""]

/// What lies in the directory, and how bodies get there.
@Suite(.serialized)
struct `Stored responses` {}

extension `Stored responses` {
  /// Returns the files of the cache by the first line.
  private func files(_ scene: Scene) throws -> [String: String] {
    let directory = scene.folder.path + "/cache"
    let names = try FileManager.default.contentsOfDirectory(atPath: directory)
      .filter { $0.count == 32 }
    var files: [String: String] = [:]
    for name in names {
      let data = try #require(FileManager.default.contents(atPath: "\(directory)/\(name)"))
      let text = String(decoding: data, as: UTF8.self)
      files[String(text.prefix { $0 != "\n" }) + (text.contains("\nvariants ") ? " marker" : "")] =
        text
    }
    return files
  }

  @Test func `a file is a response as on the wire behind lines that say whose it is`() async throws
  {
    let scene = try Scene([Reply(200, fresh, body: "hello")])
    _ = try await scene.get(target: "/a?b=c").body.text
    let file = try #require(try files(scene)["GET http://example.org/a?b=c"])
    #expect(
      file == """
        GET http://example.org/a?b=c
        times 2023-11-14T22:13:20Z 2023-11-14T22:13:20Z
        body 5

        HTTP/1.1 200\r
        Cache-Control: max-age=60\r
        ETag: "a"\r
        Date: Tue, 14 Nov 2023 22:13:20 GMT\r
        Number: 1\r
        Content-Length: 5\r
        \r
        hello
        """)
  }

  @Test(arguments: [65_400, 65_438, 65_450, 65_480, 65_500])
  func `what is stored can be read again, however long its head is`(_ count: Int) async throws {
    for lacksDate in [true, false] {
      var reply = Reply(200, ["Cache-Control": "max-age=60"])
      reply.fields.append("A", String(repeating: "a", count: count))
      reply.lacksDate = lacksDate
      let scene = try Scene([reply])
      _ = try await scene.get().body.text
      for file in try files(scene).values {
        _ = try Coder<HTTPCache.Stored>.entry.decode(Array(file.utf8))
      }
    }
  }

  @Test func `a disk cache on the directory shares the counters and tells removals`() async throws {
    let scene = try Scene([Reply(200, fresh, body: "hello")])
    let disk = try DiskCache(
      directory: scene.folder.path + "/cache",
      configuration: scene.cache.configuration.storage.disk)
    var removals = disk.removals().makeAsyncIterator()
    _ = try await scene.get().body.text
    #expect(disk.statistics.stores == 1)
    #expect(try await disk.count() == 1)
    try await scene.cache.invalidate("http://example.org/a")
    #expect(await removals.next()?.cause == .explicit)
    #expect(disk.statistics.removals == [.explicit: 1])
    try await disk.close()
  }

  @Test func `variants lie beside a marker, whose removal removes all`() async throws {
    var fields = fresh
    fields.append("Vary", "Foo")
    let scene = try Scene([Reply(200, fields), Reply(200, fields)])
    for foo in ["1", "2", "1", "2"] { _ = try await scene.get(["Foo": foo]).body.text }
    #expect(scene.requests.count == 2)
    let all = try files(scene)
    #expect(all.keys.contains("GET http://example.org/a marker"))
    #expect(all["GET http://example.org/a"]?.contains("\nvary foo: ") == true)
    try await scene.cache.invalidate("http://example.org/a")
    #expect(try !files(scene).keys.contains("GET http://example.org/a marker"))
    _ = try await scene.get(["Foo": "1"]).body.text
    #expect(scene.requests.count == 3)
  }

  @Test(
    arguments: [0, 1, 999, 16 << 10, (16 << 10) + 1, 64 << 10, (64 << 10) + 1, 300_000],
    [true, false])
  func `a body of any length comes back whole, also after the cache was opened anew`(
    _ count: Int, _ isAnnounced: Bool
  ) async throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    var reply = Reply(200, fresh)
    (reply.body, reply.isStream, reply.announced) = (bytes, true, isAnnounced ? count : nil)
    let scene = try Scene([reply])
    for _ in 1...2 {
      #expect(try await scene.get().body.collect(upTo: count) == bytes)
    }
    #expect(scene.requests.count == 1)
    try await scene.cache.close()
    var configuration = HTTPCache.Configuration()
    configuration.storage.disk.clock = scene.clock.wallClock
    configuration.storage.disk.coherence = .none
    let other = try HTTPCache(directory: scene.folder.path + "/cache", configuration: configuration)
    let request = HTTPCache.Request(authority: "example.org", target: "/a")
    let response = try await other.respond(to: request, forwarding: scene.origin)
    #expect(response.body.byteCount == count)
    #expect((response.body.file != nil) == (count > 64 << 10))
    #expect((response.body.bytes != nil) == (count <= 64 << 10))
    #expect(try await response.body.collect(upTo: count) == bytes)
    #expect(response.fields["content-length"] == "\(count)")
    #expect(scene.requests.count == 1)
    try await other.close()
  }

  @Test func `a range of a large body is read from its file, after the entry is gone too`()
    async throws
  {
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 256) }
    var reply = Reply(200, fresh)
    reply.body = bytes
    let scene = try Scene([reply])
    _ = try await scene.get().body.collect(upTo: .max)
    let part = try await scene.get(["Range": "bytes=70000-150000"])
    try await scene.cache.invalidate("http://example.org/a")
    #expect(part.body.byteCount == 80_001)
    #expect(try await part.body.collect(upTo: .max) == Array(bytes[70_000...150_000]))
  }

  @Test func `a 304 writes the head of a large response and leaves its body`() async throws {
    var reply = Reply(200, fresh)
    reply.body = Array(repeating: 7, count: 100_000)
    let scene = try Scene([reply, Reply(304, ["A": "2"])])
    _ = try await scene.get().body.collect(upTo: .max)
    let directory = scene.folder.path + "/cache"
    func inodes() throws -> [Int: UInt64] {
      var inodes: [Int: UInt64] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: directory)
      where name.count == 32 {
        let facts = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
        inodes[facts[.size] as? Int ?? 0] = facts[.systemFileNumber] as? UInt64
      }
      return inodes
    }
    let before = try inodes()
    scene.clock.advance(by: .seconds(61))
    #expect(try await scene.get().fields["a"] == "2")
    let after = try inodes()
    #expect(before[100_000] != nil)
    #expect(before[100_000] == after[100_000])
    #expect(try await scene.get().body.collect(upTo: .max).count == 100_000)
    #expect(scene.requests.count == 2)
  }

  @Test func `an older large body goes with its response`() async throws {
    var reply = Reply(200, fresh)
    reply.body = Array(repeating: 7, count: 100_000)
    let scene = try Scene([reply, reply])
    _ = try await scene.get().body.collect(upTo: .max)
    scene.clock.advance(by: .seconds(61))
    _ = try await scene.get().body.collect(upTo: .max)
    #expect(try files(scene).count == 2)
    try await scene.cache.invalidate("http://example.org/a")
    #expect(try files(scene).isEmpty)
  }

  @Test func `a head whose body is gone is a miss`() async throws {
    var reply = Reply(200, fresh)
    reply.body = Array(repeating: 7, count: 100_000)
    let scene = try Scene([reply, Reply(200, fresh, body: "new")])
    _ = try await scene.get().body.collect(upTo: .max)
    let large = try await scene.cache.entries.disk.entries().first { $0.byteCount == 100_000 }
    let name = try #require(large?.name)
    try FileManager.default.removeItem(atPath: "\(scene.folder.path)/cache/\(name)")
    #expect(try await scene.get().body.text == "new")
  }

  @Test(
    arguments: [(999, 1000), (1001, 1000), (30_000, 30_001), (30_001, 30_000), (0, 5)],
    [true, false])
  func `a body of another length than announced throws and is not stored`(
    _ row: (Int, Int), _ isInField: Bool
  ) async throws {
    var reply = Reply(200, fresh)
    reply.body = Array(repeating: 7, count: row.0)
    reply.isStream = true
    if isInField {
      reply.fields.append("Content-Length", "\(row.1)")
    } else {
      reply.announced = row.1
    }
    let scene = try Scene([reply])
    await #expect(throws: HTTPCache.BodyError.wrongLength) {
      _ = try await scene.get().body.collect(upTo: .max)
    }
    _ = try await scene.get().body.collect(upTo: .max)
    #expect(scene.requests.count == 2)
  }

  @Test(arguments: [true, false], [true, false])
  func `a body over the limit passes, is not stored, and ends waiting`(
    _ isAnnounced: Bool, _ isOfDisk: Bool
  ) async throws {
    var reply = Reply(200, fresh)
    (reply.body, reply.isStream) = (Array(repeating: 7, count: 50_000), true)
    reply.announced = isAnnounced ? 50_000 : nil
    let faults = FaultInjector()
    // The file without a name is for what is written.
    if isAnnounced { faults.plan(.errno(.ioError), for: .write, onwards: true) }
    let scene = try Scene([reply, reply]) {
      if isOfDisk { $0.storage.disk.sizeLimit = 40_000 } else { $0.bodyLimit = 40_000 }
      $0.storage.disk.faults = faults
    }
    for _ in 1...2 { #expect(try await scene.get().body.collect(upTo: .max).count == 50_000) }
    #expect(scene.requests.count == 2)
    #expect(try files(scene).isEmpty)
    #expect(scene.cache.statistics.notKept == (isAnnounced ? 0 : 2))
    let request = HTTPCache.Request(authority: "example.org", target: "/a")
    let flights = scene.cache.flights
    guard case .asks(let flight) = await flights.join(request, in: scene, after: .max) else {
      Issue.record("it waits")
      return
    }
    #expect(await flights.flights[flight]?.isShared == false)
  }

  @Test(arguments: [true, false])
  func `a body over the limit outdates the response before`(_ isAnnounced: Bool) async throws {
    var large = Reply(200, fresh)
    (large.body, large.isStream) = (Array(repeating: 7, count: 50_000), true)
    large.announced = isAnnounced ? 50_000 : nil
    let scene = try Scene([Reply(200, fresh), large]) { $0.bodyLimit = 40_000 }
    _ = try await scene.get().body.text
    let newer = try await scene.get(["Cache-Control": "no-cache"])
    #expect(try await newer.body.collect(upTo: .max).count == 50_000)
    #expect(try await scene.get().fields["number"] == "3")
    #expect(scene.requests.last?.fields["if-none-match"] == nil)
  }

  @Test func `what has come since is not removed with an older response`() async throws {
    let scene = try Scene([Reply(200, fresh)])
    _ = try await scene.get().body.text
    let request = HTTPCache.Request(authority: "example.org", target: "/a")
    var exchange = Exchange(
      cache: scene.cache, request: request, forwarding: scene.origin, policy: .init(),
      key: request.key, reason: .stale)
    try await exchange.lookUp()
    scene.clock.advance(by: .seconds(1))
    scene.add(Reply(200, fresh))
    #expect(try await scene.get(["Cache-Control": "no-cache"]).body.text == "body 2")
    await exchange.publish(nil)
    #expect(try await scene.get().body.text == "body 2")
    try await exchange.lookUp()
    await exchange.publish(nil)
    #expect(try await scene.get().body.text == "body 3")
  }

  @Test func `a client that goes leaves nothing`() async throws {
    for count in [3000, 90_000] {
      var reply = Reply(200, fresh)
      (reply.body, reply.isStream) = (Array(repeating: 7, count: count), true)
      let scene = try Scene([reply, reply])
      do {
        var pieces = try await scene.get().body.makeAsyncIterator()
        for _ in 1...(count / 2000) { #expect(try await pieces.next()?.count == 1000) }
      }
      #expect(try await scene.get().body.collect(upTo: .max).count == count)
      #expect(scene.requests.count == 2)
    }
  }

  @Test func `a full cache, or one that only reads, passes everything on`() async throws {
    let scene = try Scene([Reply(200, fresh), Reply(200, fresh)]) { $0.storage.disk.sizeLimit = 0 }
    for number in 1...2 { #expect(try await scene.get().fields["number"] == "\(number)") }
    #expect(scene.cache.statistics.notKept == 2)
    try await scene.cache.close()
    await #expect(throws: CacheError.self) { try await scene.get() }
  }

  @Test func `what is stored while its URL is invalidated is not kept`() async throws {
    for count in [2000, 90_000] {
      var reply = Reply(200, fresh)
      (reply.body, reply.isStream) = (Array(repeating: 7, count: count), true)
      let scene = try Scene([reply, Reply(204), reply])
      var pieces = try await scene.get().body.makeAsyncIterator()
      _ = try await pieces.next()
      _ = try await scene.respond(.init(method: "DELETE", authority: "example.org", target: "/a"))
      while try await pieces.next() != nil {}
      #expect(try files(scene).isEmpty)
      #expect(try await scene.get().fields["number"] == "3")
    }
  }
}

/// Requests that come while another one for the same URL is at the origin.
struct `Requests at once` {
  /// An origin that answers when the test lets it, by `body` of the request's `Foo`.
  final class SlowOrigin: Sendable {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>(
      (false, []))
    private let seen = Mutex<[HTTPCache.Request]>([])
    let reply: @Sendable (HTTPCache.Request) throws -> HTTPCache.Response

    init(_ reply: @escaping @Sendable (HTTPCache.Request) throws -> HTTPCache.Response) {
      self.reply = reply
    }

    var count: Int { seen.withLock { $0.count } }

    @Sendable func answer(_ request: HTTPCache.Request) async throws -> HTTPCache.Response {
      seen.withLock { $0.append(request) }
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if !state.isOpen { state.waiting.append(continuation) }
          return state.isOpen
        }
        if isOpen { continuation.resume() }
      }
      return try reply(request)
    }

    func open() {
      let waiting = state.withLock { state in
        state.isOpen = true
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
    }
  }

  /// Starts requests, opens the origin when all have gone there or wait, and returns the results.
  private func send(
    _ count: Int, to origin: SlowOrigin, _ scene: Scene, atOrigin expected: Int = 1,
    _ fields: @escaping @Sendable (Int) -> HTTPCache.Fields = { _ in [:] }
  ) async throws -> [Result<String, any Error>] {
    try await withThrowingTaskGroup(of: Result<String, any Error>.self) { group in
      for index in 0..<count {
        group.addTask {
          do {
            let request = HTTPCache.Request(
              authority: "example.org", target: "/a", fields: fields(index))
            let response = try await scene.cache.respond(to: request, forwarding: origin.answer)
            let said = response.fields["cache-status"].map { " \($0)" } ?? ""
            return .success("\(response.status) \(try await response.body.text)\(said)")
          } catch {
            return .failure(error)
          }
        }
      }
      try await reaching("all to wait") {
        guard origin.count >= expected else { return false }
        return await scene.cache.flights.waiterCount == count - expected
      }
      origin.open()
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  private func scene(_ limit: Duration = .seconds(3600)) throws -> Scene {
    try Scene { $0.collapseLimit = limit }
  }

  /// Starts a request that stays at the origin until its task is cancelled.
  private func hanging(
    _ request: HTTPCache.Request, _ scene: Scene
  ) async throws -> Task<HTTPCache.Response, any Error> {
    let task = Task {
      try await scene.cache.respond(to: request) { _ in
        while !Task.isCancelled { await Task.yield() }
        throw CancellationError()
      }
    }
    try await reaching("the origin") { await scene.cache.flights.count == 1 }
    return task
  }

  @Test(.watched) func `one request for a response that is stored`() async throws {
    let scene = try scene()
    let origin = SlowOrigin { _ in .init(status: 200, fields: fresh, body: .init([65])) }
    let results = try await send(50, to: origin, scene)
    #expect(results.allSatisfy { (try? $0.get()) == "200 A" })
    #expect(origin.count == 1)
    #expect(scene.cache.statistics.collapsed == 49)
  }

  @Test(.watched) func `9211, 2.6: a response that was waited for is no hit`() async throws {
    let scene = try Scene { ($0.collapseLimit, $0.cacheStatusName) = (.seconds(3600), "a") }
    let origin = SlowOrigin { _ in .init(status: 200, fields: fresh, body: .init([65])) }
    let texts = try await send(3, to: origin, scene).map { try $0.get() }
    #expect(texts.filter { $0 == "200 A a; fwd=uri-miss; collapsed; ttl=60" }.count == 2)
  }

  @Test(.watched) func `one request a variant`() async throws {
    let scene = try scene()
    var fields = fresh
    fields.append("Vary", "Foo")
    let vary = fields
    let origin = SlowOrigin { request in
      .init(status: 200, fields: vary, body: .pieces(Array((request.fields["foo"] ?? "").utf8)))
    }
    let results = try await send(200, to: origin, scene) {
      ["Foo": $0.isMultiple(of: 2) ? "x" : "y"]
    }
    let texts = try results.map { try $0.get() }
    #expect(texts.filter { $0 == "200 x" }.count == 100)
    #expect(texts.filter { $0 == "200 y" }.count == 100)
    #expect(origin.count == 2)
  }

  @Test(.watched, arguments: ["no-cache", "max-age=0"])
  func `a request each for what is validated each time, and no waiting once that is known`(
    rule: String
  ) async throws {
    let scene = try scene()
    for (status, expected) in [(200, 1), (304, 20)] {
      let origin = SlowOrigin { _ in
        .init(status: status, fields: ["Cache-Control": rule, "ETag": "\"a\""], body: .init([65]))
      }
      let results = try await send(20, to: origin, scene, atOrigin: expected)
      #expect(results.allSatisfy { (try? $0.get()) == "200 A" })
      #expect(origin.count == 20)
    }
  }

  @Test(.watched) func `a request each for what is not stored, and no waiting from then on`()
    async throws
  {
    let scene = try scene()
    let origin = SlowOrigin { _ in
      .init(status: 200, fields: ["Cache-Control": "no-store"], body: .init([65]))
    }
    _ = try await send(20, to: origin, scene)
    #expect(origin.count == 20)
    let second = SlowOrigin { _ in
      .init(status: 200, fields: ["Cache-Control": "no-store"], body: .init([65]))
    }
    _ = try await send(20, to: second, scene, atOrigin: 20)
    #expect(second.count == 20)
  }

  @Test(
    .watched, arguments: [(200, true), (404, true), (400, false), (403, false), (503, false)])
  func `what is not stored ends waiting for the URL, unless it is an error of one request`(
    _ status: Int, _ ends: Bool
  ) async throws {
    let scene = try scene()
    scene.add(Reply(status, ["Cache-Control": "no-store"]))
    #expect(try await scene.get().status == status)
    let request = HTTPCache.Request(authority: "example.org", target: "/a")
    let flights = scene.cache.flights
    let turn = await flights.join(request, in: scene, after: .max)
    guard case .asks(let flight) = turn else {
      Issue.record("\(turn)")
      return
    }
    #expect(await flights.flights[flight]?.isShared == !ends)
  }

  @Test(.watched) func `what is not stored for one variant does not end waiting for others`()
    async throws
  {
    let scene = try scene(.seconds(Int64.max))
    var fields = fresh
    fields.append("Vary", "Cookie")
    let vary = fields
    let first = SlowOrigin { _ in .init(status: 200, fields: vary, body: .init([65])) }
    _ = try await send(1, to: first, scene)
    fields.set("Cache-Control", "no-store")
    let own = fields
    let second = SlowOrigin { _ in .init(status: 200, fields: own, body: .init([66])) }
    _ = try await send(1, to: second, scene) { _ in ["Cookie": "a"] }
    scene.clock.advance(by: .seconds(61))
    let third = SlowOrigin { _ in .init(status: 200, fields: vary, body: .init([67])) }
    _ = try await send(20, to: third, scene)
    #expect(third.count == 1)
  }

  @Test(.watched) func `a failure is shared, and a cancellation is not`() async throws {
    let scene = try scene()
    let origin = SlowOrigin { _ in throw OriginIsDown() }
    let results = try await send(20, to: origin, scene)
    #expect(origin.count == 1)
    #expect(results.allSatisfy { if case .failure(is OriginIsDown) = $0 { true } else { false } })

    let other = SlowOrigin { _ in .init(status: 200, fields: fresh, body: .init([65])) }
    let request = HTTPCache.Request(authority: "example.org", target: "/b")
    let first = try await hanging(request, scene)
    let follower = Task {
      try await scene.cache.respond(to: request, forwarding: other.answer).status
    }
    let cancelled = Task {
      try await scene.cache.respond(to: request, forwarding: other.answer).status
    }
    try await reaching("the others") { await scene.cache.flights.waiterCount == 2 }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    other.open()
    first.cancel()
    #expect(try await follower.value == 200)
    #expect(other.count == 1)
  }

  @Test(.watched) func `nobody waits longer than the limit`() async throws {
    let scene = try scene(.milliseconds(1))
    let origin = SlowOrigin { _ in .init(status: 200, fields: fresh, body: .init([65])) }
    let request = HTTPCache.Request(authority: "example.org", target: "/a")
    let tasks = (1...3).map { _ in
      Task { try await scene.cache.respond(to: request, forwarding: origin.answer).status }
    }
    try await reaching("all at the origin") { origin.count == 3 }
    origin.open()
    for task in tasks { #expect(try await task.value == 200) }
    #expect(await scene.cache.flights.count == 0)
  }

  @Test func `what was asked for later is stored beside an older response that is being stored`()
    async throws
  {
    let scene = try Scene([])
    let request = HTTPCache.Request(authority: "example.org", target: "/a")
    let (flights, asker) = (
      scene.cache.flights,
      Exchange(
        cache: scene.cache, request: request, forwarding: scene.origin, key: request.key)
    )
    let older = await flights.start(asker, isShared: true)
    let newer = await flights.start(asker, isShared: false)
    for flight in [older, newer] {
      #expect(await flights.headCame(flight, asker.variant, true))
    }
    for flight in [older, newer] { await flights.end(flight, .looks(mayWait: false)) }
  }

  @Test(.watched, arguments: [Duration.zero, .milliseconds(1)])
  func `what others ask for meanwhile does not keep a response from being stored`(
    limit: Duration
  ) async throws {
    let scene = try scene(limit)
    let reply: @Sendable (HTTPCache.Request) -> HTTPCache.Response = { _ in
      .init(status: 200, fields: fresh, body: .init([65]))
    }
    let (slow, later) = (SlowOrigin(reply), SlowOrigin(reply))
    let request = HTTPCache.Request(authority: "example.org", target: "/a")
    // The last of them is shared, and has no answer yet.
    let tasks = [slow, slow, later].map { origin in
      Task { try await scene.cache.respond(to: request, forwarding: origin.answer).status }
    }
    try await reaching("all at the origins") { slow.count == 2 && later.count == 1 }
    slow.open()
    for task in tasks.prefix(2) { #expect(try await task.value == 200) }
    let third = try await scene.get()
    #expect(third.status == 200 && scene.requests.isEmpty)
    later.open()
    #expect(try await tasks[2].value == 200)
  }

  private func get(
    _ fields: HTTPCache.Fields, _ scene: Scene, at origin: SlowOrigin
  ) async throws -> Task<Int, any Error> {
    let request = HTTPCache.Request(authority: "example.org", target: "/a", fields: fields)
    let task = Task {
      try await scene.cache.respond(to: request, forwarding: origin.answer).status
    }
    try await reaching("the origin") { origin.count == 1 }
    scene.clock.advance(by: .seconds(1))
    return task
  }

  @Test(.watched) func `an older response that varies takes no newer one's place`() async throws {
    let scene = try Scene([Reply(200, ["Cache-Control": "public, max-age=600"])])
    let origin = SlowOrigin { _ in
      .init(status: 200, fields: ["Cache-Control": "public, max-age=600", "Vary": "Foo"])
    }
    let older = try await get(["Authorization": "x"], scene, at: origin)
    #expect(try await scene.get().body.text == "body 1")
    origin.open()
    #expect(try await older.value == 200)
    #expect(try await scene.get().body.text == "body 1")
    #expect(scene.requests.count == 1)
  }

  @Test(.watched) func `a validation does not bring back what was replaced meanwhile`() async throws
  {
    let scene = try Scene([Reply(200, fresh)])
    #expect(try await scene.get().body.text == "body 1")
    scene.clock.advance(by: .seconds(61))
    let replaced = SlowOrigin { _ in
      .init(
        status: 200, fields: ["Cache-Control": "max-age=60", "ETag": "\"b\""], body: .init([66]))
    }
    let validated = SlowOrigin { _ in .init(status: 304, fields: fresh) }
    // Neither waits for the other.
    let fields: HTTPCache.Fields = ["Range": "bytes=0-", "Cache-Control": "no-cache"]
    let first = try await get(fields, scene, at: replaced)
    let second = try await get(fields, scene, at: validated)
    replaced.open()
    _ = try await first.value
    validated.open()
    _ = try await second.value
    #expect(try await scene.get().body.text == "B")
    #expect(scene.requests.count == 1)
  }

  @Test(.watched) func `a client that stops reading lets the others go`() async throws {
    let scene = try scene()
    let origin = SlowOrigin { _ in
      .init(status: 200, fields: fresh, body: .pieces(Array(repeating: 65, count: 5000)))
    }
    origin.open()
    let request = HTTPCache.Request(authority: "example.org", target: "/a")
    var slow: HTTPCache.Response? = try await scene.cache.respond(
      to: request, forwarding: origin.answer)
    let follower = Task {
      try await scene.cache.respond(to: request, forwarding: origin.answer).body.text.utf8.count
    }
    try await reaching("the follower") { await scene.cache.flights.waiterCount == 1 }
    #expect(slow?.status == 200)
    slow = nil
    #expect(try await follower.value == 5000)
    #expect(origin.count == 2)
  }

  @Test(.watched) func `requests with credentials, ranges, no-store or no-cache wait for nothing`()
    async throws
  {
    let scene = try scene()
    let origin = SlowOrigin { _ in .init(status: 200, fields: fresh, body: .init([65])) }
    let fields: [HTTPCache.Fields] = [
      [:], ["Authorization": "x"], ["Range": "bytes=0-"], ["Cache-Control": "no-store"],
      ["Cache-Control": "no-cache"], ["Cache-Control": "max-age=0"],
    ]
    let results = try await send(6, to: origin, scene, atOrigin: 6) { fields[$0] }
    #expect(results.count == 6)
  }

  @Test(.watched) func `no variant waits for another one whose fields are known`() async throws {
    let scene = try scene()
    var fields = fresh
    fields.append("Vary", "Foo")
    let vary = fields
    let first = SlowOrigin { _ in .init(status: 200, fields: vary, body: .init([65])) }
    _ = try await send(1, to: first, scene) { _ in ["Foo": "first"] }
    let second = SlowOrigin { _ in .init(status: 200, fields: vary, body: .init([65])) }
    _ = try await send(20, to: second, scene, atOrigin: 20) { ["Foo": "\($0)"] }
    #expect(second.count == 20)
  }

  @Test(.watched, arguments: [false, true])
  func `who waits for one that goes waits for the next one`(isStale: Bool) async throws {
    let scene = try scene()
    if isStale {
      scene.add(Reply(200, fresh))
      _ = try await scene.get().body.text
      scene.clock.advance(by: .seconds(61))
    }
    let request = HTTPCache.Request(authority: "example.org", target: "/a")
    let first = try await hanging(request, scene)
    let origin = SlowOrigin { _ in .init(status: 200, fields: fresh, body: .init([65])) }
    let others = (1...10).map { _ in
      Task { try await scene.cache.respond(to: request, forwarding: origin.answer).status }
    }
    try await reaching("the others") { await scene.cache.flights.waiterCount == 10 }
    first.cancel()
    try await reaching("all at the origin, or to wait for it") {
      let waiterCount = await scene.cache.flights.waiterCount
      return origin.count > 0 && origin.count + waiterCount == 10
    }
    #expect(origin.count == 1)
    origin.open()
    for other in others { #expect(try await other.value == 200) }
    #expect(origin.count == 1)
  }

  @Test(.watched) func `nobody waits for more than four requests`() async throws {
    let scene = try scene()
    final class Asked: Sendable { let numbers = Mutex<[Int]>([]) }
    let asked = Asked()
    let tasks = (0..<8).map { number in
      Task {
        let request = HTTPCache.Request(authority: "example.org", target: "/a")
        return try await scene.cache.respond(to: request) { _ in
          asked.numbers.withLock { $0.append(number) }
          while !Task.isCancelled { await Task.yield() }
          throw CancellationError()
        }.status
      }
    }
    for round in 1...4 {
      try await reaching("one at the origin, and the others to wait for it") {
        let waiterCount = await scene.cache.flights.waiterCount
        return asked.numbers.withLock(\.count) == round && waiterCount == 8 - round
      }
      asked.numbers.withLock { tasks[$0[round - 1]].cancel() }
    }
    try await reaching("all others at the origin") { asked.numbers.withLock(\.count) == 8 }
    for task in tasks { task.cancel() }
    for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
  }

  @Test(.watched) func `a body that stands still does not keep others from being stored`()
    async throws
  {
    let scene = try scene(.milliseconds(1))
    let origin = SlowOrigin { _ in
      .init(status: 200, fields: fresh, body: .pieces(Array(repeating: 65, count: 5000)))
    }
    origin.open()
    let request = HTTPCache.Request(authority: "example.org", target: "/a")
    let slow = try await scene.cache.respond(to: request, forwarding: origin.answer)
    scene.clock.advance(by: .seconds(1))
    for _ in 1...3 {
      let response = try await scene.cache.respond(to: request, forwarding: origin.answer)
      #expect(try await response.body.text.utf8.count == 5000)
    }
    #expect(origin.count == 2)
    // Nor does it replace what was stored meanwhile.
    #expect(try await slow.body.text.utf8.count == 5000)
    #expect(try await scene.get().fields["age"] == "0")
  }

  @Test(.watched) func `one refresh runs, also if the last one was not stored`() async throws {
    let scene = try Scene { $0.collapseLimit = .seconds(3600) }
    let (flights, request) = (scene.cache.flights, HTTPCache.Request(authority: "a", target: "/"))
    for _ in 1...2 {
      let turn = await flights.join(request, in: scene, after: nil)
      guard case .asks(let flight) = turn else {
        Issue.record("\(turn)")
        return
      }
      let next = await flights.join(request, in: scene, after: nil)
      guard case .looks(mayWait: false) = next else {
        Issue.record("\(next)")
        return
      }
      #expect(await !flights.headCame(flight, nil, true))
      await flights.end(flight, .looks(mayWait: false))
    }
  }

  @Test(.watched) func `an answer to an older request does not replace a newer one`() async throws {
    let scene = try scene()
    let fields: HTTPCache.Fields = ["Cache-Control": "public, max-age=600"]
    let origin = SlowOrigin { _ in .init(status: 200, fields: fields, body: .init([65])) }
    let older = Task {
      let request = HTTPCache.Request(
        authority: "example.org", target: "/a", fields: ["Authorization": "x"])
      return try await scene.cache.respond(to: request, forwarding: origin.answer).body.text
    }
    try await reaching("the older one") { origin.count == 1 }
    scene.clock.advance(by: .seconds(1))
    scene.add(Reply(200, fields, body: "newer"))
    #expect(try await scene.get().body.text == "newer")
    scene.clock.advance(by: .seconds(1))
    origin.open()
    #expect(try await older.value == "A")
    #expect(try await scene.get().body.text == "newer")
  }

  @Test(.watched) func `HEAD makes no response stale that came after it was sent`() async throws {
    let scene = try scene()
    scene.add(Reply(200, fresh))
    #expect(try await scene.get().body.text == "body 1")
    let origin = SlowOrigin { _ in .init(status: 200, fields: ["ETag": "\"b\""]) }
    let noCache: HTTPCache.Fields = ["Cache-Control": "no-cache"]
    let request = HTTPCache.Request(
      method: "HEAD", authority: "example.org", target: "/a", fields: noCache)
    let head = Task { try await scene.cache.respond(to: request, forwarding: origin.answer) }
    try await reaching("HEAD at the origin") { origin.count == 1 }
    scene.clock.advance(by: .seconds(1))
    scene.add(Reply(200, fresh))
    #expect(try await scene.get(noCache).body.text == "body 2")
    scene.clock.advance(by: .seconds(1))
    origin.open()
    #expect(try await head.value.status == 200)
    #expect(try await scene.get().body.text == "body 2")
    #expect(scene.requests.count == 2)
  }

  @Test(.watched) func `what is made stale while it is under way is not stored`() async throws {
    let scene = try scene()
    let origin = SlowOrigin { _ in .init(status: 200, fields: fresh, body: .init([65])) }
    let request = HTTPCache.Request(authority: "example.org", target: "/a")
    let response = Task { try await scene.cache.respond(to: request, forwarding: origin.answer) }
    try await reaching("the request") { origin.count == 1 }
    #expect(try await !scene.cache.expire("http://example.org/a"))
    origin.open()
    #expect(try await response.value.status == 200)
    #expect(try await scene.get().body.text == "body 1")
  }

  @Test(.watched) func `a request that changes something counts in a cancelled task, too`()
    async throws
  {
    let scene = try scene()
    scene.add(Reply(200, fresh))
    #expect(try await scene.get().body.text == "body 1")
    let change = HTTPCache.Request(method: "PUT", authority: "example.org", target: "/a")
    let task = Task {
      try await scene.cache.respond(to: change) { _ in
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        return .init(status: 204)
      }
    }
    _ = try await task.value
    #expect(try await scene.get().body.text == "body 2")
  }

  @Test(arguments: ["/\u{212A}", "/\u{37E}", "/a#b"])
  func `a target that is no path of ASCII is passed by`(target: String) async throws {
    let scene = try scene()
    for number in 1...2 {
      scene.add(Reply(200, fresh))
      #expect(try await scene.get(target: target).body.text == "body \(number)")
    }
  }

  @Test(.watched, arguments: ["Authorization", "Cache-Control"])
  func `what is not stored for one user alone does not end waiting`(name: String) async throws {
    let scene = try scene()
    let origin = SlowOrigin { _ in .init(status: 200, fields: fresh, body: .init([65])) }
    _ = try await send(1, to: origin, scene) { _ in [name: "no-store"] }
    let second = SlowOrigin { _ in .init(status: 200, fields: fresh, body: .init([65])) }
    _ = try await send(20, to: second, scene)
    #expect(second.count == 1)
  }
}

extension Flights {
  /// The requests that wait.
  fileprivate var waiterCount: Int { flights.values.reduce(0) { $0 + $1.waiters.count } }
  fileprivate var count: Int { flights.count }
}
