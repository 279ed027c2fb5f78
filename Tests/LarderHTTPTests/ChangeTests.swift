import Foundation
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderHTTP

private let fresh: HTTPCache.Fields = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
private let noCache: HTTPCache.Fields = ["Cache-Control": "no-cache"]
private let url = "http://example.org/a"
private let request = HTTPCache.Request(authority: "example.org", target: "/a")

private func large(_ fields: HTTPCache.Fields = fresh) -> Reply {
  var reply = Reply(200, fields)
  reply.body = Array(repeating: 7, count: 90_000)
  return reply
}

/// Cancels the task that calls this.
private func leave() { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }

extension Scene {
  /// Sends a request whose client goes when the origin has answered.
  fileprivate func respondToLeaving(_ request: HTTPCache.Request) async throws {
    let task = Task {
      try await cache.respond(to: request) { asked in
        defer { leave() }
        return try await self.origin(asked)
      }
    }
    _ = try await task.value
  }

  /// The lengths of the files of entries.
  fileprivate var sizes: [Int] {
    get async throws { try await cache.entries.disk.entries().map(\.byteCount) }
  }

  fileprivate var waiterCount: Int {
    get async { await cache.flights.flights.values.reduce(0) { $0 + $1.waiters.count } }
  }
}

/// What becomes of a response whose client does not wait for it.
struct `Clients that leave` {
  @Test(.watched) func `in the middle of a large body: one of those that wait asks, and no more`()
    async throws
  {
    let scene = try Scene { $0.collapseLimit = .seconds(3600) }
    let number = Mutex(0)
    let response = try await scene.cache.respond(to: request) { _ in
      let body = HTTPCache.Body(byteCount: nil) {
        let piece = number.withLock { number in
          number += 1
          return number
        }
        if piece == 40 { leave() }
        return piece > 90 ? nil : Array(repeating: 7, count: 1000)
      }
      return .init(status: 200, fields: fresh, body: body)
    }
    let origin = `Requests at once`.SlowOrigin { _ in
      .init(status: 200, fields: fresh, body: .init(Array(repeating: 7, count: 90_000)))
    }
    let others = (1...10).map { _ in
      Task {
        let other = try await scene.cache.respond(to: request, forwarding: origin.answer)
        return try await other.body.collect(upTo: .max).count
      }
    }
    try await reaching("the others to wait") { await scene.waiterCount == 10 }
    let client = Task { try await response.body.collect(upTo: .max).count }
    #expect(try await client.value == 90_000)
    try await reaching("all at the origin, or to wait for it") {
      let waiterCount = await scene.waiterCount
      return origin.count > 0 && origin.count + waiterCount == 10
    }
    origin.open()
    for other in others { #expect(try await other.value == 90_000) }
    #expect(origin.count == 1)
    #expect(scene.cache.statistics.notKept == 0)
  }

  @Test(.watched, arguments: [200, 304])
  func `when the response has come: it is stored, and answers those that wait`(
    _ status: Int
  ) async throws {
    let scene = try Scene([Reply(200, fresh), Reply(status, fresh)]) {
      $0.collapseLimit = .seconds(3600)
    }
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(61))
    let gate = AsyncStream.makeStream(of: Void.self)
    let first = Task {
      try await scene.cache.respond(to: request) { asked in
        for await _ in gate.stream {}
        defer { leave() }
        return try await scene.origin(asked)
      }
    }
    try await reaching("the origin") { await scene.cache.flights.flights.count == 1 }
    let others = (1...10).map { _ in
      Task { try await scene.get().body.text }
    }
    try await reaching("the others to wait") { await scene.waiterCount == 10 }
    gate.continuation.finish()
    #expect(try await first.value.status == 200)
    for other in others { #expect(try await other.value == "body \(status == 304 ? 1 : 2)") }
    #expect(scene.requests.count == 2)
  }

  @Test(arguments: [
    Reply(404, ["Cache-Control": "no-store"]), Reply(200, ["Cache-Control": "no-store"]),
    Reply(304, ["ETag": "\"b\""]),
  ])
  func `what was stored before another answer to all is not served`(_ reply: Reply) async throws {
    let scene = try Scene([Reply(200, fresh), reply])
    _ = try await scene.get().body.text
    var demanding = request
    demanding.fields = noCache
    try await scene.respondToLeaving(demanding)
    #expect(try await scene.get().fields["number"] == "3")
  }

  @Test(arguments: ["PUT", "GET", ""])
  func `no large body stays without its head`(_ method: String) async throws {
    let scene = try Scene([large(), Reply(200, fresh)])
    _ = try await scene.get().body.collect(upTo: .max)
    #expect(try await scene.sizes.count == 2)
    var change = HTTPCache.Request(method: method, authority: "example.org", target: "/a")
    change.fields = noCache
    let leaving = change
    let task = Task {
      if !method.isEmpty { return try await scene.respondToLeaving(leaving) }
      leave()
      try await scene.cache.invalidate(url)
    }
    try await task.value
    #expect(try await scene.sizes.count == (method == "GET" ? 1 : 0))
  }
}

/// A response that is gone before it is validated.
struct `A validation` {
  @Test(arguments: [fresh, HTTPCache.Fields(fresh.map { ($0.name, $0.value) } + [("Vary", "A")])])
  func `brings nothing back that was invalidated before it began`(
    _ fields: HTTPCache.Fields
  ) async throws {
    let scene = try Scene([Reply(200, fields)])
    _ = try await scene.get().body.text
    var exchange = Exchange(
      cache: scene.cache, request: request, forwarding: scene.origin, key: request.key)
    try await exchange.lookUp()
    let old = try #require(exchange.usable?.stored)
    try await scene.cache.invalidate(url)
    exchange.flight = await scene.cache.flights.start(exchange, isShared: true)
    await exchange.publish(old)
    #expect(try await scene.get().fields["number"] == "2")
  }
}

final class Flag: Sendable {
  private let value = Mutex(false)
  var isSet: Bool { value.withLock(\.self) }
  func set() { value.withLock { $0 = true } }
}

/// Changes of what is stored for one URL that come at the same time.
@Suite(.serialized)
struct `Changes at once` {
  /// A scene whose disk holds a write until the test lets it go on.
  private final class HeldScene: Sendable {
    private let (faults, gate) = (FaultInjector(), Gate())
    private let (isReached, isOver) = (Flag(), Flag())
    let scene: Scene

