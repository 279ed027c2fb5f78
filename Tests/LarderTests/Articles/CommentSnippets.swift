import Larder
import LarderFixtures

// The code of doc comments. `ArticleTests` compares them line by line.

struct Point: Sendable {
  var x: UInt8
  var y: UInt8
}

struct NotAPoint: Error {}

struct Socket: Sendable {
  func write(_ bytes: [UInt8]) async throws {}
}

struct Response: Sendable {
  let status: Int
  let body: String
  let eTag: [UInt8]
}

func codePoints() async throws -> Coder<Point> {
  let points = Coder<Point>(
    encode: { [UInt8($0.x), UInt8($0.y)] },
    decode: { bytes in
      guard bytes.count == 2 else { throw NotAPoint() }
      return Point(x: bytes[0], y: bytes[1])
    })
  return points
}

func leaveALoad(
  _ pages: Cache<String>, url: String, fetch: @escaping Fetch, draw: @escaping Fetch
) async throws -> String {
  @Sendable func thumbnail(of url: String) async throws -> String { try await draw(url) }
  let page = try await pages.value(forKey: url) {
    Task { try await LoadContext.leaving { try await thumbnail(of: url) } }
    return try await fetch(url)
  }
  return page
}

func chooseOptions(
  _ pages: Cache<String>, url: String, fetch: @escaping Fetch
) async throws -> (String?, String) {
  let quick = try await pages.value(forKey: url, options: .memoryOnly)
  let options: LoadOptions = [.reload, .staleIfFailing(.seconds(86_400))]
  let fresh = try await pages.value(forKey: url, options: options) { try await fetch(url) }
  return (quick, fresh)
}

func revalidate(
  _ pages: Cache<String>, url: String,
  ask: @escaping @Sendable (String, _ eTag: [UInt8]?) async throws -> Response
) async throws -> String {
  @Sendable func fetch(_ url: String, ifNoneMatch eTag: [UInt8]?) async throws -> Response {
    try await ask(url, eTag)
  }
  let page = try await pages.value(forKey: url) { previous in
    let response = try await fetch(url, ifNoneMatch: previous?.extendedData)
    if response.status == 304 { return .notModified(expiration: .seconds(60)) }
    return .value(response.body, expiration: .seconds(60), extendedData: response.eTag)
  }
  return page
}

func streamIn(
  _ cache: Cache<[UInt8]>, url: String, response: (body: AsyncStream<[UInt8]>, status: Int)
) async throws {
  try await cache.store(forKey: url) { writer in
    for try await piece in response.body { try await writer.write(piece) }
  }
}

func streamOut(_ cache: Cache<[UInt8]>, url: String, socket: Socket) async throws {
  try await cache.withFile(forKey: url) { file in
    for try await piece in file { try await socket.write(piece) }
  }
}

func lend(
  _ images: Cache<[UInt8]>, url: String, download: @escaping Download
) async throws -> Int {
  @Sendable func decode(_ file: borrowing EntryFile) throws -> Int { file.byteCount }
  let picture = try await images.withFile(forKey: url) { file in
    try decode(file)
  } orStore: { writer in
    for try await piece in try await download(url) { try await writer.write(piece) }
  }
  return picture
}

func sendOut(
  _ images: Cache<[UInt8]>, url: String, socket: Socket, download: @escaping Download
) async throws {
  try await images.withFile(forKey: url) { file in
    for try await piece in file { try await socket.write(piece) }
  } orStore: { writer in
    for try await piece in try await download(url) { try await writer.write(piece) }
  }
}

func removeLarge(_ cache: Cache<[UInt8]>) async throws {
  try await cache.removeAll { $0.byteCount > 1 << 20 }
}

func replayWeather() async throws {
  // The tests have another type of that name, for golden directories.
  typealias Fixture = LarderFixtures.Fixture
  let fixture = try Fixture("Fixtures/weather")
  let cache = try Cache(fixture: fixture, coder: .string)
  // … test what asks the cache …
  fixture.clock.advance(by: .seconds(86_400))
  // … test what it does when everything has expired.
  try await cache.close()
}
