import Glibc
import LarderHTTP
import Synchronization

/// An HTTP cache in front of an origin in the same process.
enum HTTPBenchmark {
  static let usage = """
    usage: LarderBench http                 what a hit in memory takes, beside Cache
           LarderBench http trials DIR      requests at once, slow clients, memory, a 304
           LarderBench http fill DIR        stores bodies without end, to be killed
           LarderBench http check DIR       whether everything that it left is right
    """

  /// Runs with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let words = arguments + ["", ""]
    let (verb, directory) = (words[0], words[1])
    try BlockingTask.run {
      switch (verb, directory.isEmpty) {
      case ("", _): try await measureHits()
      case ("trials", false): try await runTrials(directory)
      case ("fill", false): try await fill(directory)
      case ("check", false): try await check(directory)
      default: throw UsageError()
      }
    }
  }

  private static func makeCache(in directory: String, isLimited: Bool = true) throws -> HTTPCache {
    var configuration = HTTPCache.Configuration()
    if !isLimited { configuration.storage.disk.sizeLimit = nil }
    configuration.storage.disk.coherence = .none
    return try HTTPCache(directory: directory, configuration: configuration)
  }

  private static func request(_ target: String, _ fields: HTTPCache.Fields = [:])
    -> HTTPCache.Request
  {
    HTTPCache.Request(authority: "example.org", target: target, fields: fields)
  }

  /// Reads a body and returns its length.
  private static func length(_ response: HTTPCache.Response) async throws -> Int {
    var count = 0
    for try await piece in response.body { count += piece.count }
    return count
  }
}

extension HTTPBenchmark {
  private static func measureHits() async throws {
    let place = BenchmarkDirectory(try DiskOptions([]), "http")
    defer { place.removeAll() }
    let bytes = [UInt8](repeating: 7, count: 1024)
    var fields: HTTPCache.Fields = ["Cache-Control": "max-age=86400", "ETag": "\"a\""]
    for number in 3...12 { fields.append("X-Field-\(number)", "the value of field \(number)") }
    let head = fields
    let cache = try makeCache(in: place.path)
    let asked = request(
      "/pages/1?a=b",
      [
        "Host": "example.org", "Accept": "text/html", "User-Agent": "bench/1",
        "Accept-Encoding": "gzip", "Accept-Language": "de", "Connection": "keep-alive",
      ])
    let origin: @Sendable (HTTPCache.Request) async throws -> HTTPCache.Response = { _ in
      HTTPCache.Response(status: 200, fields: head, body: .init(bytes))
    }
    _ = try await cache.respond(to: asked, forwarding: origin)
    let url = asked.url
    let plain = try Cache(directory: place.path, coder: .bytes)
    try await plain.store(bytes, forKey: url)
    let hit = try await nanoseconds {
      let response = try await cache.respond(to: asked, forwarding: origin)
      precondition(response.body.byteCount == 1024)
    }
    let read = try await nanoseconds {
      let value = try await plain.value(forKey: url)
      precondition(value?.count == 1024)
    }
    precondition(cache.statistics.forwarded == [.uriMiss: 1])
    print(
      "hit in memory, 12 fields, 1 KiB: \(hit) ns; Cache: \(read) ns; over it: \(hit - read) ns")
    try await cache.close()
    try await plain.close()
  }

  /// Returns the time of one call, as the least of five rounds.
  private static func nanoseconds(_ body: () async throws -> Void) async throws -> Int {
    var least = Int.max
    for _ in 1...5 {
      let start = ContinuousClock.now
      for _ in 0..<50_000 { try await body() }
      least = min(least, Int((ContinuousClock.now - start) / .nanoseconds(50_000)))
    }
    return least
  }
}