    init(_ replies: [Reply]) throws {
      let faults = faults
      scene = try Scene(replies) {
        ($0.storage.disk.faults, $0.collapseLimit) = (faults, .zero)
      }
    }

    /// Runs one change whose write is held, and others that begin meanwhile.
    func run(
      holding write: Int = 1, _ first: @escaping @Sendable () async throws -> Void,
      _ second: @escaping @Sendable () async throws -> Void
    ) async throws {
      faults.plan(
        .before { [self] in
          isReached.set()
          gate.pass()
        }, for: .write, at: write)
      let one = Task { try await first() }
      try await reaching("the write") { isReached.isSet }
      let other = Task {
        defer { isOver.set() }
        try await second()
      }
      // In real time: a busy machine may hide a failure, but never causes one.
      let start = ContinuousClock.now
      while !isOver.isSet, start.duration(to: .now) < .milliseconds(100) {
        await Task.yield()
      }
      gate.open()
      try await one.value
      try await other.value
    }
  }

  private static let forgiving: HTTPCache.Fields = [
    "Cache-Control": "max-age=60, stale-if-error=600", "ETag": "\"a\"",
  ]

  @Test(.watched, arguments: [forgiving, forgiving.varying])
  func `what is removed while it is made stale does not come back`(
    _ fields: HTTPCache.Fields
  ) async throws {
    let held = try HeldScene([Reply(200, fields), .failure])
    let scene = held.scene
    _ = try await scene.get().body.text
    try await held.run {
      try await scene.cache.expire(url)
    } _: {
      try await scene.cache.invalidate(url)
    }
    await #expect(throws: OriginIsDown.self) { try await scene.get() }
  }

  @Test(arguments: [503, nil])
  func `what is removed while the origin fails answers nobody`(_ status: Int?) async throws {
    let scene = try Scene([Reply(200, Self.forgiving)])
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(61))
    let ask = {
      try await scene.cache.respond(to: request) { _ in
        try await scene.cache.invalidate(url)
        guard let status else { throw OriginIsDown() }
        return HTTPCache.Response(status: status)
      }
    }
    if let status {
      #expect(try await ask().status == status)
    } else {
      await #expect(throws: OriginIsDown.self) { try await ask() }
    }
  }

  @Test(.watched) func `what is made stale does not replace what has come meanwhile`()
    async throws
  {
    let held = try HeldScene([Reply(200, fresh), large()])
    let scene = held.scene
    _ = try await scene.get().body.text
    scene.clock.advance(by: .seconds(1))
    try await held.run {
      try await scene.cache.expire(url)
    } _: {
      _ = try await scene.get(noCache).body.collect(upTo: .max)
    }
    scene.add(Reply(304))
    #expect(try await scene.get().body.collect(upTo: .max).count == 90_000)
    #expect(try await scene.sizes.count == 2)
  }

  @Test(.watched, arguments: ["invalidate", "expire", "publish", "remove"])
  func `a change waits for the one before, is made in a cancelled task, and leaves no turn`(
    _ kind: String
  ) async throws {
    let scene = try Scene([Reply(200, fresh)])
    _ = try await scene.get().body.text
    var exchange = Exchange(
      cache: scene.cache, request: request, forwarding: scene.origin, policy: .init(),
      key: request.key, reason: .stale)
    try await exchange.lookUp()
    exchange.flight = await scene.cache.flights.start(exchange, isShared: false)
    let stored = try #require(exchange.usable).stored.with(outdated: scene.clock.now)
    let (asking, gate, isOver) = (exchange, AsyncStream.makeStream(of: Void.self), Flag())
    let turn = Task {
      try await scene.cache.flights.inTurn(request.key) {
        for await _ in gate.stream {}
        return nil
      }
    }
    try await reaching("the turn") { await scene.cache.flights.changes.count == 1 }
    let change = Task {
      leave()
      switch kind {
      case "invalidate": try await scene.cache.invalidate(url)
      case "expire": try await scene.cache.expire(url)
      case "publish": await asking.publish(stored)
      default: await asking.publish(nil)
      }
      isOver.set()
    }
    // Another URL has its own turns.
    try await scene.cache.invalidate("http://example.org/b")
    let start = ContinuousClock.now
    while start.duration(to: .now) < .milliseconds(50) { await Task.yield() }
    #expect(!isOver.isSet)
    gate.continuation.finish()
    _ = try await turn.value
    try await change.value
    #expect(await scene.cache.flights.changes.isEmpty)
    scene.add(Reply(304))
    let isKept = kind == "expire" || kind == "publish"
    #expect(try await scene.get().body.text == (isKept ? "body 1" : ""))
    #expect(scene.requests.last?.fields["if-none-match"] == (isKept ? "\"a\"" : nil))
  }

  private static let forAll: HTTPCache.Fields = ["Cache-Control": "public, max-age=60"]

  /// Nobody waits for it.
  private static let personal = HTTPCache.Request(
    authority: "example.org", target: "/a", fields: ["Authorization": "x"])

  @Test(.watched, arguments: [forAll, forAll.varying])
  func `an older response that is being stored does not replace a newer one`(
    _ fields: HTTPCache.Fields
  ) async throws {
    let held = try HeldScene([Reply(200, fields), Reply(200, fields)])
    let scene = held.scene
    // The first of those that vary writes its marker before.
    try await held.run(holding: fields == Self.forAll ? 1 : 2) {
      _ = try await scene.respond(Self.personal)
    } _: {
      scene.clock.advance(by: .seconds(1))
      _ = try await scene.get().body.text
    }
    #expect(try await scene.get().body.text == "body 2")
    #expect(scene.requests.count == 2)
  }

  @Test(.watched, arguments: [forAll, forAll.varying])
  func `a large body goes if its response loses to a newer one`(
    _ fields: HTTPCache.Fields
  ) async throws {
    let held = try HeldScene([large(fields), Reply(200, fields)])
    let scene = held.scene
    let older = try await scene.respond(Self.personal)
    scene.clock.advance(by: .seconds(1))
    try await held.run(holding: fields == Self.forAll ? 1 : 2) {
      _ = try await scene.get().body.text
    } _: {
      _ = try await older.body.collect(upTo: .max)
    }
    #expect(try await scene.get().body.text == "body 2")
    #expect(try await scene.sizes.allSatisfy { $0 < 90_000 })
    #expect(scene.requests.count == 2)
  }
}

extension HTTPCache.Fields {
  fileprivate var varying: Self {
    var copy = self
    copy.append("Vary", "Foo")
    return copy
  }
}