extension HTTPBenchmark {
  private static func runTrials(_ directory: String) async throws {
    let cache = try makeCache(in: directory, isLimited: false)
    let count = Atomic(0)
    let origin: @Sendable (HTTPCache.Request) async throws -> HTTPCache.Response = { asked in
      count.add(1, ordering: .relaxed)
      try await Task.sleep(for: .milliseconds(200))
      let isKept = asked.target != "/no-store"
      return HTTPCache.Response(
        status: 200,
        fields: ["Cache-Control": isKept ? "max-age=60" : "no-store", "Vary": "Foo"],
        body: .init(Array((asked.fields["foo"] ?? "").utf8)))
    }
    for (target, tasks) in [("/variants", 200), ("/no-store", 50), ("/no-store", 50)] {
      count.store(0, ordering: .relaxed)
      let start = ContinuousClock.now
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<tasks {
          group.addTask {
            let asked = request(target, ["Foo": index.isMultiple(of: 2) ? "x" : "y"])
            let response = try await cache.respond(to: asked, forwarding: origin)
            guard response.body.bytes == Array((asked.fields["foo"] ?? "").utf8) else {
              fail("WRONG: another variant", 1)
            }
          }
        }
        try await group.waitForAll()
      }
      let time = Int((ContinuousClock.now - start) / .milliseconds(1))
      print("\(target): \(tasks) at once, \(count.load(ordering: .relaxed)) requests, \(time) ms")
    }
    try await validate(cache, 100 << 20)
    try await wait(cache)
    try await stream(cache, 2 << 30)
    try await cache.close()
  }

  /// Says how long requests take beside a client that has read one piece of a body and no more.
  private static func wait(_ cache: HTTPCache) async throws {
    let byteCount = 1 << 20
    let origin: @Sendable (HTTPCache.Request) async throws -> HTTPCache.Response = { _ in
      HTTPCache.Response(
        status: 200, fields: ["Cache-Control": "max-age=60"], body: body(byteCount))
    }
    let slow = try await cache.respond(to: request("/slow"), forwarding: origin)
    var pieces = slow.body.makeAsyncIterator()
    let first = try await pieces.next()
    let start = ContinuousClock.now
    try await read(cache, "/slow", origin, tasks: 20, expecting: byteCount)
    let time = Int((ContinuousClock.now - start) / .milliseconds(1))
    print("20 beside a client that stands still: \(time) ms")
    var count = first?.count ?? 0
    while let piece = try await pieces.next() { count += piece.count }
    guard count == byteCount else { fail("WRONG: the slow client got \(count) bytes", 1) }
  }

  /// Says how much memory this process has had at most, after five tasks have read a large body.
  private static func stream(_ cache: HTTPCache, _ byteCount: Int) async throws {
    let origin: @Sendable (HTTPCache.Request) async throws -> HTTPCache.Response = { _ in
      HTTPCache.Response(
        status: 200, fields: ["Cache-Control": "max-age=60"], body: body(byteCount))
    }
    for _ in 1...2 {
      try await read(cache, "/stream", origin, tasks: 5, expecting: byteCount)
    }
    var usage = rusage()
    unsafe getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
    print("\(byteCount >> 20) MiB to five tasks, twice: \(usage.ru_maxrss) KiB resident at most")
  }

  /// Reads a response in tasks at once.
  private static func read(
    _ cache: HTTPCache, _ target: String,
    _ origin: @escaping @Sendable (HTTPCache.Request) async throws -> HTTPCache.Response,
    tasks: Int, expecting byteCount: Int
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 1...tasks {
        group.addTask {
          let response = try await cache.respond(to: request(target), forwarding: origin)
          guard try await length(response) == byteCount else { fail("WRONG: another length", 1) }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Says how many bytes this process writes when a large response is validated.
  private static func validate(_ cache: HTTPCache, _ byteCount: Int) async throws {
    let origin: @Sendable (HTTPCache.Request) async throws -> HTTPCache.Response = { asked in
      let fields: HTTPCache.Fields = ["Cache-Control": "no-cache", "ETag": "\"a\""]
      guard !asked.fields.contains(where: { $0.name == "If-None-Match" }) else {
        return HTTPCache.Response(status: 304, fields: fields)
      }
      return HTTPCache.Response(status: 200, fields: fields, body: body(byteCount))
    }
    let stored = try await length(
      try await cache.respond(to: request("/large"), forwarding: origin))
    let before = try written()
    let answer = try await cache.respond(to: request("/large"), forwarding: origin)
    let after = try written()
    guard stored == byteCount, answer.body.byteCount == byteCount,
      cache.statistics.validated == 1
    else { fail("WRONG: the body is another one", 1) }
    print("a 304 on \(byteCount >> 20) MiB: \(after - before) bytes written")
  }

  private static func body(_ byteCount: Int) -> HTTPCache.Body {
    let rest = Atomic(byteCount)
    return HTTPCache.Body(byteCount: byteCount) {
      let left = rest.load(ordering: .relaxed)
      let piece = min(left, 64 << 10)
      rest.store(left - piece, ordering: .relaxed)
      return piece == 0
        ? nil : [UInt8](repeating: UInt8(truncatingIfNeeded: byteCount), count: piece)
    }
  }

  /// Returns the bytes that this process has handed to `write`. See: man 5 proc, /proc/pid/io.
  private static func written() throws -> Int {
    let file = unsafe Glibc.open("/proc/self/io", O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = unsafe Glibc.read(file, &bytes, bytes.count)
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
    return line.flatMap { Int($0.dropFirst(7)) } ?? 0
  }
}

extension HTTPBenchmark {
  /// The lengths of the bodies: in the file of the head, and in files of their own.
  private static let lengths = [1000, 16 << 10, 100_000, 3 << 20]

  private static func origin(_ asked: HTTPCache.Request) async throws -> HTTPCache.Response {
    let index = Int(asked.target.split(separator: "/").first ?? "") ?? 0
    return HTTPCache.Response(
      status: 200, fields: ["Cache-Control": "max-age=600", "Vary": index % 2 == 0 ? "" : "Foo"],
      body: body(lengths[index % lengths.count] + index))
  }

  private static func fill(_ directory: String) async throws {
    let cache = try makeCache(in: directory)
    print("filling")
    fflush(nil)
    while true {
      let index = Int.random(in: 0..<64)
      let asked = request("/\(index)", ["Cache-Control": "no-cache", "Foo": "1"])
      _ = try await length(try await cache.respond(to: asked, forwarding: origin))
    }
  }

  private static func check(_ directory: String) async throws {
    let cache = try makeCache(in: directory)
    for index in 0..<64 {
      let response = try await cache.respond(
        to: request("/\(index)", ["Foo": "1"]), forwarding: origin)
      let expected = lengths[index % lengths.count] + index
      var count = 0
      for try await piece in response.body {
        count += piece.count
        guard piece.allSatisfy({ $0 == UInt8(truncatingIfNeeded: expected) }) else {
          fail("WRONG: a byte of another body at /\(index)", 1)
        }
      }
      guard count == expected else { fail("WRONG: \(count) bytes for \(expected)", 1) }
    }
    print("64 bodies, \(cache.statistics.hits) of them stored, all right")
    try await cache.close()
  }
}
